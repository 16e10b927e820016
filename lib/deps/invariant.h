/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Assertions. A build with ASSERT=1, which the build with sanitizers is, evaluates them, and the
 * program aborts at one that does not hold. Other builds compile the condition, so that it stays
 * valid C, but do not evaluate it.
 *
 * Assertions are for conditions that no input can break. Input is checked by if, and refused.
 */
#ifndef LIB_DEPS_INVARIANT_H
#define LIB_DEPS_INVARIANT_H

#ifdef TORUS_ASSERT
#include <assert.h>
#define invariant(cond)	assert(cond)
#else
#define invariant(cond)	((void)(0 && (cond)))
#endif

#endif /* LIB_DEPS_INVARIANT_H */

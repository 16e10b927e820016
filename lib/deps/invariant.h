/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Assertions. A build with ASSERT=1, as the one for sanitizers is, computes them, and the program
 * ends where one does not hold. In others they cost nothing: the condition is compiled, so that it
 * stays right, and not computed.
 *
 * They are for what no input can break. What comes from outside is checked by if, and refused.
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

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_NAIVE_GROW_H
#define TESTS_NAIVE_GROW_H

#include "tools/fabricsim/grow_run.h"

/** naive_grow() - as grow_run(), with rules and messages of the search alone. Return: 0, -ENOMEM */
int naive_grow(const struct grow_case *c, struct grow_result *out);

#endif /* TESTS_NAIVE_GROW_H */

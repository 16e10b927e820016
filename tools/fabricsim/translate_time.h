/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time of a translation on this machine: by the linear searches of the paper about bridges, and
 * by the windows of the NIC core (kernel/core/window.h). Addresses are random, each row is hit
 * equally often, and all look-ups succeed. The times include the loop around a look-up.
 */
#ifndef TRANSLATE_TIME_H
#define TRANSLATE_TIME_H

#include <stddef.h>
#include <stdint.h>

enum translate_method {
	TRANSLATE_BARE,		/* an array is indexed without a check: no table can be faster */
	TRANSLATE_LINEAR_INDEX,
	TRANSLATE_LINEAR_HIGH,
	TRANSLATE_DIRECT_INDEX,
	TRANSLATE_SORTED_HIGH,
	TRANSLATE_LAST_HIGH,	/* TRANSLATE_SORTED_HIGH with 16 accesses to a row in succession */
	TRANSLATE_ARITHMETIC,
	TRANSLATE_METHODS,
};

extern const char *const translate_methods[TRANSLATE_METHODS + 1];

/** struct translate_time - nanoseconds of processor time a look-up, median of several runs */
struct translate_time {
	double ns;		/* look-ups that do not depend on each other */
	double chain_ns;	/* look-ups that each depend on the result of the one before */
};

/**
 * translate_measure() - time look-ups in a table of @n rows
 * Return: 0; -ENOMEM; -EIO if a look-up does not find what it has to.
 */
int translate_measure(enum translate_method method, size_t n, uint64_t seed,
		      struct translate_time *t);

#endif /* TRANSLATE_TIME_H */

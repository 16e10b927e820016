/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Parsers of numbers. All of them take the whole text, do not change @out on error, and return 0,
 * -EINVAL (not such a number) or -ERANGE (out of range, @min and @max included).
 */
#ifndef UTIL_UNITS_H
#define UTIL_UNITS_H

#include <stdint.h>

/** number_parse() - parse decimal digits */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/**
 * time_parse() - parse a time, for example "5ms", "1.5 us" or "0", into ns
 * Units are ns, us, ms, s, min, h and d; only 0 may have no unit. Fractions of a ns are dropped.
 */
int time_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ns);

/** size_parse() - parse a number of bytes, also with K, M or G (powers of 1024): "16M" */
int size_parse(const char *text, uint64_t *bytes);

/** rate_parse() - parse an error rate from 0 to 1, as "1e-6" or "0", into units of 1e-18 */
int rate_parse(const char *text, uint64_t *out);

#endif /* UTIL_UNITS_H */

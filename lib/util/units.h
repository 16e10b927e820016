/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Numbers as people type them. All of these take the whole text or nothing, leave @out as
 * it was on error, and return 0, -EINVAL (not such a number) or -ERANGE (out of range).
 */
#ifndef UTIL_UNITS_H
#define UTIL_UNITS_H

#include <stdint.h>

/** number_parse() - decimal digits only */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/**
 * time_parse() - a time as ns: "5ms", "1.5 us", "0"
 * Units are ns, us, ms, s, min, h and d; only 0 needs none. What is less than 1 ns is dropped.
 */
int time_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ns);

/** size_parse() - bytes, or with K, M or G of 1024: "16M" */
int size_parse(const char *text, uint64_t *bytes);

/** rate_parse() - a rate of errors from 0 to 1 in units of 1e-18: "1e-6", "0" */
int rate_parse(const char *text, uint64_t *out);

#endif /* UTIL_UNITS_H */

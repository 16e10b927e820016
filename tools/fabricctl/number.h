/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsers and texts of numbers; further parsers are in lib/util/units.h. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include "lib/util/units.h"

/** seconds_parse() - parse "2" or "0.5", 0.01 to 86400. Return: 0, -EINVAL, -ERANGE */
int seconds_parse(const char *text, double *out);
/** hex_parse() - parse 1 to 16 hexadecimal digits, not 0. Return: 0, -EINVAL */
int hex_parse(const char *text, uint64_t *out);

/** age() - Return: seconds since a unix time, 0 if it is in the future */
double age(double since);

/**
 * ago_text() - write how long ago a time in whole seconds was: "5 s ago", "just now". Return: @buf
 */
char *ago_text(double since, char *buf);
/**
 * left_text() - write how long it is until a time in whole seconds: "5 s", "1 min 05 s". Return:
 * @buf
 */
char *left_text(double until, char *buf);

/* The four functions below write into @buf (32 bytes) and return it. */
char *bytes_text(uint64_t bytes, char *buf);
char *count_text(uint64_t n, char *buf);
char *duration_text(double seconds, char *buf);
/* Writes the letters of the first @n dimensions: "x, y, z". */
char *dims_text(unsigned int n, char *buf);

#endif /* NUMBER_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers as people type and read them. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stddef.h>
#include <stdint.h>

/** number_parse() - decimal, nothing else. Return: 0, -EINVAL, -ERANGE */
int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/** seconds_parse() - "2", "0.5": 0.01 to 86400. Return: 0, -EINVAL, -ERANGE */
int seconds_parse(const char *text, double *out);
/** rate_parse() - bit error rate, 0 to 1: "1e-6", "0"; in units of 1e-18 */
int rate_parse(const char *text, uint64_t *out);
/** time_parse() - "5ms", "20us", "0": ns, at most 10 s. A unit is needed but for 0 */
int time_parse(const char *text, uint64_t *ns);

/** size_parse() - bytes, or with K, M, G of 1024: "16M". Return: 0, -EINVAL, -ERANGE */
int size_parse(const char *text, uint64_t *bytes);
/** hex_parse() - 1 to 16 hexadecimal digits, not 0. Return: 0, -EINVAL */
int hex_parse(const char *text, uint64_t *out);

/** age() - seconds since a unix time, 0 if that is yet to come */
double age(double since);

/* These write into @buf (32 bytes) and return it. */
char *bytes_text(uint64_t bytes, char *buf);
char *count_text(uint64_t n, char *buf);
char *duration_text(double seconds, char *buf);

#endif /* NUMBER_H */

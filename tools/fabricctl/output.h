/* SPDX-License-Identifier: GPL-2.0-only */
/* Output for people: errors, colours, progress. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

/** fail() - print "PROGRAM: text" to standard error. Return: CANNOT, for return statements */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** fail_as() - like fail(). Return: @status, usually from kind_of_errno() */
int fail_as(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** warn() - like fail(), without a result */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

enum colour { PLAIN, GOOD, BAD, DOUBTFUL, FAINT, STRONG, COLOURS };

/** paint() - Return: an escape sequence, or "" if standard output shows no colours */
const char *paint(enum colour c);
/** wide() - Return: true if the terminal can show UTF-8 */
bool wide(void);
/** screen_columns() - Return: the width of the terminal, 80 if there is none */
int screen_columns(void);

/** progress() - print a line to a terminal, which the next one overwrites; "" clears it */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * hush_output() - stop printing errors and warnings, or print them again; last_message() returns
 * them in both cases
 */
void hush_output(bool on);

/** last_message() - Return: the last error or warning, without the program's name; "": none */
const char *last_message(void);

#endif /* OUTPUT_H */

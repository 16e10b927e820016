/* SPDX-License-Identifier: GPL-2.0-only */
/* Output for people: errors, colours, progress. */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>

/** fail() - "PROGRAM: text" to stderr; returns CANNOT, for return statements */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** fail_as() - the same, but returns @status, as a rule by kind_of_errno() */
int fail_as(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** warn() - the same, returning nothing */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

enum colour { PLAIN, GOOD, BAD, DOUBTFUL, FAINT, STRONG, COLOURS };

/** paint() - escape sequence, or "" where stdout shows no colours */
const char *paint(enum colour c);
/** wide() - may lines be drawn with more than ASCII? */
bool wide(void);
/** screen_columns() - width of the terminal, 80 if there is none */
int screen_columns(void);

/** progress() - one line on a terminal, overwritten by the next; "" ends it */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** said_last() - the text of the last error or warning, without the program's name; "": none */
const char *said_last(void);

#endif /* SAY_H */

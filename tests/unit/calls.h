/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that go wrong when the test says so. A program is linked with
 * -Wl,--wrap=NAME for each of those in calls-wrap of fabricd.mk; what its own objects call
 * comes here first, what libraries call does not.
 */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include <stdbool.h>

enum call {
	CALL_SOCKET, CALL_BIND, CALL_LISTEN, CALL_CONNECT, CALL_ACCEPT, CALL_RANDOM, CALL_UNLINK,
	CALLS
};

/**
 * call_gives() - the @n-th such call from now on is not made, no other
 * @value: what it returns in place of that, with @err as errno
 */
void call_gives(enum call call, unsigned int n, long value, int err);
/** call_given() - whether that has come; nothing goes wrong any more */
bool call_given(void);

/** calls_made() - how many such calls there were, right or wrong */
unsigned int calls_made(enum call call);

/** files_open() - how many files this process has */
unsigned int files_open(void);

#endif /* TESTS_CALLS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that fail when a test wants it. A program is linked with -Wl,--wrap=NAME for each
 * call in calls-wrap of fabricd.mk. Calls of the program's own objects come here first; those of
 * libraries do not.
 */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include <stdbool.h>

enum call {
	CALL_SOCKET, CALL_BIND, CALL_LISTEN, CALL_CONNECT, CALL_ACCEPT, CALL_RANDOM, CALL_UNLINK,
	CALLS
};

/**
 * call_gives() - from now on, the @n-th such call is not made, all others are
 * @value: what it returns instead, with @err as errno
 */
void call_gives(enum call call, unsigned int n, long value, int err);
/** call_given() - whether that call has come; from now on all calls are made */
bool call_given(void);

/** calls_made() - how many such calls were requested, whether they were made or not */
unsigned int calls_made(enum call call);

/** files_open() - how many file descriptors this process has open */
unsigned int files_open(void);

#endif /* TESTS_CALLS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A monotonic clock that a test can stop, for the whole program and its libraries: time then
 * passes only when the test advances it. Sockets, and timers of the kernel, work as usual.
 */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <stdint.h>

/** clock_stop() - stops the clock */
void clock_stop(void);
/** clock_move() - moves the clock forward by @ns; it must have been stopped */
void clock_move(uint64_t ns);
/** clock_go() - makes the clock show the true time again */
void clock_go(void);

#endif /* TESTS_CLOCK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A monotonic clock that can be made to stand still, for the whole program with the
 * libraries it uses: time passes only when the test says so. Sockets work as ever, and so
 * do timers of the kernel.
 */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <stdint.h>

/** clock_stop() - from now on it stands still */
void clock_stop(void);
/** clock_move() - @ns further on; it must have been stopped */
void clock_move(uint64_t ns);
/** clock_go() - it shows the true time again */
void clock_go(void);

#endif /* TESTS_CLOCK_H */

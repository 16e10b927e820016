/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TESTS_BENCH_SAMPLE_H
#define TESTS_BENCH_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>

/** sample() - prints a measured value for tests/bench/run --record */
static inline void sample(const char *figure, const char *unit, double value)
{
	if (getenv("BENCH_SAMPLES"))
		printf("#\t%s\t%s\t%.6g\n", figure, unit, value);
}

#endif /* TESTS_BENCH_SAMPLE_H */

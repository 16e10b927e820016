/* SPDX-License-Identifier: GPL-2.0-only */
/* A cable as people say it: its class, its lanes, its temperature. */
#ifndef LINE_H
#define LINE_H

#include <stdint.h>

/**
 * struct line_class - cables of one make, in round figures
 * @loss: mdB per metre for the fastest bits at the highest rate, 3.1 GHz
 * @crosstalk: per mille of the swing, from each lane beside
 */
struct line_class {
	const char *name;
	uint32_t loss;
	uint32_t crosstalk;
	const char *text;
};

#define LINE_CLASSES "dac24, dac26, dac28, dac30, fr4, megtron, optical"

/* That of cables of which nothing but a length is said. */
#define LINE_USUAL "dac26"

/* These say what is wrong. Return: OK or CANNOT; line_class(): NULL. */
const struct line_class *line_class(const char *name);
/** line_lanes() - "0,2,5-7", "all", "none": to a mask */
int line_lanes(const char *option, const char *text, uint64_t *mask);
/** line_celsius() - "-40" to "125": to K */
int line_celsius(const char *option, const char *text, uint64_t *kelvin);

#endif /* LINE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsers of the properties of a modelled cable: class, lanes, temperature. */
#ifndef LINE_H
#define LINE_H

#include <stdint.h>

/**
 * struct line_class - typical properties of a kind of cable, rounded
 * @loss: loss in mdB per metre, for the fastest bits at the highest rate, 3.1 GHz
 * @crosstalk: crosstalk from each neighbouring lane, per mille of the swing
 */
struct line_class {
	const char *name;
	uint32_t loss;
	uint32_t crosstalk;
	const char *text;
};

#define LINE_CLASSES "dac24, dac26, dac28, dac30, fr4, megtron, optical"

/* The class that is used for a cable of which only the length is given. */
#define LINE_USUAL "dac26"

/* The three functions below print the error. Return: OK or CANNOT; line_class(): NULL. */
const struct line_class *line_class(const char *name);
/** line_lanes() - parse "0,2,5-7", "all" or "none" into a mask */
int line_lanes(const char *option, const char *text, uint64_t *mask);
/** line_celsius() - parse "-40" to "125" into K */
int line_celsius(const char *option, const char *text, uint64_t *kelvin);

#endif /* LINE_H */

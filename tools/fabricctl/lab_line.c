// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"
#include "line.h"
#include "output.h"

#define KEEP FAULT_KEEP

static uint64_t length = KEEP, loss = KEEP, crosstalk = KEEP, drift = KEEP, ageing = KEEP;
static uint64_t seed = KEEP;
static const char *class, *aged, *dead, *celsius;

/* Takes the values of a class as defaults, which single options replace. */
static int of_class(const char *name)
{
	const struct line_class *c = line_class(name);

	if (!c)
		return CANNOT;
	loss = loss == KEEP ? c->loss : loss;
	crosstalk = crosstalk == KEEP ? c->crosstalk : crosstalk;
	return OK;
}

static int lab_line(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { .set_line = true, .set_seed = seed != KEEP, .seed = seed };
	uint64_t aged_mask = KEEP, dead_mask = KEEP, kelvin = KEEP;

	(void)argc;
	if (!class && !aged && !dead && !celsius && length == KEEP && loss == KEEP &&
	    crosstalk == KEEP && drift == KEEP && ageing == KEEP && seed == KEEP)
		return fail("say which property of the cable to set, such as --length CM");
	if (class && of_class(class))
		return CANNOT;
	if ((aged && line_lanes("aged", aged, &aged_mask)) ||
	    (dead && line_lanes("dead", dead, &dead_mask)) ||
	    (celsius && line_celsius("temperature", celsius, &kelvin)))
		return CANNOT;
	wish.line = (struct fault_line){
		.length = length, .loss = loss, .crosstalk = crosstalk, .drift = drift,
		.ageing = ageing, .aged = aged_mask, .dead = dead_mask, .temperature = kelvin,
	};
	return cable_fault(ctl->lab, argv[0], &wish);
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "length", 'l', "CM", &length, 0, 10000, "length in cm; 0: a perfect cable" },
	{ OPT_TEXT, "class", 'c', "CLASS", &class, 0, 0,
	  "loss and crosstalk of this kind of cable: " LINE_CLASSES },
	{ OPT_NUMBER, "loss", 'L', "MDB", &loss, 0, 50000,
	  "loss in 1/1000 dB per metre at the highest rate" },
	{ OPT_NUMBER, "crosstalk", 'x', "N", &crosstalk, 0, 500,
	  "crosstalk in 1/1000 of the transmitter's swing" },
	{ OPT_TEXT, "temperature", 't', "DEGREES", &celsius, 0, 0, "degrees Celsius; 20 at first" },
	{ OPT_NUMBER, "drift", 'd', "N", &drift, 0, 500,
	  "the loss swings slowly around its mean, by this many 1/1000" },
	{ OPT_NUMBER, "ageing", 'a', "MDB", &ageing, 0, 50000,
	  "added loss of aged lanes, in 1/1000 dB per second" },
	{ OPT_TEXT, "aged", 'A', "LANES", &aged, 0, 0, "lanes that age: 0,2,5-7, all, none" },
	{ OPT_TEXT, "dead", 'D', "LANES", &dead, 0, 0, "lanes without signal" },
	{ OPT_NUMBER, "seed", 's', "N", &seed, 0, UINT64_MAX - 1,
	  "seed of the random differences between lanes" },
	{ .kind = OPT_END },
};

COMMAND(lab_line) = {
	.family = "lab",
	.name = "line",
	.args = "LINK",
	.brief = "Fault: a longer, worse, warmer or ageing cable, or one with dead lanes",
	.help = "Sets properties of the modelled cable, from which the receivers at both ends\n"
		"compute how well they can read their signals; properties that are not given keep\n"
		"their values. A receiver adapts to the cable again (trains) when its signal\n"
		"becomes too bad, or when the cable is cut and mended. A cable with a length but\n"
		"no loss is of class " LINE_USUAL ".",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_line,
};

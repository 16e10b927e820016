// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"
#include "say.h"

#define KEEP UINT64_MAX

static uint64_t length = KEEP, loss = KEEP, crosstalk = KEEP, drift = KEEP, ageing = KEEP;
static uint64_t aged = KEEP, dead = KEEP;

static int lab_line(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = {
		.set_line = true,
		.line = { length, loss, crosstalk, drift, ageing, aged, dead },
	};

	(void)argc;
	return cable_fault(ctl->lab, argv[0], &wish);
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "length", 'l', "CM", &length, 0, 10000, "0: a perfect cable" },
	{ OPT_NUMBER, "loss", 'L', "MDB", &loss, 0, 50000, "mdB per metre at the highest rate" },
	{ OPT_NUMBER, "crosstalk", 'x', "N", &crosstalk, 0, 500, "per mille of the swing" },
	{ OPT_NUMBER, "drift", 'd', "N", &drift, 0, 500, "per mille of the loss" },
	{ OPT_NUMBER, "ageing", 'a', "MDB", &ageing, 0, 50000, "mdB per second, of aged lanes" },
	{ OPT_NUMBER, "aged", 'A', "MASK", &aged, 0, 4095, "mask of lanes that age" },
	{ OPT_NUMBER, "dead", 'D', "MASK", &dead, 0, 4095, "mask of lanes that are dead" },
	{ .kind = OPT_END },
};

COMMAND(lab_line) = {
	.family = "lab",
	.name = "line",
	.args = "LINK",
	.brief = "What a cable does to signals: length, loss, crosstalk, lanes that age or die",
	.help = "Both ends' receivers get it; what is not given stays. They train for it when they\n"
		"see their eyes close, or by cut and mend.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_line,
};

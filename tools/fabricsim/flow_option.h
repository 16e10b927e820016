/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of "fabricsim flow": from options and a preset to the points to run. */
#ifndef FLOW_OPTION_H
#define FLOW_OPTION_H

#include "flow_sweep.h"
#include "tools/fabricctl/command.h"

extern const struct opt flow_opts[];

/** struct flow_plan - all simulations to be run; freed by flow_plan_free() */
struct flow_plan {
	struct flow_params base;	/* parameters that all points share */
	const char *preset;
	const char *figure;		/* the figure that has these curves, or NULL */
	struct flow_trace trace;
	struct flow_point *point;
	size_t n;
	unsigned int seeds, threads;
};

/** flow_plan_make() - Return: OK, or CANNOT after it has printed the error */
int flow_plan_make(struct flow_plan *plan);
void flow_plan_free(struct flow_plan *plan);

#endif /* FLOW_OPTION_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Removes a lab in any state, by its name. */
#ifndef TEARDOWN_H
#define TEARDOWN_H

#include <stdbool.h>

/** struct leftovers - the parts of a lab that still exist */
struct leftovers {
	bool run;		/* the run directory exists */
	unsigned int netns;
	unsigned int names;	/* number of links in /etc/netns */
};

void leftovers_find(const char *name, struct leftovers *out);
/** teardown() - remove a lab; prints what cannot be removed. Return: OK or CANNOT */
int teardown(const char *name);

#endif /* TEARDOWN_H */

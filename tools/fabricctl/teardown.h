/* SPDX-License-Identifier: GPL-2.0-only */
/* Clearing a lab away, whatever state it is in; needs its name alone. */
#ifndef TEARDOWN_H
#define TEARDOWN_H

#include <stdbool.h>

/** struct leftovers - what there is of a lab */
struct leftovers {
	bool run;		/* its run directory */
	unsigned int netns;
	unsigned int names;	/* in /etc/netns */
};

void leftovers_find(const char *name, struct leftovers *out);
/** teardown() - says what it could not remove. Return: OK or CANNOT */
int teardown(const char *name);

#endif /* TEARDOWN_H */

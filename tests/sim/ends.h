/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways in which a node of a simulated world ends and comes back, and which node leads then. */
#ifndef ENDS_H
#define ENDS_H

#include "trial.h"

/* POWER: NIC and manager are gone. KILL: only the manager. HANG: that stops, and goes on later. */
enum ending { POWER, KILL, HANG, ENDS };

extern const char *const end_names[ENDS];

void end_node(struct world *w, uint32_t node, enum ending end);
/* Undoes that end of a node, which is then as it was before. */
void end_undo(struct world *w, uint32_t node, enum ending end);
/* Return: how many running managers say that they are the root. */
unsigned int ends_roots(struct world *w);
/*
 * Return: a node, not @but, whose manager runs and leads with a table of its own; or TORUS_NO_NODE.
 */
uint32_t ends_leader(struct world *w, uint32_t but);
/* Runs until a node other than @but leads, or for @limit. Return: as ends_leader(). */
uint32_t ends_await(struct trial *s, uint32_t but, uint64_t limit);

#endif /* ENDS_H */

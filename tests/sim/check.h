/* SPDX-License-Identifier: GPL-2.0-only */
/* Checkers of a simulated world. They watch and read it, and change nothing. */
#ifndef CHECK_H
#define CHECK_H

#include "tools/fabricsim/world.h"

struct check_flow;

/** check_flow_new() - watches every packet of @w */
struct check_flow *check_flow_new(struct world *w);
void check_flow_free(struct check_flow *c);
/**
 * check_flow_lies() - nodes send false reports to the root, which may therefore judge a live node
 * dead
 */
void check_flow_lies(struct check_flow *c);
/*
 * check_flow_wrong() - the first error so far: of order, of a packet's fate, or of what a
 *	manager did to a NIC
 * Return: a text, or NULL.
 */
const char *check_flow_wrong(const struct check_flow *c);
/* check_flow_end() - as check_flow_wrong(), after the checks of a world at rest without traffic */
const char *check_flow_end(struct check_flow *c);
/* Return: packets that were sent and have not arrived, come back or been lost. */
uint64_t check_flow_alive(const struct check_flow *c);
/* Return: VCD packets lost because they came after their receiver had given them up. */
uint64_t check_flow_late(const struct check_flow *c);
uint64_t check_flow_arrived(const struct check_flow *c);
/* Return: packets that arrived from @src at @dst. */
uint64_t check_flow_between(const struct check_flow *c, uint32_t src, uint32_t dst);
/* Return: packets that came back because their destination could not be reached. */
uint64_t check_flow_returned(const struct check_flow *c);
/*
 * Return: VCD packets that died in a NIC that lost its power, between nodes whose own NICs have
 *	never lost theirs.
 */
uint64_t check_flow_died(const struct check_flow *c);
/* Return: the sum of counter @which over all NICs, including those that lost their power. */
uint64_t check_flow_counted(const struct check_flow *c, enum torus_node_counter which);
/* Return: true if any node replayed packets or lifted holds while the root had no proof. */
bool check_flow_unproven(const struct check_flow *c);
/* Return: the longest time, in ns, from a switch of a node's rows until its holds were lifted. */
uint64_t check_flow_held(const struct check_flow *c);

/*
 * check_flow_ordered() - the manager of @root has accepted fm_exclude() with these arguments, or is
 *	about to be ordered to include. Once it reports that an exclusion is in force, that must be
 *	kept until it is included
 */
void check_flow_ordered(struct check_flow *c, uint32_t root, uint32_t node, int port, bool excluded);
/*
 * check_admin() - checks that the root's table has all exclusions that were acknowledged, in a
 * world in which all nodes have that table
 * Return: a text in @buf, or NULL.
 */
const char *check_admin(const struct check_flow *c, char *buf, size_t room);

/*
 * check_end() - checks a world at rest: the shape is right, the table agrees with the cables
 * (check_table()), nothing is parked or held, and the rows are right (check_rows())
 * Return: a text in @buf, or NULL.
 */
const char *check_end(struct world *w, char *buf, size_t room);

/* check_table() - checks that the table excludes exactly the cables that do not work; the
 * administrator must have excluded none */
const char *check_table(struct world *w, char *buf, size_t room);

/*
 * check_rows() - checks the rows of a settled world, whole or broken: each NIC has those that
 * the root's table asks for, none on hold; together they route every pair of nodes that is
 * joined by cables, without a deadlock
 */
const char *check_rows(struct world *w, char *buf, size_t room);

/*
 * check_drain() - checks the root's proof that the network is drained, when a node is about to
 * replay at @version or to lift its holds: no packet of an older version may be in the network
 * Return: a text in @buf, or NULL.
 */
const char *check_drain(const struct fm *root, struct world *w, uint64_t version, char *buf, size_t room);

/*
 * check_colour() - checks a reused colour when @node is the first to switch to @version: no
 * packet of version - 4, which had the same colour, may be in the network
 * Return: a text in @buf, or NULL.
 */
const char *check_colour(struct world *w, uint32_t node, uint64_t version, char *buf,
			 size_t room);

/*
 * check_tally() - checks the sums that the root updates at each change (tally.c), at any time
 * Return: a text, perhaps in @buf, or NULL.
 */
const char *check_tally(struct world *w, char *buf, size_t room);

#endif /* CHECK_H */

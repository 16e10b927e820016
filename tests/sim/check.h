/* SPDX-License-Identifier: GPL-2.0-only */
/* Checkers: they watch a world and read it, and change nothing. */
#ifndef CHECK_H
#define CHECK_H

#include "tools/fabricsim/world.h"

struct check_flow;

/** check_flow_new() - watches every packet of @w */
struct check_flow *check_flow_new(struct world *w);
void check_flow_free(struct check_flow *c);
/*
 * check_flow_wrong() - the first thing that was wrong: with order, with what became of a
 *	packet, or with what a manager did to a NIC
 * Return: a text, or NULL.
 */
const char *check_flow_wrong(const struct check_flow *c);
/* check_flow_end() - ... of a world that has come to rest and has no traffic */
const char *check_flow_end(struct check_flow *c);
/* Return: packets that have not arrived nor come back, and are not lost. */
uint64_t check_flow_alive(const struct check_flow *c);
/* Return: packets of VCD that are lost because nobody waited for them any more. */
uint64_t check_flow_late(const struct check_flow *c);
uint64_t check_flow_arrived(const struct check_flow *c);
/* ... of one pair of nodes */
uint64_t check_flow_between(const struct check_flow *c, uint32_t src, uint32_t dst);
/* Nanoseconds between the last packets of the flow that stood still longest
 * since the last call, and its node pair. */
uint64_t check_flow_pause(struct check_flow *c);

/*
 * check_end() - what is wrong with a world that has come to rest: the table
 * does not say what the cables are, a row misleads, something is held or parked
 * Return: a text in @buf, or NULL.
 */
const char *check_end(struct world *w, char *buf, size_t room);

/* check_table() - ... about what the table says of cables; nothing may be excluded by the
 * administrator */
const char *check_table(struct world *w, char *buf, size_t room);

/*
 * check_rows() - the part of it that is about rows: each NIC has those that the root's
 * table asks for, nothing on hold, and together they bring every joined pair of nodes
 * together and cannot deadlock. To be asked when the world has settled, broken or not.
 */
const char *check_rows(struct world *w, char *buf, size_t room);

/*
 * check_drain() - a node is about to replay, or to lift the holds, of @version: no packet
 * of an older one may be alive, if the root says that it has proof
 * Return: a text in @buf, or NULL.
 */
const char *check_drain(struct world *w, uint64_t version, char *buf, size_t room);

/*
 * check_colour() - @node has just switched to @version: if it is the first, no packet of
 * the version four before, which had the same colour, may be in the network
 * Return: a text in @buf, or NULL.
 */
const char *check_colour(struct world *w, uint32_t node, uint64_t version, char *buf,
			 size_t room);

/* check_tally() - what the root keeps in step with each change; at any time */
const char *check_tally(struct world *w, char *buf, size_t room);

#endif /* CHECK_H */

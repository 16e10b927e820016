/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fabric manager for tests of its clients: it answers the control protocol for a fabric that is a
 * table in memory, with right rows unless a test changes them.
 */
#ifndef TESTS_FAKE_MANAGER_H
#define TESTS_FAKE_MANAGER_H

#include <jansson.h>
#include <stdbool.h>
#include <torus/topology.h>

#define FAKE_NODES_MAX 256

/**
 * struct fake - the fabric
 * @excluded: excluded ports of each node, as in the table
 * @faulty: JSON, what a status tells as "faulty"; NULL: it is of an earlier release
 * @recovery: JSON, the recovery that goes on; NULL: none
 * @whole: no cable is faulty
 * @orders: how many orders of exclusion a status tells; @ordered: when, seconds since 1970
 * @out_links: how many links are excluded
 * @admin: those of these ports that an administrator excluded
 * @held: those of these ports that are held down for 12.5 s more because they flap
 * @dead: nodes
 * @narrow: ports whose receivers use 10 of their 12 lanes
 * @differs: ports whose cables lead to a NIC with another bubble policy
 * @swapped: ports whose cables should lead to port -y of the last node
 * @row: rows of each NIC; fake_rows() computes them, then the test may change them
 * @version: of each NIC's rows
 * @silent: nodes that do not answer
 * @rootless: the root has been out of reach for years
 * @unnamed: only the root's address is known
 * @more_problems: than are listed
 * @root_away: what needs the root is refused as unreachable
 * @root: node id of it
 * @root_state: what it does, if it does not lead; @root_here: how many nodes answer or obey it, 0: 2
 * @no_candidate: nothing is known of any
 * @calls: nodes that it called, of them those that follow it, and another; those without an address
 * @refuses_move: no node becomes root
 * @split: lists are sent in many replies to one request
 * @queued: how many answers to come say that links have packets in their buffers
 * @flowing: how many answers to come say that links have received packets since the answer before
 * @inits: how many management packets each link has received; if any, another before each answer
 * @at_rest: no node has parked or held packets
 * @job: there is a job, "mine"
 * @mute: set if the node that the last request is about does not answer
 * @cuts_off: nodes would be cut off by each exclusion
 * @unchanged: how many changes to come are so already
 * @forgets: what is excluded gets into no table
 * @former: of a release that knows no runs of rows, and no links in brief, nor if there was a change
 * @early: there is no table: the manager knows this as "own" of its status, and nothing else
 * @raw: sent instead of any answer, if not NULL
 * @request: the last request
 * @path: of the control socket
 */
struct fake {
	struct torus_shape shape;
	uint32_t nodes;
	const char *state;
	uint64_t table_version;
	const char *faulty, *recovery;
	bool whole;
	unsigned int orders, out_links, wrong_links;
	json_int_t ordered;
	uint16_t excluded[FAKE_NODES_MAX];
	uint16_t admin[FAKE_NODES_MAX];
	uint16_t held[FAKE_NODES_MAX];
	bool dead[FAKE_NODES_MAX];
	uint16_t narrow[FAKE_NODES_MAX];
	uint16_t differs[FAKE_NODES_MAX];
	uint16_t swapped[FAKE_NODES_MAX];
	bool silent[FAKE_NODES_MAX];
	uint64_t row[FAKE_NODES_MAX][FAKE_NODES_MAX];
	uint64_t version[FAKE_NODES_MAX];
	bool rootless, unnamed, refuses_move;
	bool root_away;
	bool late;
	unsigned int more_problems;
	unsigned int kept_have, kept_of, kept_gain, unchanged;
	uint32_t root;
	const char *root_state;
	unsigned int root_here;
	bool no_candidate;
	unsigned int calls[4];
	unsigned int queued, flowing, inits;
	bool split, former, cuts_off, at_rest, job, mute, forgets;
	const char *early;
	const char *raw;
	json_t *request;
	char path[64];
};

/** fake_start() - serves clients until fake_stop(); only one fake manager at a time */
void fake_start(struct fake *f, const char *shape);
void fake_stop(struct fake *f);
/* The manager of each test of a group: a 4x4. $TORUS_CONTROL names its socket. */
extern struct fake fake;
int fake_setup(void **state);
int fake_teardown(void **state);
/** fake_rows() - computes the right rows for the shape and the exclusions */
void fake_rows(struct fake *f);
/** fake_answer() - the data of the answer that would be sent to @request */
json_t *fake_answer(struct fake *f, const json_t *request);

#endif /* TESTS_FAKE_MANAGER_H */

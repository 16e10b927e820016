/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One whole manager; the test plays its surroundings: its NIC, the service network, and time. The
 * actions of the manager are recorded as lines of text, in order, and a test says which lines there
 * must be. Nodes of the fabric have the GUID NIC + id, the name "nID" and the address
 * "30.0.0.ID:1".
 */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "daemon/fm/wire/init.h"
#include "daemon/fm/status.h"
#include "lib/util/times.h"

#define NIC 0x100ULL
#define TERM 0x7e		/* term of the root that a member knows */
#define START (1000000 * MS)	/* the manager's clock when the test begins */

/**
 * struct stage
 * @now: ns since the start
 * @shape: of the fabric that the helpers play
 * @rows: of the NIC when the manager begins; NULL: all empty
 * @deaf: kinds of lines that are not recorded, each followed by a blank: "init log "
 * @park, @lost: what the NIC reports
 * @err: how actions at the NIC end
 * @slow: they end only when the test says so, by stage_end_of()
 * @under_way, @result, @counts: the tag of the action under way, and how it will end
 * @refuse_connect: connect() fails
 * @set: of the last report that went up
 * @in_one: messages are recorded as they are given, not as they come out of the codec
 * @sees, @closes: if set, called for each message and each end of a connection; they may record
 * 	lines, but not answer
 * @text, @len: the recorded lines
 */
#define STAGE_JOINERS 2048	/* connections below this number */

/** struct stage_joiner - the last HELLO on a connection; @obeys: the epoch of a claim that came back */
struct stage_joiner {
	bool known;
	struct fm_msg hello;
	uint64_t obeys;
};

struct stage {
	struct fm *fm;
	struct fm_config cfg;
	struct torus_device dev;
	struct torus_link link[TORUS_MAX_PORTS];
	uint64_t now;
	struct torus_shape shape;
	const uint64_t *rows;
	const char *deaf;
	struct torus_park park;
	uint64_t lost;
	struct {
		int root, place, rows, release, count, replay;
	} err;
	bool roots;		/* write down whom NICs obey, or are asked to */
	bool stubborn;		/* others do not do what a claim asks for */
	bool asked;		/* a claim came back, which @joiner knows */
	struct stage_joiner joiner[STAGE_JOINERS];
	bool slow;
	uint32_t under_way;
	int result;
	struct fm_counts counts;
	int refuse_connect;
	int next_conn;
	uint64_t stamped;
	uint64_t set;
	bool in_one;
	void (*sees)(int conn, const struct fm_msg *msg);
	void (*closes)(int conn);
	size_t len;
	char text[1 << 18];
};

/* Each of these operations records what it is asked for (stage_text.c). */
extern const struct fm_ops stage_ops;

/* Makes the manager of node @node of a fabric of that shape; 0 is the root. No link is up. */
void stage_init(struct stage *s, const char *shape, uint32_t node);
void stage_start(struct stage *s);
/* Makes the manager again. Return: whether there was memory for it. */
bool stage_try(struct stage *s);
void stage_end(struct stage *s);

/* Ends the action under way, as a NIC does that is done with it. Nothing if there is none. */
void stage_end_of(struct stage *s);

/* Lets time pass until @ms after the start. Timers run exactly when they are due. */
void stage_run(struct stage *s, double ms);
/* As stage_run(), with the time in ns. */
void stage_run_ns(struct stage *s, uint64_t ns);

/* Checks that exactly these lines were recorded since the last call, and forgets them. */
void stage_did(struct stage *s, const char *lines);
void stage_did_nothing(struct stage *s);
/* Checks that some recorded line has that text in it, and forgets all lines. */
void stage_did_some(struct stage *s, const char *part);
/* Checks that no recorded line has that text in it, and forgets all lines. */
void stage_did_no(struct stage *s, const char *part);
void stage_forget(struct stage *s);
/* Return: the ns until there is a line with that text. Forgets all lines. */
uint64_t stage_wait(struct stage *s, const char *part);
/* Return: how many recorded lines have @part in them. Forgets nothing. */
unsigned int stage_count(const struct stage *s, const char *part);

/* --- what happens to the manager -------------------------------------------------- */

/*
 * The link of the manager's NIC at @port to the neighbour in the shape comes up, in session
 * @session.
 */
void stage_link_up(struct stage *s, unsigned int port, uint32_t session);
/* The link of the manager's NIC at @port ends; TSEQ @seq was expected next. */
void stage_link_lost(struct stage *s, unsigned int port, uint16_t seq);
void stage_report_link(struct stage *s, unsigned int port);
/* An Init of the neighbour at @port, which knows the root at node 0. */
struct fm_init stage_neighbour(const struct stage *s, unsigned int port);
/* An Init of the NIC and the port to which the cable at @port leads, whichever these are. */
void stage_receive(struct stage *s, unsigned int port, const struct fm_init *init);
/* An Init that need not be of the NIC to which the cable at @port leads. */
void stage_receive_other(struct stage *s, unsigned int port, const struct fm_init *init);

void stage_up(struct stage *s, int conn);
void stage_down(struct stage *s, int conn);
void stage_msg(struct stage *s, int conn, const struct fm_msg *msg);
void stage_welcome(struct stage *s, int conn, uint64_t term, const char *parent);
void stage_refuse(struct stage *s, int conn, const char *why);
void stage_send(struct stage *s, int conn, enum fm_msg_type type);

/* --- the rest of the fabric ---------------------------------------------------------- */

/* The row of a node whose cables are all right and up. */
struct fm_row stage_row(const struct stage *s, uint32_t node);
/* A HELLO of @node to the root, from a NIC that has no place yet. */
struct fm_msg stage_hello(const struct stage *s, uint32_t node);
struct fm_entry stage_entry(const struct stage *s, uint32_t node);
/* A whole table in which all nodes are up; @entries has room for all. */
struct fm_msg stage_table(const struct stage *s, uint64_t version, struct fm_entry *entries);
struct fm_msg stage_step(uint64_t version, uint32_t round, enum fm_step_kind step);
/* The report of one node that has done the step. */
struct fm_msg stage_report(const struct stage *s, uint32_t node, uint64_t version,
			   uint32_t round);

#endif /* TESTS_STAGE_H */

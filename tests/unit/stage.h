/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One manager, whole, and all it talks to played by the test: its NIC, the service
 * network, time. What it does is written down as lines of text, in order, and a test
 * says what lines there must be. Nodes of the fabric have the GUID NIC + id, the name
 * "nID" and the address "10.0.0.ID:1".
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
#include "daemon/fm/init.h"
#include "daemon/fm/status.h"

#define MS 1000000ULL
#define NIC 0x100ULL
#define TERM 0x7e		/* of the root that a member hears */
#define START (1000000 * MS)	/* by the machine's clock */

/**
 * struct stage
 * @now: ns since the start
 * @shape: of the fabric that the helpers play
 * @deaf: kinds of lines that are not written down, each with a blank: "init log "
 * @park, @lost: what the NIC says
 * @err: what calls of the NIC return
 * @refuse_connect: connect() fails
 * @set: of the last report that went up
 * @in_one: messages are written down as they are, not as they come out of the codec
 * @sees, @closes: hear of each message and end of a connection, if set; they may write down,
 *	not answer
 * @text, @len: what it did
 */
struct stage {
	struct fm *fm;
	struct fm_config cfg;
	struct torus_device dev;
	struct torus_link link[TORUS_MAX_PORTS];
	uint64_t now;
	struct torus_shape shape;
	const char *deaf;
	struct torus_park park;
	uint64_t lost;
	struct {
		int place, rows, release, flow, lost, replay;
	} err;
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

/* All of them write down what they are asked for (stage_text.c). */
extern const struct fm_ops stage_ops;

/* A manager of node @node of a fabric of that shape; 0 is the root. No link is up. */
void stage_init(struct stage *s, const char *shape, uint32_t node);
void stage_start(struct stage *s);
/* Return: whether there was memory for it. */
bool stage_try(struct stage *s);
void stage_end(struct stage *s);

/* Lets time pass until @ms after the start. What is due happens when it is, not before. */
void stage_run(struct stage *s, double ms);
/* The same, in ns. */
void stage_run_ns(struct stage *s, uint64_t ns);

/* What was written down since the last of these is that, and nothing else. */
void stage_did(struct stage *s, const char *lines);
void stage_did_nothing(struct stage *s);
/* ... has a line with that text in it. All is forgotten. */
void stage_did_some(struct stage *s, const char *part);
/* ... and none has. */
void stage_did_no(struct stage *s, const char *part);
void stage_forget(struct stage *s);
/* ns until there is a line with that text. All is forgotten. */
uint64_t stage_wait(struct stage *s, const char *part);
/* How often @part is there; nothing is forgotten. */
unsigned int stage_count(const struct stage *s, const char *part);

/* --- what happens to it ----------------------------------------------------------- */

/* Its link at @port to the neighbour in the shape, in session @session. */
void stage_link_up(struct stage *s, unsigned int port, uint32_t session);
/* ... ended; TSEQ @seq was expected next. */
void stage_link_lost(struct stage *s, unsigned int port, uint16_t seq);
void stage_link_tell(struct stage *s, unsigned int port);
/* An Init of the neighbour at @port, as one says it that knows the root at node 0. */
struct fm_init stage_neighbour(const struct stage *s, unsigned int port);
void stage_hear(struct stage *s, unsigned int port, const struct fm_init *init);

void stage_up(struct stage *s, int conn);
void stage_down(struct stage *s, int conn);
void stage_msg(struct stage *s, int conn, const struct fm_msg *msg);
void stage_welcome(struct stage *s, int conn, uint64_t term, const char *parent);
void stage_refuse(struct stage *s, int conn, const char *why);
void stage_say(struct stage *s, int conn, enum fm_msg_type type);

/* --- the fabric played --------------------------------------------------------------- */

/* Row of a node all of whose cables are as they should be and up. */
struct fm_row stage_row(const struct stage *s, uint32_t node);
/* A HELLO of @node to the root, from a NIC that is not placed yet. */
struct fm_msg stage_hello(const struct stage *s, uint32_t node);
struct fm_entry stage_entry(const struct stage *s, uint32_t node);
/* A whole table, in which all nodes are up; @entries has room for all. */
struct fm_msg stage_table(const struct stage *s, uint64_t version, struct fm_entry *entries);
struct fm_msg stage_step(uint64_t version, uint32_t round, enum fm_step_kind step);
/* What one node says that has done the step. */
struct fm_msg stage_report(const struct stage *s, uint32_t node, uint64_t version,
			   uint32_t round);

#endif /* TESTS_STAGE_H */

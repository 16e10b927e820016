/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of a manager: all its events and actions, in order, one JSON object a line. "fabricd
 * --record" writes a recording, "fabricsim replay" passes its events to a state machine again;
 * fabricsim(1) describes the lines.
 *
 * The actions of a manager depend only on its events, which include the ends of its actions at the
 * NIC, and on the numbers of its connections (fm.h). So another manager of the same version does
 * the same actions after the same events. A replay compares these actions with the recorded ones.
 */
#ifndef RECORD_H
#define RECORD_H

#include <jansson.h>
#include "daemon/fm/fm.h"
#include "daemon/fm/status.h"

/* Format of the lines, in each RECORD_BEGIN. In format 2 NICs did not obey roots. */
#define RECORD_FORMAT 4

enum record_kind {
	RECORD_BEGIN,		/* fm_new() */
	RECORD_LINK,
	RECORD_MGMT,
	RECORD_PARK,
	RECORD_DONE,		/* fm_done() */
	RECORD_UP,		/* fm_conn_up() */
	RECORD_DOWN,
	RECORD_MSG,
	RECORD_TIMER,
	RECORD_EXCLUDE,
	RECORD_MOVE,		/* fm_root_move() */
	RECORD_ARBITER,		/* fm_arbiter() */
	RECORD_KEPT,		/* fm_kept() */
	RECORD_STALLED,		/* fm_stalled() */
	RECORD_CLOCK,		/* fm_clock() */
	RECORD_PLAN,		/* fm_plan() */
	RECORD_JOB,		/* fm_job_start(), fm_job_grow(), fm_job_stop() */
	RECORD_GONE,		/* fm_nic_gone() */
	RECORD_END,		/* fm_free() */
	RECORD_KINDS,
};

/**
 * struct record_event - one event
 * @now: the time passed to the state machine, ns
 * @begin: @links has one link for each port, @rows the NIC's rows if the NIC has coordinates;
 *	@kept: the table that @config.kept points to, or NULL
 * @done: @counts is valid if @has_counts
 * @conn: the connection of RECORD_UP and RECORD_DOWN
 *
 * The caller owns the memory that the pointers point to; for a parsed event, record_event_clear()
 * frees it.
 */
struct record_event {
	enum record_kind kind;
	uint64_t now;
	union {
		struct {
			struct fm_config config;
			struct torus_device dev;
			const struct torus_link *links;
			struct torus_park park;
			const uint64_t *rows;
			struct fm_msg *kept;
		} begin;
		struct torus_link link;
		struct {
			unsigned int port;
			const void *data;
			size_t len;
		} mgmt;
		struct torus_park park;
		struct {
			uint32_t tag;
			int err;
			bool has_counts;
			struct fm_counts counts;
		} done;
		int conn;
		struct {
			int conn;
			struct fm_msg *msg;
		} msg;
		struct {
			unsigned int port;
			bool is;
		} stalled;
		struct {
			uint32_t node;
			int port;
			bool on, more;		/* @more: another exclusion follows at once */
			struct fm_order order;	/* @order.since 0: there is no order */
		} exclude;
		struct {
			bool on;
			struct fm_job job;
			const uint32_t *node;	/* @job.nodes nodes, if @on, and the job
						 * does not grow */
			struct fm_job_want want; /* if @on and the job grows */
		} job;
		uint32_t move;
		uint64_t wall;
		struct {
			struct torus_plan plan;
			unsigned int given;
		} plan;
		struct {
			uint64_t epoch;
			enum fm_verdict verdict;
			uint64_t high;
			char why[FM_TEXT_MAX];
		} arbiter;
		struct {
			uint64_t epoch, version;
			bool ok;
		} kept;
	};
};

/** record_event_json() - convert to JSON. Return: a new object, or NULL if out of memory */
json_t *record_event_json(const struct record_event *e);
/**
 * record_event_parse() - convert from JSON
 * Return: 0, -EINVAL (the line is not an event; see record_is_event()), -EPROTO (the line begins a
 * recording of another format), or -ENOMEM.
 */
int record_event_parse(const json_t *line, struct record_event *out);
bool record_is_event(const json_t *line);
void record_event_clear(struct record_event *e);
/**
 * record_event_play() - pass an event to the manager; does nothing for RECORD_BEGIN and RECORD_END
 * Return: the result of the manager's function, or 0.
 */
int record_event_play(const struct record_event *e, struct fm *fm);

/**
 * struct record_tap - gets each action of a manager before the host does it
 * @ops, @io: functions of the host, and their argument; NULL: no action is done
 * @action: called with each action, whose reference it takes over; NULL if out of memory. The
 *	action "connect" contains its result if there is a host. Return: the result of "connect" if
 *	there is no host
 */
struct record_tap {
	const struct fm_ops *ops;
	void *io;
	int (*action)(struct record_tap *tap, json_t *action);
};

/** record_ops - ops for fm_new(), with a struct record_tap as @io */
extern const struct fm_ops record_ops;

/** record_hex() - convert bytes to hexadecimal text. Return: NULL if out of memory */
json_t *record_hex(const void *data, size_t len);

#endif /* RECORD_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of a manager: all that came to it and all that it did, in order, one JSON
 * object a line. "fabricd --record" writes it, "fabricsim replay" plays it again; fabricsim(1)
 * describes the lines.
 *
 * A manager is a function of its events, of which the ends of its actions at the NIC are some,
 * and of the numbers of its connections (fm.h). So the same events make another manager of the
 * same version do the same actions, and it is enough to compare these to know that what is
 * played is what happened.
 */
#ifndef RECORD_H
#define RECORD_H

#include <jansson.h>
#include "daemon/fm/fm.h"

/* Format of the lines, in each RECORD_BEGIN. Format 2 had no roots that NICs obey. */
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
	RECORD_END,		/* fm_free() */
	RECORD_KINDS,
};

/**
 * struct record_event - one event
 * @now: as it was given to the manager, ns
 * @begin: @links has one for each port, @rows the NIC's rows if it is placed; @kept: what
 *	@config.kept points to, or NULL
 * @done: @counts is valid if @has_counts
 * @conn: of RECORD_UP and RECORD_DOWN
 * What it points to belongs to its maker; of a parsed one, to record_event_clear().
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
			bool on, more;		/* @more: another one follows at once */
			struct fm_order order;	/* @since 0: it is not said who excludes it */
		} exclude;
		uint32_t move;
		uint64_t wall;
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

/** record_event_json() - Return: a new object, or NULL if out of memory */
json_t *record_event_json(const struct record_event *e);
/**
 * record_event_parse() - the reverse
 * Return: 0, -EINVAL (it is no event; see record_is_event()), -EPROTO (it begins a recording
 * of another format), or -ENOMEM.
 */
int record_event_parse(const json_t *line, struct record_event *out);
bool record_is_event(const json_t *line);
void record_event_clear(struct record_event *e);
/**
 * record_event_play() - give it to the manager, which RECORD_BEGIN and RECORD_END do not do
 * Return: what the manager returned, if it does; else 0.
 */
int record_event_play(const struct record_event *e, struct fm *fm);

/**
 * struct record_tap - stands between a manager and who does its actions
 * @ops, @io: who does them; NULL: nobody
 * @action: called with each action; of connect, which alone returns something, the result is in
 *	it if somebody did it. Takes @action, which is NULL if memory was short. Return: what
 *	connect returns if nobody does it
 */
struct record_tap {
	const struct fm_ops *ops;
	void *io;
	int (*action)(struct record_tap *tap, json_t *action);
};

/** record_ops - for fm_new(), with a struct record_tap as @io */
extern const struct fm_ops record_ops;

/** record_hex() - bytes as text; NULL: out of memory */
json_t *record_hex(const void *data, size_t len);

#endif /* RECORD_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the machine. Each part owns the struct named after it and has a
 * function for every event it cares about, one that runs what is due, and one
 * that says when that will be.
 */
#ifndef FM_MACHINE_H
#define FM_MACHINE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>

#include "daemon/fm/node/port.h"
#include "daemon/fm/wire/init.h"
#include "daemon/fm/status.h"

#define MS 1000000ULL
#define NEVER (~0ULL)
#define LONELY (30000 * MS)	/* until it is said that nobody was heard */
#define FM_PROBLEMS_MAX 64
#define FM_NEWS_MAX 64

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What a connection of the service network is for. */
enum fm_conn_role {
	FM_CONN_STRANGER,	/* accepted, has not said HELLO */
	FM_CONN_ROOT,		/* ours, to the root */
	FM_CONN_PARENT,		/* ours, to the parent */
	FM_CONN_CHILD,		/* accepted: below us in the tree */
};

/** struct fm_conn - a connection of the service network */
struct fm_conn {
	int id;
	uint8_t role;
	bool ready;		/* ours: established */
	bool confirmed;		/* ours: answered by WELCOME */
	bool reported;		/* child: @report is of the step at hand */
	bool awaited;		/* child: takes part in it and has not reported */
	bool guest;		/* child of the root: was given another parent */
	uint64_t guid;		/* child */
	uint32_t epoch;
	uint32_t node;		/* child: its id in the table, or TORUS_NO_NODE */
	uint64_t heard;		/* when something came last */
	uint64_t attach;	/* number of the connection, as its maker counts */
	uint64_t asked;		/* ours: when PING went out last, or HELLO;
				 * child: when the step at hand did first */
	struct fm_report report;
	unsigned int at;	/* in fm_tree's list */
	struct fm_conn *next_id, *next_guid;
};

/** struct fm_tree - this node's place in the distribution tree */
struct fm_tree {
	struct fm_conn **conns;
	unsigned int nconns, room;
	struct fm_conn **by_id, **by_guid;	/* hashes; @by_guid: children */
	unsigned int nslots;
	uint64_t due;		/* no connection must be looked at before */
	uint64_t retry;		/* when to try the root again; NEVER */
	uint64_t backoff;
	bool stray;		/* the parent we were given did not take us */
	char parent[FM_ADDR_MAX];
	uint64_t term;
	uint64_t attach;	/* last number given to a connection upward */
	uint32_t row_told;	/* serial in the last HELLO */
	uint32_t row_acked;
	uint64_t row_next;	/* when to say the row again */
	uint64_t row_wait;	/* ... and how much later once more */
	uint64_t cut_off;	/* since when there is no way to the root; 0: there is */
};

/**
 * struct fm_book - the nodes of a table; may be shared, and is then not changed
 * @next: in the library
 * @slot: hash of GUIDs: node id + 1; NULL: not made yet
 */
struct fm_book {
	struct fm_library *library;
	struct fm_book *next;
	uint32_t refs;
	uint64_t term, version;
	struct torus_shape shape;
	uint32_t nodes;
	struct fm_entry *entry;	/* one for each node */
	uint16_t *closed;	/* exclusions, closed */
	uint32_t *slot;
	uint32_t nslots;
};

/**
 * struct fm_table - the exclusion table as this node has it
 * @entry, @closed: of @book
 * @news: nodes whose entries changed since the rows followed last (rows.c)
 * @nnews: of them; more than FM_NEWS_MAX: nobody knows which
 */
struct fm_table {
	uint64_t term;
	uint64_t version;	/* 0: none */
	struct torus_shape shape;
	uint8_t open;
	uint32_t nodes;
	struct fm_book *book;
	struct fm_entry *entry;
	uint16_t *closed;
	uint32_t *news, nnews;
};

/** struct fm_member - this node's part in the step at hand */
struct fm_member {
	uint64_t version;
	uint32_t round;
	struct fm_step step;	/* the last one of this version */
	bool own;		/* @report holds our own part */
	bool sent;
	struct fm_report report;
	unsigned int nawaited;	/* children */
	struct fm_report below;	/* sum of those that have reported */
	struct fm_base base;	/* as the root told last */
};

/** struct fm_trouble - a problem that stands */
struct fm_trouble {
	struct fm_problem problem;
	uint64_t key;
	bool mark;
};

struct fm_root;			/* root.h */

struct fm {
	struct fm_config cfg;
	struct fm_ops ops;
	void *io;
	uint64_t now;
	uint64_t started;
	uint64_t random;

	/* the NIC */
	uint64_t guid;
	uint32_t epoch;
	uint32_t relay_packets;	/* 0: not known */
	unsigned int nports;
	bool bootstrap;
	bool placed;
	struct torus_shape shape;
	struct torus_coords coords;
	uint32_t node;
	uint64_t *rows;		/* as they stand in the NIC */
	uint32_t nrows;
	uint32_t relayed;	/* of @rows, those through relays */
	uint64_t applied;
	struct torus_health *health;
	struct torus_routes *routes;	/* what the table asks for; NULL before the first */
	bool merged;		/* @rows are those of @routes, and holds */
	struct torus_park park;

	/* port.c */
	struct fm_port port[TORUS_MAX_PORTS];
	struct fm_row row;

	/* bootstrap.c */
	unsigned int ndims;	/* of the fabric; 0 while unknown */
	uint16_t size[TORUS_MAX_DIMS];
	bool have_root;
	bool have_position;
	bool cabled;		/* some port is bound to a device */
	bool lonely;		/* said that there is no root */
	int32_t position[TORUS_MAX_DIMS];
	uint64_t root_guid;
	char root_address[FM_ADDR_MAX];

	struct fm_tree tree;
	struct fm_table table;
	struct fm_member member;
	struct fm_root *root;	/* NULL on all nodes but the root */

	struct fm_trouble *trouble;
	unsigned int nproblems, trouble_room;
};

/* log.c */
void fm_say(struct fm *fm, enum fm_level level, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key);
/* Those of @kind not set again between the two calls are cleared. */
void fm_problems_mark(struct fm *fm, const char *kind);
void fm_problems_sweep(struct fm *fm, const char *kind);
uint64_t fm_random(struct fm *fm);
uint64_t fm_mix(uint64_t x);

/* bootstrap.c */
void fm_bootstrap_start(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links);
void fm_bootstrap_link(struct fm *fm, const struct torus_link *link);
void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
void fm_bootstrap_due(struct fm *fm);
uint64_t fm_bootstrap_expiry(const struct fm *fm);
unsigned int fm_opposite(unsigned int ndims, unsigned int port);

/* tree.c */
void fm_recall_tell(const struct fm *fm, struct fm_hello *h);	/* recall.c */
void fm_tree_start(struct fm *fm);
void fm_tree_root_known(struct fm *fm);
void fm_tree_up(struct fm *fm, int id);
void fm_tree_down(struct fm *fm, int id);
void fm_tree_msg(struct fm *fm, int id, const struct fm_msg *msg);
void fm_tree_row(struct fm *fm);	/* the own row changed */
void fm_tree_rejoin(struct fm *fm);
/* Reports of a new step are waited for. */
void fm_tree_awaits(struct fm *fm);
void fm_tree_row_acked(struct fm *fm, uint32_t serial);
void fm_tree_due(struct fm *fm);
uint64_t fm_tree_expiry(const struct fm *fm);
struct fm_conn *fm_tree_upstream(struct fm *fm);
void fm_tree_drop(struct fm *fm, struct fm_conn *c);
void fm_tree_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg);
void fm_tree_send_up(struct fm *fm, const struct fm_msg *msg);
/* Says that this node is there, and whether it has a way to the root. */
void fm_tree_pong(struct fm *fm, const struct fm_conn *c);

/* conns.c */
struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role);
/* It leads to a child, the NIC @guid. */
void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid);
void fm_conn_forget(struct fm *fm, struct fm_conn *c);
void fm_conns_free(struct fm *fm);
struct fm_conn *fm_tree_conn(struct fm *fm, int id);
struct fm_conn *fm_conn_other(struct fm *fm, const struct fm_conn *c);

/* children.c: the half of the tree below this node */
void fm_child_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
void fm_child_accept(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
void fm_child_refuse(struct fm *fm, struct fm_conn *c, const char *why);
void fm_child_gone(struct fm *fm, const struct fm_conn *c);
void fm_children_announce(struct fm *fm);
void fm_children_drop(struct fm *fm);
void fm_children_lookup(struct fm *fm);

/* table.c */
bool fm_table_begin(struct fm *fm, const struct torus_shape *shape);
bool fm_table_take(struct fm *fm, const struct fm_table_msg *t);
void fm_table_free(struct fm_table *t);
/* All of it as a message, to be given to fm_table_whole_end(). False: no memory. */
bool fm_table_whole(const struct fm *fm, struct fm_msg *out);
void fm_table_whole_end(const struct fm *fm, struct fm_msg *msg);
/* Node id of the NIC in the table, TORUS_NO_NODE if it is not. */
uint32_t fm_table_find(const struct fm *fm, uint64_t guid);
void fm_table_ended(struct fm *fm, const struct fm_ended *e);
bool fm_table_counts(const struct fm_entry *e);
uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch);

/* library.c: books. New and copied ones are private and all zero. */
struct fm_book *fm_book_new(const struct torus_shape *shape);
struct fm_book *fm_book_get(struct fm_book *b);
void fm_book_put(struct fm_book *b);
void fm_book_close(struct fm_book *b);
/* Some entries become others: the exclusions follow. */
void fm_book_change(struct fm_book *b, const struct fm_entry *entry, uint32_t n);
uint32_t fm_book_find(struct fm_book *b, uint64_t guid);
struct fm_book *fm_library_find(struct fm_library *l, uint64_t term, uint64_t version,
				const struct torus_shape *shape);
void fm_library_add(struct fm_library *l, struct fm_book *b, uint64_t term, uint64_t version);

/* rows.c */
int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node);
int fm_rows_apply(struct fm *fm);
/* @rows are as in the NIC: what is known of them is counted. */
void fm_rows_taken(struct fm *fm);
void fm_rows_free(struct fm *fm);
void fm_rows_resolve(struct fm *fm, bool orphans);
uint16_t fm_rows_reopen(const struct fm *fm);
void fm_rows_released(struct fm *fm);

/* member.c */
void fm_member_table(struct fm *fm, const struct fm_table_msg *t);
void fm_member_step(struct fm *fm, const struct fm_step *s);
void fm_member_report(struct fm *fm, struct fm_conn *c, const struct fm_report *r);
void fm_member_child(struct fm *fm, struct fm_conn *c, uint64_t version);
void fm_member_check(struct fm *fm, bool again);
/* Says the step at hand again to the children that have not reported it. */
void fm_member_repeat(struct fm *fm);
/* Whether the report of the step at hand is missing from that child. */
bool fm_member_awaits(const struct fm *fm, const struct fm_conn *c);
/* Whether it is awaited may have changed. */
void fm_member_awaits_now(struct fm *fm, struct fm_conn *c);
/* It ends: what it reported counts no more. */
void fm_member_forget(struct fm *fm, const struct fm_conn *c);
/* GUID of a child whose report of the step at hand is missing, or 0. */
uint64_t fm_member_awaited(const struct fm *fm);
void fm_member_sums(struct fm *fm, struct fm_sums *out);

#endif /* FM_MACHINE_H */

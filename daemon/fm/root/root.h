/* SPDX-License-Identifier: GPL-2.0-only */
/* What only the root has: the roster of all nodes, and the recovery at hand. */
#ifndef FM_ROOT_H
#define FM_ROOT_H

#include "daemon/fm/node/machine.h"

/** struct fm_flap - @penalty of a port for its losses, as it was @at (damp.c) */
struct fm_flap {
	uint64_t at;
	uint32_t penalty;
	bool held;
};

/**
 * struct fm_mate - a node that has said HELLO; the root itself is number 0
 * @node: its id once placed, else TORUS_NO_NODE
 * @fixed: @node is in the table or was its own before: not moved any more
 * @via: GUID of who holds its connection; 0: nobody, since @missing
 * @above, @first, @next, @prev: numbers in the roster + 1, of who @via is, if known;
 *	of one who hangs below it; of others who hang below @above
 * @listed: in fm_root's list of those who are missing
 * @attach: number of the newest connection heard of; older notices mean nothing
 * @state: FM_NODE_UP, _SILENT or _DEAD
 */
struct fm_mate {
	uint64_t guid;
	uint32_t epoch;
	uint32_t node;
	bool fixed;
	uint8_t state;
	bool moving;		/* left the root for the parent it was given */
	bool listed;
	bool vouched;		/* judge.c: missing, and somebody has a link to it */
	uint64_t via;
	uint32_t above, first, next, prev;
	uint32_t given;		/* number of the parent it was given last; 0: the root */
	uint64_t joined;	/* when it came on a connection of its own last */
	uint64_t attach;
	uint64_t missing;
	uint64_t version;	/* of its rows, when it joined */
	uint16_t opening;	/* ports of @row that it opens at REPLAY; 0 in a new row */
	struct fm_row row;
	struct fm_flap *flap;	/* damp.c: of each port; NULL: it never lost a link */
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

enum fm_phase {
	FM_PHASE_REST,
	FM_PHASE_APPLY,		/* table out, waiting for all to be ready */
	FM_PHASE_DRAIN,		/* old packets leave the network */
	FM_PHASE_REPLAY,	/* parked ones go back and arrive */
	FM_PHASE_RESUME,	/* holds lifted, waiting for all to say so */
};

/** struct fm_rec - the recovery at hand (recovery.c) */
struct fm_rec {
	uint8_t phase;
	bool waiting;		/* for reports of @round */
	bool orphans;
	bool base_was_known;
	uint32_t round;
	uint64_t asked;		/* when the round began, or was repeated last */
	uint64_t round_began;
	uint64_t next;		/* when the next round of counts is due; NEVER */
	uint64_t interval;
	uint64_t phase_began;
	uint64_t still_since;	/* sums have not moved since */
	uint64_t unresolved_since;
	uint64_t lost_before;	/* sum of lost_get at the beginning */
	struct fm_sums sums;	/* of the last complete round */
	uint64_t set;		/* fingerprint of who is in @sums; 0: there was none */
	bool began;		/* @first is known */
	struct fm_sums first;	/* of the first */
	int64_t gone;		/* missing beyond the base, when bounded */
	struct fm_recovery log;
};

#define FM_SUSPECTS 64

/** struct fm_suspect - a node with disputed cables; @seen: at the last look as well */
struct fm_suspect {
	uint64_t guid;
	bool seen;
};

/**
 * struct fm_disputes - cables whose ends say different things (dispute.c)
 * @more: than fit
 * @at: next look; NEVER
 */
struct fm_disputes {
	struct fm_suspect suspect[FM_SUSPECTS];
	unsigned int n;
	bool more;
	uint64_t at;
};

/**
 * struct fm_damp - ports that are held down (damp.c)
 * @held: numbers in the roster of the @n nodes that have some
 * @at: when the next is used again; NEVER
 */
struct fm_damp {
	uint32_t *held;
	uint32_t n, room;
	uint64_t at;
};

/** struct fm_marks - a set of nodes; @is: of each, whether it is in it */
struct fm_marks {
	bool *is;
	uint32_t *node;
	uint32_t n;
};

enum fm_part {
	FM_PART_NONE,
	FM_PART_TAKES,		/* takes part in the version at hand */
	FM_PART_LIVES,		/* lives and does not */
	FM_PARTS,
};

/**
 * struct fm_tally - what changed and who takes part (tally.c)
 * @nodes: of the table; 0: there is none yet
 * @table: whose entry may be another in the next table
 * @odd: whose entry may change by what others do
 * @closed: who may have ports that are closed although the table says healthy
 * @part: who is to be counted anew; @kind, @counted: as what it was, its fingerprint
 * @parts: how many are what (enum fm_part), modulo 2^32; @set: sum of fingerprints
 */
struct fm_tally {
	uint32_t nodes;
	struct fm_marks table, odd, closed, part;
	uint8_t *kind;
	uint64_t *counted;
	uint32_t parts[FM_PARTS];
	uint64_t set;
};

/** struct fm_said - as in fm_hello, of the former root's table (recall.c) */
struct fm_said {
	uint64_t table;
	uint16_t admin;
	uint16_t across;
};

/** struct fm_root - see above */
struct fm_root {
	struct fm_mate *mate;
	uint32_t nmates, room;
	uint32_t unplaced;	/* of them, without a node id */
	uint32_t *missing;	/* numbers of those to be judged; as much room behind @room */
	uint32_t nmissing;
	uint32_t *slot;		/* hash of GUIDs: number in @mate + 1 */
	uint32_t nslots;
	uint32_t *at;		/* node id to number in @mate + 1 */

	uint32_t *by_name;	/* hash of names, as large: number in @mate + 1 */
	uint32_t nnamed;	/* entries in it: a renamed node leaves its old one */
	bool uncounted;		/* somebody hangs below a node that is not known */
	uint32_t witness;	/* number in @mate of who was seen to wait for another */

	bool settled;
	bool restored;		/* the root's NIC was placed already */
	bool alone;		/* said that nobody else has joined */
	uint64_t news;		/* when something about the nodes changed last */
	uint8_t open;
	uint16_t *admin;	/* ports excluded by the administrator */
	struct fm_said *said;	/* of each node, until the first table; NULL: nothing */
	uint64_t version_seen;	/* highest that any node has */
	struct fm_base base_seen;

	bool dirty;		/* a new table is due */
	uint64_t dirty_since;
	uint64_t publish_at;
	char cause[FM_TEXT_MAX];
	uint64_t judge_at;
	uint64_t rejudge_term;
	uint64_t version;
	uint8_t clean;		/* mask of colours that no packet in the network has */
	struct fm_base base;
	struct fm_rec rec;
	struct fm_recovery last;
	struct fm_disputes disputes;
	struct fm_damp damp;
	struct fm_tally tally;
	bool joined;		/* links join all nodes that are up, and none came or went since */
};

/* roster.c */
int fm_root_start(struct fm *fm, const struct torus_device *dev);
void fm_root_free(struct fm *fm);
void fm_root_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
void fm_root_msg(struct fm *fm, const struct fm_msg *msg);
/* It has gone, as it was told to, to its parent, who will tell. */
void fm_root_moves(struct fm *fm, uint64_t guid);
struct fm_mate *fm_mate(const struct fm_root *r, uint64_t guid);
struct fm_mate *fm_mate_add(struct fm_root *r, uint64_t guid);
void fm_mate_via(struct fm_root *r, struct fm_mate *m, uint64_t via);
void fm_mate_missing(struct fm *fm, struct fm_mate *m);
/* Gives @m another node id; who has it in fm_root's @at is the caller's matter. */
void fm_mate_move(struct fm *fm, struct fm_mate *m, uint32_t node);
struct fm_mate *fm_mate_at(const struct fm_root *r, uint32_t node);

/* tally.c */
void fm_mark(struct fm_marks *m, uint32_t node);
/* Takes one out. False: there is none. */
bool fm_unmark(struct fm_marks *m, uint32_t *node);
bool fm_tally_start(struct fm *fm, uint32_t nodes);
void fm_tally_free(struct fm_root *r);
/* Something about @node changed, which may be TORUS_NO_NODE. */
void fm_tally_node(struct fm *fm, uint32_t node);
/* ... who stands there. */
void fm_tally_place(struct fm *fm, uint32_t node);
/* Up to date as to who takes part. */
const struct fm_tally *fm_tally(const struct fm *fm);

/* judge.c */
uint64_t fm_judge_soonest(const struct fm *fm);	/* after news of who is missing, or of links */
void fm_judge_due(struct fm *fm);

/* settle.c: when the table may begin, and who joins it later */
void fm_settle_news(struct fm *fm);
void fm_settle_due(struct fm *fm);
uint64_t fm_settle_expiry(const struct fm *fm);

/* discover.c */
bool fm_discover_shape(struct fm *fm, struct torus_shape *shape);
/* Places all who can be. False: there was too little memory. */
bool fm_discover_place(struct fm *fm, const struct torus_shape *shape);

/* wiring.c: mask of ports of @m that are wrongly cabled; problems are told */
uint16_t fm_wiring_check(struct fm *fm, const struct fm_mate *m);
/* Whether that may become another without its row, or who stands beside it, changing. */
bool fm_wiring_odd(const struct fm *fm, const struct fm_mate *m);

/* dispute.c */
/* Whether the two ends of the cable at port @p differ about it. */
bool fm_disputed(const struct fm *fm, const struct fm_mate *m, unsigned int p);
bool fm_disputed_any(const struct fm *fm, const struct fm_mate *m);
/** fm_end_text() - what to call port @p of @m, as text for people. Return: @buf */
const char *fm_end_text(const struct fm *fm, const struct fm_mate *m, unsigned int p,
			char *buf, size_t room);
/* The row of @m is another. */
void fm_dispute_row(struct fm *fm, const struct fm_mate *m);
void fm_dispute_due(struct fm *fm);
uint64_t fm_dispute_expiry(const struct fm *fm);

/* damp.c */
/*
 * The row of @m becomes @row: losses are counted. Return: whether it says nothing new of
 * ports but those that are held, and that the table has as held already.
 */
bool fm_damp_row(struct fm *fm, struct fm_mate *m, const struct fm_row *row);
bool fm_damp_held(const struct fm_mate *m, unsigned int p);
uint16_t fm_damp_mask(const struct fm *fm, const struct fm_mate *m);
/* Cables at @ports of @node are used again at once. */
void fm_damp_end(struct fm *fm, uint32_t node, uint16_t ports);
void fm_damp_due(struct fm *fm);
uint64_t fm_damp_expiry(const struct fm *fm);
void fm_damp_free(struct fm_root *r);

/* recall.c: what was excluded under the former root */
void fm_recall_hello(struct fm *fm, const struct fm_hello *h);
void fm_recall_end(struct fm *fm, const struct torus_shape *shape);
void fm_recall_free(struct fm_root *r);

/* isolated.c: the table at hand came by @t: who is cut off is told */
void fm_isolated_tell(struct fm *fm, const struct fm_table_msg *t);

/* publish.c */
/* The entry of @node as the next table would have it. False: it has none, nor had. */
bool fm_publish_entry(struct fm *fm, uint32_t node, struct fm_entry *e);
void fm_publish_dirty(struct fm *fm, uint64_t delay, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void fm_publish_due(struct fm *fm);
uint64_t fm_publish_expiry(const struct fm *fm);

/* recovery.c */
void fm_recovery_begin(struct fm *fm);
void fm_recovery_report(struct fm *fm, const struct fm_report *r);
void fm_recovery_recheck(struct fm *fm);
void fm_recovery_set_changed(struct fm *fm);
void fm_recovery_due(struct fm *fm);
uint64_t fm_recovery_expiry(const struct fm *fm);

#endif /* FM_ROOT_H */

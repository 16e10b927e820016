// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the table that is kept
 *
 * A table contains the configuration of the fabric: shape, open dimensions, places, names,
 * exclusions and their orders. Each manager has it in memory; a NIC has rows and a place. If all
 * nodes lose their power, all of this is lost. So whenever a table is in force whose configuration
 * differs from that of the table given before, each candidate gives it to its host, to be kept on
 * disk. (The Angara paper has an exclusion table, and does not describe where it is kept.) A kept
 * table binds no node. A root that has no table uses one before it makes its first (root/recall.c):
 * that of the latest epoch and version among those that nodes name in HELLO, and fetches it. If a
 * node has a table in memory, the root begins with that, and unites kept tables with it that are of
 * another part, or later (root/parts.c). A kept table is later than all in memory if the manager of
 * one node hung while the last tables were made, and the others started again. The number of nodes
 * that is enough for a root is taken from a kept table only if no node has a table in memory
 * (root/quorum.c): other nodes may have been up in the last one.
 *
 * The epoch of a root is later than that of any kept table that it knows of. So of two kept tables
 * the one of the later epoch and version has the later decisions, unless their roots led two parts
 * of the fabric. The line of a table (the last tables of the former roots that it comes from),
 * which is kept with it, shows this: a kept table that is not in the line of the latest one is of
 * another part, and its exclusions stay (root/parts.c).
 *
 * A kept table also bounds the versions that tables have had. This matters if all NICs lose their
 * power but that of a manager which hangs or cannot be reached: it has packets and flows that are
 * numbered by these versions (kernel/core/flow.h), and no other node remembers them. A root must
 * not use them again. So a candidate gives its table to the host also when FM_KEEP_EVERY versions
 * have come since the one given last, and a root that may lack versions begins FM_KEEP_AHEAD above
 * the highest version of a kept table (root/publish.c): FM_KEEP_EVERY for those since that one, and
 * as many again for a slow disk, or for tables that others replaced before they came into force. It
 * is no bound if all disks with a late table are lost or fail, or if all nodes lose their power
 * again before the first table has been kept.
 *
 * No recovery waits for the host: a disk may hang. When the host has the table on its disk, the
 * candidate reports it to the root by KEPT. The root reports to the administrator when most
 * candidates have his change on disk (root/admin.c). A KEPT names a table whose configuration is on
 * the disk. It may name a later table than the one that was written, but only if each table between
 * the two has been in force here, and none of them had another configuration. If the candidate has
 * not seen a table between, that one may have differed, and another candidate may have kept it:
 * then that table would count as later than the content of this disk.
 *
 * If there is no memory to give a table to the host, or if the host does not report its end within
 * AGAIN, the table is given once more. The host itself tries again if its disk fails.
 *
 * A KEPT may be lost with its connection, so it is sent again on the next one, and with
 * keep-alives.
 *
 * Tests: tests/unit/test_fm_keep.c, tests/unit/test_fm_kept.c, tests/sim/test_keep.c.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/status.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/up.h"
#include "lib/deps/invariant.h"

#define AGAIN (40000 * MS)
#define MEMORY 2	/* key of this problem of kind "memory"; root/discover.c uses lower keys */

/**
 * struct fm_keeping - the table that the host has to keep
 * @sum: checksum of the configuration that was last given to the host; 0: none was given
 * @given_term, @given: epoch and version of the table that was given to the host last
 * @disk: enum fm_disk; FM_DISK_UNKNOWN: no table was given, or the host has not reported the result
 * @seen_term, @seen: the last table in force that fm_keep() compared with it
 * @again: when the table is given once more, because it could not be given, or because the host has
 *	not reported the result; NEVER: it is not
 */
struct fm_keeping {
	uint64_t sum;
	uint64_t given_term, given;
	uint8_t disk;
	uint64_t seen_term, seen;
	uint64_t again;
};

bool fm_keep_new(struct fm *fm)
{
	fm->keeping = calloc(1, sizeof(*fm->keeping));
	if (!fm->keeping)
		return false;
	fm->keeping->again = NEVER;
	return true;
}

/* Return: true if a table of that epoch and version is later than the one known to be kept. */
static bool is_later(const struct fm_kept *k, uint64_t term, uint64_t version)
{
	return !k->book || term > k->term || (term == k->term && version > k->version);
}

bool fm_keep_take(struct fm *fm, const struct fm_table_msg *m)
{
	struct fm_kept *k = &fm->kept;
	struct fm_book *b;

	if (m->base || torus_nodes(&m->shape) < 2 || !is_later(k, m->term, m->version))
		return false;
	b = fm_book_new(&m->shape);
	if (!b)
		return false;
	fm_book_change(b, m->entries, m->nentries);
	fm_book_orders(b, m);
	fm_book_jobs(b, m);
	for (uint32_t i = 0; i < b->nodes; i++) {
		b->entry[i].node = i;		/* the message contains no absent nodes */
		b->entry[i].differs = 0;	/* sets of voters are not kept on disk */
	}
	fm_book_put(k->book);
	k->book = b;
	k->term = m->term;
	k->version = m->version;
	k->root = m->maker;
	k->line = m->line;
	k->open = m->open;
	k->plan = m->plan;
	return true;
}

bool fm_keep_whole(const struct fm *fm, struct fm_msg *out)
{
	const struct fm_kept *k = &fm->kept;

	if (!k->book)
		return false;
	memset(out, 0, sizeof(*out));
	out->type = FM_MSG_TABLE;
	out->table.term = k->term;
	out->table.version = k->version;
	out->table.maker = k->root;
	out->table.line = k->line;
	out->table.shape = k->book->shape;
	out->table.open = k->open;
	out->table.plan = k->plan;
	out->table.entries = k->book->entry;
	out->table.nentries = k->book->nodes;
	out->table.orders = k->book->orders.of;
	out->table.norders = k->book->orders.n;
	out->table.anew = true;
	out->table.jobs = k->book->jobs.of;
	out->table.njobs = k->book->jobs.n;
	return true;
}

void fm_keep_fill(const struct fm *fm, struct fm_hello *h)
{
	h->keeps = fm->cfg.keeps;
	if (!fm->kept.book)
		return;
	h->kept_term = fm->kept.term;
	h->kept = fm->kept.version;
	h->kept_root = fm->kept.root;
}

uint32_t fm_kept_place(const struct fm *fm, uint64_t guid)
{
	return fm->kept.book ? fm_book_find(fm->kept.book, guid) : TORUS_NO_NODE;
}

/* Return: a checksum of the configuration in a table; never 0. */
static uint64_t sum_config(const struct fm_table *t)
{
	uint64_t sum = fm_mix(t->open + 1u);

	for (unsigned int d = 0; d < t->shape.ndims; d++)
		sum = fm_mix(sum + t->shape.size[d]);
	for (unsigned int i = 0; i < sizeof(t->plan); i++)
		sum = fm_mix(sum + ((const uint8_t *)&t->plan)[i]);
	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];

		if (fm_table_blank(e))
			continue;
		sum = fm_mix_text(fm_mix(fm_mix(sum + i) + e->guid) + e->admin, e->name);
		if (e->job)
			sum = fm_mix(fm_mix(sum + e->job) + e->number);
	}
	return fm_jobs_sum(&t->book->jobs, fm_orders_sum(&t->book->orders, sum)) | 1;
}

bool fm_keep_news(const struct fm *fm)
{
	const struct fm_keeping *k = fm->keeping;

	return k->seen != fm->table.version || k->seen_term != fm->table.term;
}

void fm_keep_send(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_KEPT };
	const struct fm_keeping *k = fm->keeping;

	if (k->disk == FM_DISK_UNKNOWN)
		return;
	msg.kept.term = k->seen_term;
	msg.kept.version = k->seen;
	msg.kept.guid = fm->guid;
	msg.kept.failed = k->disk == FM_DISK_FAILS;
	fm->up->send(fm, &msg);
}

void fm_keep_ended(struct fm *fm, uint64_t epoch, uint64_t version, bool ok)
{
	struct fm_keeping *k = fm->keeping;

	if (!k->sum || epoch != k->given_term || version != k->given)
		return;
	k->disk = ok ? FM_DISK_HAS : FM_DISK_FAILS;
	k->again = NEVER;
	fm_keep_send(fm);
}

void fm_keep(struct fm *fm)
{
	struct fm_keeping *k = fm->keeping;
	const struct fm_table *t = &fm->table;
	bool next = t->term == k->seen_term && t->version == k->seen + 1;
	struct fm_msg msg;
	uint64_t sum;

	invariant(t->version && fm->placed && t->book);
	k->seen = t->version;
	k->seen_term = t->term;
	if (!fm_candidate_priority(fm_candidate_stated(fm), fm->node)) {
		k->sum = 0;
		k->disk = FM_DISK_UNKNOWN;
		k->again = NEVER;
		fm_problem_clear(fm, "memory", MEMORY);
		return;
	}
	sum = sum_config(t);
	if (next && sum == k->sum && t->version - k->given < FM_KEEP_EVERY) {
		fm_keep_send(fm);
		return;
	}
	k->disk = FM_DISK_UNKNOWN;
	k->sum = 0;
	k->again = fm->cfg.keeps ? fm->now + AGAIN : NEVER;
	if (!fm_table_whole(fm, &msg)) {
		fm_problem_set(fm, "memory", MEMORY,
			       "no memory to keep a table: it is tried again in %u s",
			       (unsigned int)(AGAIN / (1000 * MS)));
		return;
	}
	fm_problem_clear(fm, "memory", MEMORY);
	k->sum = sum;
	k->given = t->version;
	k->given_term = t->term;
	msg.table.maker = t->root_guid;
	fm->ops.keep(fm->io, &msg);
	fm_table_whole_end(fm, &msg);
}

/* Forgets the last table that was compared, so fm_keep() will give the present one again. */
void fm_keep_due(struct fm *fm)
{
	struct fm_keeping *k = fm->keeping;

	if (fm->now < k->again)
		return;
	k->again = NEVER;
	k->sum = 0;
	k->seen = k->seen_term = 0;
}

uint64_t fm_keep_expiry(const struct fm *fm)
{
	return fm->keeping->again;
}

void fm_keep_free(struct fm *fm)
{
	fm_book_put(fm->kept.book);
	free(fm->keeping);
}

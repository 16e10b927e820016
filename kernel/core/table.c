// SPDX-License-Identifier: GPL-2.0-only
/* Routing rows, holds, colours, and the manager's commands to the parking segment. */
#include "nic_impl.h"

_Static_assert(TN_BLOCK == 64, "tn_block.begins has a bit for each row of a block");
_Static_assert(sizeof(struct tn_block) == 16, "a table has a block for every 64 rows");

/* Return: true if the row is valid for the number of dimensions of this NIC. */
static bool row_ok(const struct tn_nic *nic, u64 row)
{
	unsigned int ndirs = 2u * nic->shape.ndims;
	u64 first = row >> TORUS_ROW_FIRST_SHIFT & TORUS_ROW_STEP_MASK;
	u64 last = row >> TORUS_ROW_LAST_SHIFT & TORUS_ROW_STEP_MASK;
	u32 relay = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;

	if (row >> 60)
		return false;
	if (!(row & TORUS_ROW_VALID))
		return true;
	if ((row & TORUS_ROW_RELAY) && (relay >= nic->nodes || relay == nic->node))
		return false;
	return !((row & TORUS_ROW_DIR_MASK) >> ndirs) &&
	       !((row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK) >> ndirs) &&
	       (first < ndirs || first == TORUS_ROW_NO_STEP) &&
	       (last < ndirs || last == TORUS_ROW_NO_STEP);
}

/* Clears HOLD bits that a release has ended in all blocks of rows @first to @first + @n - 1. */
static void clear_holds(const struct tn_nic *nic, u64 *rows, struct tn_block *block, u32 first,
			u32 n)
{
	u32 b, i;

	tn_assert(first <= nic->nodes && n <= nic->nodes - first);
	for (b = first / TN_BLOCK; n && b <= (first + n - 1) / TN_BLOCK; b++) {
		if (block[b].releases == nic->releases)
			continue;
		tn_assert(block[b].releases < nic->releases);
		for (i = b * TN_BLOCK; i < nic->nodes && i / TN_BLOCK == b; i++)
			rows[i] &= ~TORUS_ROW_HOLD;
		block[b].releases = nic->releases;
	}
}

int tn_nic_rows_open(struct tn_nic *nic, u64 version)
{
	if (!nic->placed)
		return -ENODEV;
	nic->shadow_version = version;
	nic->shadow_open = false;
	nic->copying = true;
	nic->copied = 0;
	return 0;
}

int tn_nic_rows_copy(struct tn_nic *nic, u64 version, u32 n)
{
	u32 left, b;

	if (!nic->copying || nic->shadow_version != version)
		return -ESTALE;
	tn_assert(!nic->shadow_open);
	tn_assert(nic->copied <= nic->nodes);
	left = nic->nodes - nic->copied;
	if (n > left)
		n = left;
	clear_holds(nic, nic->rows, nic->block, nic->copied, n);
	clear_holds(nic, nic->shadow, nic->shadow_block, nic->copied, n);
	for (b = nic->copied / TN_BLOCK; n && b <= (nic->copied + n - 1) / TN_BLOCK; b++)
		nic->shadow_block[b].begins = nic->block[b].begins;
	tn_flows_age(&nic->flows, nic->copied, n, nic->version);
	memcpy(nic->shadow + nic->copied, nic->rows + nic->copied, sizeof(u64) * n);
	nic->copied += n;
	if (n < left)
		return 1;
	tn_assert(nic->copied == nic->nodes);
	nic->copying = false;
	nic->shadow_open = true;
	return 0;
}

int tn_nic_rows_begin(struct tn_nic *nic, u64 version)
{
	int err = tn_nic_rows_open(nic, version);

	return err ? err : tn_nic_rows_copy(nic, version, nic->nodes);
}

static u64 row_at(const void *rows, u32 i)
{
	u64 row;

	memcpy(&row, (const u8 *)rows + i * sizeof(row), sizeof(row));
	return row;
}

int tn_nic_rows_put(struct tn_nic *nic, u64 version, u32 first, const void *rows, u32 n)
{
	u32 i;

	if (!nic->placed)
		return -ENODEV;
	if (!nic->shadow_open || nic->shadow_version != version)
		return -ESTALE;
	if (first > nic->nodes || n > nic->nodes - first)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (!row_ok(nic, row_at(rows, i)))
			return -EINVAL;
	}
	clear_holds(nic, nic->shadow, nic->shadow_block, first, n);
	for (i = 0; i < n; i++, first++) {
		u64 row = row_at(rows, i);

		if (row & ~nic->rows[first] & TORUS_ROW_VALID)
			nic->shadow_block[first / TN_BLOCK].begins |= 1ull << first % TN_BLOCK;
		nic->shadow[first] = row;
	}
	return 0;
}

int tn_nic_rows_commit(struct tn_nic *nic, u64 version, u64 now)
{
	struct tn_block *old_block = nic->block;
	u64 *old = nic->rows;
	unsigned int p;

	(void)now;
	if (!nic->placed)
		return -ENODEV;
	if (!nic->shadow_open || nic->shadow_version != version)
		return -ESTALE;
	tn_assert(!nic->copying);
	tn_assert(nic->rows != nic->shadow && nic->block != nic->shadow_block);
	nic->rows = nic->shadow;
	nic->shadow = old;
	nic->block = nic->shadow_block;
	nic->shadow_block = old_block;
	tn_flows_commit(&nic->flows, version);
	nic->version = version;
	nic->colour = (u8)(version % TORUS_COLOURS);
	nic->shadow_open = false;
	nic->flows.licensed = false;
	/*
	 * End a running replay, because it belongs to the former version. Those of its packets that
	 * are in the network are drained like all other packets of their colour. A port that waits
	 * for the replay stays closed to new packets of the flows that are still parked.
	 */
	nic->park.replaying = 0;
	nic->park.through = false;
	nic->cut_short = nic->reopening;
	/* This node cannot know at which relays rows have changed. */
	nic->relays_held = true;
	for (p = 0; p < nic->nports; p++)
		tn_link_ack(&nic->link[p]);
	tn_release_held(nic);
	return 0;
}

bool tn_nic_rows(const struct tn_nic *nic, u32 *n, u64 *version)
{
	if (!nic->placed)
		return false;
	*n = nic->nodes;
	*version = nic->version;
	return true;
}

const u64 *tn_nic_rows_get(struct tn_nic *nic, u32 first, u32 n)
{
	if (!nic->placed || first > nic->nodes || n > nic->nodes - first)
		return NULL;
	clear_holds(nic, nic->rows, nic->block, first, n);
	return nic->rows + first;
}

int tn_nic_hold(struct tn_nic *nic, const u32 *nodes, u32 n)
{
	u32 i;

	if (!nic->placed)
		return -ENODEV;
	for (i = 0; i < n; i++) {
		if (nodes[i] >= nic->nodes)
			return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		clear_holds(nic, nic->rows, nic->block, nodes[i], 1);
		nic->rows[nodes[i]] |= TORUS_ROW_HOLD;
	}
	return 0;
}

/* Gives up gaps in flows until no packet waits, the host is full, or due_left is used up. */
static void give_up_gaps(struct tn_nic *nic, u64 now)
{
	struct tn_flows *f = &nic->flows;
	u64 lost = f->lost;
	u32 before;

	do {
		before = f->waiting;
		tn_flow_close_gaps(f);
		tn_deliver_waiting(nic, now);
	} while (f->waiting && f->waiting < before);
	if (f->lost != lost)
		tn_report(nic, TN_EV_PARK);
}

bool tn_nic_give_up(struct tn_nic *nic, u64 version, u64 now)
{
	if (!nic->placed || version != nic->version)
		return false;
	nic->due_left = TN_DUE_MAX;
	give_up_gaps(nic, now);
	return nic->due_more;
}

int tn_nic_release(struct tn_nic *nic, u64 version, bool give_up, u64 now)
{
	if (!nic->placed)
		return -ENODEV;
	if (version != nic->version)
		return -ESTALE;
	tn_relay_renew(&nic->relay, (u32)version);
	if (give_up) {
		nic->due_left = ~0u;
		give_up_gaps(nic, now);
		tn_flow_license(&nic->flows);
	}
	nic->releases++;
	nic->relays_held = false;
	tn_release_held(nic);
	tn_assert(!nic->held.head);	/* the release ended all holds */
	if (nic->rma)
		tn_rma_released(nic, now);
	return 0;
}

/* --- parking --------------------------------------------------------------- */

void tn_nic_park_info(const struct tn_nic *nic, struct tn_park_info *info)
{
	*info = (struct tn_park_info) {
		.parked = nic->park.q.count,
		.unresolved = nic->park.unresolved,
		.bytes = nic->park.bytes,
		.bytes_max = nic->park.bytes_max,
		.held = nic->held.count + nic->relay.wait.count,
	};
}

u32 tn_nic_park_flows(const struct tn_nic *nic, struct tn_park_flow *out, u32 max, u64 *more)
{
	return tn_park_flows(&nic->park, out, max, more);
}

/** struct settling - context of stays_parked(); @dead: the peer will never acknowledge anything */
struct settling {
	struct tn_nic *nic;
	bool dead;
};

/*
 * Called for each packet of the failed link's RETRY buffer that the peer has not acknowledged.
 * Return: true if it stays parked; false if it is routed again.
 */
static bool stays_parked(void *ctx, struct tn_pkt *pkt)
{
	const struct settling *s = ctx;

	if (s->dead && (pkt->tail.flags & TN_TAIL_ADAPTIVE))
		s->nic->counter[TORUS_NC_UNSURE]++;
	if (tn_may_reroute(pkt)) {
		tn_reroute(s->nic, pkt);
		return false;
	}
	tn_parked(s->nic, pkt);
	return true;
}

int tn_nic_park_resolve(struct tn_nic *nic, unsigned int port, u32 session, u16 seq,
			bool dead)
{
	struct settling s = { nic, dead };
	struct tn_queue gone = { 0 };
	bool some = nic->park.q.head;

	if (port >= nic->nports)
		return -EINVAL;
	tn_park_resolve(&nic->park, session, seq, dead, &gone, stays_parked, &s);
	tn_gone(nic, &gone);
	if (some && !nic->park.q.head)
		tn_report(nic, TN_EV_PARK);
	return 0;
}

int tn_nic_park_replay(struct tn_nic *nic, u64 version, u32 ports, u64 now)
{
	(void)now;
	if (!nic->placed)
		return -ENODEV;
	if (version != nic->version)
		return -ESTALE;
	if (nic->park.unresolved)
		return -EBUSY;
	tn_relay_renew(&nic->relay, (u32)version);
	tn_assert(!nic->relay.out || nic->relay.used);
	nic->reopening |= (u16)(ports & ((1u << nic->nports) - 1));
	nic->cut_short = false;
	tn_park_replay(&nic->park);
	tn_assert(!(nic->reopening >> nic->nports));
	tn_reopen(nic);
	return 0;
}

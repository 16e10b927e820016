// SPDX-License-Identifier: GPL-2.0-only
/* Routing rows, holds, colours, and the manager's commands to the parking segment. */
#include "nic_impl.h"

/* A row this NIC can obey. */
static bool row_ok(const struct tn_nic *nic, u64 row)
{
	unsigned int ndirs = 2u * nic->shape.ndims;
	u64 first = row >> TORUS_ROW_FIRST_SHIFT & TORUS_ROW_STEP_MASK;
	u64 last = row >> TORUS_ROW_LAST_SHIFT & TORUS_ROW_STEP_MASK;

	if (row >> 60 || (row & TORUS_ROW_RELAY))
		return false;
	if (!(row & TORUS_ROW_VALID))
		return true;
	return !((row & TORUS_ROW_DIR_MASK) >> ndirs) &&
	       !((row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK) >> ndirs) &&
	       (first < ndirs || first == TORUS_ROW_NO_STEP) &&
	       (last < ndirs || last == TORUS_ROW_NO_STEP);
}

int tn_nic_rows_open(struct tn_nic *nic, u64 version)
{
	if (!nic->placed)
		return -ENODEV;
	nic->shadow_version = version;
	nic->shadow_open = false;
	nic->copying = true;
	nic->copied = 0;
	nic->new_row = false;
	return 0;
}

int tn_nic_rows_copy(struct tn_nic *nic, u64 version, u32 n)
{
	u32 left;

	if (!nic->copying || nic->shadow_version != version)
		return -ESTALE;
	left = nic->nodes - nic->copied;
	if (n > left)
		n = left;
	memcpy(nic->shadow + nic->copied, nic->rows + nic->copied, sizeof(u64) * n);
	nic->copied += n;
	if (n < left)
		return 1;
	nic->copying = false;
	nic->shadow_open = true;
	return 0;
}

int tn_nic_rows_begin(struct tn_nic *nic, u64 version)
{
	int err = tn_nic_rows_open(nic, version);

	return err ? err : tn_nic_rows_copy(nic, version, nic->nodes);
}

int tn_nic_rows_put(struct tn_nic *nic, u64 version, u32 first, const u64 *rows, u32 n)
{
	u32 i;

	if (!nic->placed)
		return -ENODEV;
	if (!nic->shadow_open || nic->shadow_version != version)
		return -ESTALE;
	if (first > nic->nodes || n > nic->nodes - first)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (!row_ok(nic, rows[i]))
			return -EINVAL;
	}
	for (i = 0; i < n; i++) {
		if (rows[i] & ~nic->shadow[first + i] & TORUS_ROW_VALID)
			nic->new_row = true;
		if (rows[i] & TORUS_ROW_HOLD)
			nic->holds = true;
		nic->shadow[first + i] = rows[i];
	}
	return 0;
}

int tn_nic_rows_commit(struct tn_nic *nic, u64 version, u64 now)
{
	u64 *old = nic->rows;
	u32 i;

	(void)now;
	if (!nic->placed)
		return -ENODEV;
	if (!nic->shadow_open || nic->shadow_version != version)
		return -ESTALE;
	nic->rows = nic->shadow;
	nic->shadow = old;
	tn_flows_age(&nic->flows, nic->version, version);
	nic->version = version;
	nic->colour = (u8)(version % TORUS_COLOURS);
	nic->shadow_open = false;
	nic->flows.licensed = false;
	nic->park.through = false;
	for (i = 0; nic->new_row && i < nic->nodes; i++) {
		if (nic->rows[i] & ~old[i] & TORUS_ROW_VALID)
			tn_flow_begin(&nic->flows, i, version);
	}
	tn_release_held(nic);
	return 0;
}

const u64 *tn_nic_rows(const struct tn_nic *nic, u32 *n, u64 *version)
{
	if (!nic->placed)
		return NULL;
	*n = nic->nodes;
	*version = nic->version;
	return nic->rows;
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
	for (i = 0; i < n; i++)
		nic->rows[nodes[i]] |= TORUS_ROW_HOLD;
	if (n)
		nic->holds = true;
	return 0;
}

int tn_nic_release(struct tn_nic *nic, u64 version, bool give_up, u64 now)
{
	struct tn_flows *f = &nic->flows;
	u64 lost = f->lost;
	u32 i;

	if (!nic->placed)
		return -ENODEV;
	if (version != nic->version)
		return -ESTALE;
	if (give_up) {
		u32 before;

		do {
			before = f->wait.count;
			tn_flow_close_gaps(f);
			tn_deliver_waiting(nic, now);
		} while (f->wait.head && f->wait.count < before);
		tn_flow_license(f);
		if (f->lost != lost)
			tn_tell(nic, TN_EV_PARK);
	}
	if (nic->holds) {
		for (i = 0; i < nic->nodes; i++) {
			nic->rows[i] &= ~TORUS_ROW_HOLD;
			nic->shadow[i] &= ~TORUS_ROW_HOLD;
		}
		nic->holds = false;
	}
	tn_release_held(nic);
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
		.held = nic->held.count,
	};
}

static void kept(void *ctx, struct tn_pkt *pkt)
{
	tn_parked(ctx, pkt);
}

int tn_nic_park_resolve(struct tn_nic *nic, unsigned int port, u32 session, u16 seq,
			bool dead)
{
	struct tn_queue gone = { 0 };
	struct tn_pkt *pkt;

	if (port >= nic->nports)
		return -EINVAL;
	tn_park_resolve(&nic->park, session, seq, dead, &gone, kept, nic);
	while ((pkt = tn_queue_pop(&gone)))
		nic->ops->pkt_put(nic->host, pkt);
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
	nic->reopening |= (u16)(ports & ((1u << nic->nports) - 1));
	nic->park.replaying = nic->park.q.count;
	nic->park.through = true;
	tn_reopen(nic);
	return 0;
}

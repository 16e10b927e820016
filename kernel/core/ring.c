// SPDX-License-Identifier: GPL-2.0-only
/* Critical bubbles of a NIC's outputs; see ring.h. */
#include "ring.h"

#define TICK_SHIFT	10	/* a tick is 2^10 ns */

/* Return: the timer T: a sixteenth of the time for which the peer may delay a credit. */
static u64 credit_timeout(const struct tn_nic *nic)
{
	return nic->params.ack_delay / 16 + 1;
}

static u32 to_ticks(u64 ns)
{
	u32 t = (u32)(ns >> TICK_SHIFT);

	return t ? t : 1;
}

static struct tn_bubble bubble_of(const struct tn_link *out, unsigned int vc)
{
	return (struct tn_bubble) {
		.since = out->stuck[vc],
		.free = (u16)tn_credit_free(&out->credit, vc),
		.critical = out->credit.critical[vc],
	};
}

/*
 * Return: for an output @port, the link by which packets of the same ring arrive; for an input
 * @port, the link by which they leave. NULL: no ring uses @port.
 */
static struct tn_link *entering_link(struct tn_nic *nic, unsigned int port)
{
	if (!nic->placed || port >= 2u * nic->shape.ndims)
		return NULL;
	return &nic->link[tn_dir_opposite(&nic->shape, port)];
}

bool tn_ring_take(struct tn_link *out, unsigned int vc)
{
	struct tn_bubble b = bubble_of(out, vc);
	bool took = tn_bubble_take(&b);

	/* b.free is not copied back: tn_link_push() counts the packet */
	out->credit.critical[vc] = (u8)b.critical;
	return took;
}

bool tn_ring_leave(struct tn_nic *nic, unsigned int port, unsigned int vc, bool took)
{
	struct tn_link *out = entering_link(nic, port);
	struct tn_bubble b;

	if (took || !out)
		return took;
	b = bubble_of(out, vc);
	if (!tn_bubble_move(out->credit.policy, &b))
		return false;
	out->credit.critical[vc] = (u8)b.critical;
	return true;
}

static void set_look(struct tn_nic *nic, u64 now)
{
	u64 at = now + credit_timeout(nic);

	if (at < nic->ring_at)
		nic->ring_at = at;
}

void tn_ring_wait(struct tn_nic *nic, struct tn_link *out, unsigned int vc, u64 now)
{
	struct tn_bubble b;

	if (vc == TORUS_VC_A)		/* a packet on VCA waits for its escape channel */
		vc = TORUS_VC_D0;
	b = bubble_of(out, vc);
	if (tn_bubble_watch(out->credit.policy, &b, to_ticks(now)))
		set_look(nic, now);
	out->stuck[vc] = b.since;
}

/*
 * Return: true if this node is the first of a line: the link @in, by which packets of the ring
 * would arrive, is not up, and the sender at its other end cannot have begun a session that would
 * close the ring, because it does so only when it reads its own nonce in our INIT.
 */
static bool is_end(const struct tn_link *in)
{
	return in->state != TORUS_LINK_UP && in->state != TORUS_LINK_RETRAINING &&
	       (!in->admin || !in->carrier || !in->peer_nonce);
}

/*
 * Called when a bubble at @out has blocked packets of @vc for the time T: asks the upstream node
 * for a false packet. The first node of a line has no upstream node, so it drops the bubble.
 */
static void ask_upstream(struct tn_nic *nic, struct tn_link *out, unsigned int vc)
{
	struct tn_link *in = entering_link(nic, out->port);

	if (!in)
		return;
	if (is_end(in)) {
		out->credit.critical[vc] = 0;
		out->stuck[vc] = 0;
	} else if (in->state == TORUS_LINK_UP) {
		in->asks |= (u8)(1u << vc);
		out->counter[TORUS_PC_BUBBLE_REQUESTS]++;
	}
}

void tn_ring_poll(struct tn_nic *nic, u64 now)
{
	unsigned int p, vc;

	nic->ring_at = ~0ull;
	for (p = 0; p < nic->nports; p++) {
		struct tn_link *out = &nic->link[p];

		for (vc = 0; vc < TORUS_VC_A; vc++) {
			struct tn_bubble b = bubble_of(out, vc);

			if (!b.since)
				continue;
			tn_bubble_watch(out->credit.policy, &b, to_ticks(now));
			if (tn_bubble_due(&b, to_ticks(now),
					  (u32)(credit_timeout(nic) >> TICK_SHIFT)))
				ask_upstream(nic, out, vc);
			out->stuck[vc] = out->stuck[vc] ? b.since : 0;
			if (out->stuck[vc])
				set_look(nic, now);
		}
	}
}

void tn_ring_respond(struct tn_nic *nic, struct tn_link *out, unsigned int vc, u64 now)
{
	const struct tn_link *in = entering_link(nic, out->port);
	struct tn_bubble b = bubble_of(out, vc);
	bool handed;

	if (!in)
		return;
	handed = tn_bubble_hand(out->credit.policy, &b,
				!nic->at.c[tn_dir_dim(&nic->shape, out->port)]);
	if (!handed && !tn_bubble_respond(out->credit.policy, &b, !out->waiting[vc])) {
		/* this output is blocked by a bubble, too, which must move first */
		tn_ring_wait(nic, out, vc, now);
		return;
	}
	if (!tn_link_false(out, vc, handed, now))
		return;
	out->credit.critical[vc] = (u8)b.critical;
	out->counter[TORUS_PC_BUBBLE_RESPONSES]++;
}

void tn_ring_false_came(struct tn_nic *nic, struct tn_link *in, unsigned int vc, bool handed,
			u64 now)
{
	const struct tn_link *out = entering_link(nic, in->port);
	bool meets = handed && out && out->credit.critical[vc];

	tn_link_freed(in, vc, !meets && tn_ring_leave(nic, in->port, vc, handed), now);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path of a packet that starts at this node: its header, and the injection queue that it waits
 * in.
 *
 * Order. Packets of one flow that have one row have one header and one queue: both depend only on
 * the row, the destination, the VC and the NIC's place, so the caches (tn_way, tn_entry) change no
 * result (each_packet_follows_its_own_header() of tests/unit/test_path.c).
 */
#include "router.h"

/*
 * Return: the header fields that a valid @row gives to a packet to @dst. If the row has a relay,
 * they lead to the relay; if @adaptive and the row allows it, they have all allowed directions.
 */
static struct tn_path path_of_row(u32 dst, u64 row, bool adaptive)
{
	struct tn_path path = tn_path_of_row(dst, row);

	if (row & TORUS_ROW_RELAY)
		path.dst = (u32)(row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK);
	if (adaptive && (row & TORUS_ROW_ADAPTIVE)) {
		path.dir = (u16)(row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK);
		path.first = TN_NO_STEP;
		path.last = TN_NO_STEP;
	}
	return path;
}

void tn_stamp(struct tn_nic *nic, struct tn_pkt *pkt, u64 row)
{
	struct tn_hdr *h = &pkt->hdr;
	bool adaptive = pkt->tail.flags & TN_TAIL_ADAPTIVE;
	struct tn_path path;

	tn_assert(row & TORUS_ROW_VALID);
	tn_assert(nic->colour < TORUS_COLOURS);
	if ((row & TORUS_ROW_RELAY) && !h->relayed)
		tn_relay_wrap(pkt);
	path = path_of_row(h->relayed ? pkt->via.dst : h->dst, row, adaptive);
	h->dst = path.dst;
	h->dir = path.dir;
	h->first = path.first;
	h->last = path.last;
	h->colour = nic->colour;
	/*
	 * if the row does not allow adaptive paths, the packet is on the escape channel from the
	 * start
	 */
	if (adaptive)
		h->vc = row & TORUS_ROW_ADAPTIVE ? TORUS_VC_A : TORUS_VC_D0;
}

u8 tn_last_after(const struct tn_nic *nic, struct tn_path path, unsigned int out)
{
	tn_route_leave(&nic->shape, &nic->at, &path, out);
	return path.last;
}

void tn_find_way(struct tn_nic *nic, struct tn_path path, struct tn_way *w)
{
	*w = (struct tn_way) {
		.known = true,
		.path = path,
		.out = tn_route_next(&nic->shape, &nic->at, &path),
	};
	if (w->out < nic->nports)
		w->last = tn_last_after(nic, path, w->out);
}

/*
 * Return: the injection queue for a header @path: that of the port by which it leaves. A packet
 * whose path leads nowhere goes through the queue of port 0, and is sent back from there.
 */
static unsigned int inject_input(struct tn_nic *nic, struct tn_path path, unsigned int vc)
{
	unsigned int out = tn_way_of(nic, path)->out;

	tn_assert(vc < TORUS_VCS);
	return TN_INPUT_INJECT + (out < nic->nports ? out : 0) * TORUS_VCS + vc;
}

unsigned int tn_inject_input(struct tn_nic *nic, u32 dst, u64 row, unsigned int vc)
{
	struct tn_entry *e = &nic->entry[dst % TN_WAYS];
	struct tn_path path;

	tn_assert(row & TORUS_ROW_VALID);
	if (e->row == row && e->dst == dst && e->vc == vc)
		return e->input;
	path = path_of_row(dst, row, vc == TORUS_VC_A);
	*e = (struct tn_entry) {
		.row = row,
		.dst = dst,
		.vc = (u8)vc,
		.input = (u8)inject_input(nic, path, vc),
	};
	return e->input;
}

/* Puts @pkt, whose header is complete, into its injection queue. */
static void inject_anew(struct tn_nic *nic, struct tn_pkt *pkt)
{
	unsigned int vc = pkt->tail.flags & TN_TAIL_ADAPTIVE ? TORUS_VC_A : pkt->hdr.vc;
	struct tn_path path = {
		.dst = pkt->hdr.dst,
		.dir = pkt->hdr.dir,
		.first = pkt->hdr.first,
		.last = pkt->hdr.last,
	};

	tn_assert(pkt->in_port == TN_PORT_HOST);
	tn_input_push(nic, inject_input(nic, path, vc), pkt);
}

/*
 * Routes @pkt again. It waits in the injection queue like a packet of this host and occupies no
 * input buffer, so nothing in the network waits for it. It does not belong to a replay any more: it
 * can be parked only if the segment has room, and a replay that is running then includes it. The
 * counts by which the manager detects a drain do not include it (tn_counts()).
 */
void tn_reroute(struct tn_nic *nic, struct tn_pkt *pkt)
{
	tn_assert(tn_may_reroute(pkt));
	pkt->tail.flags &= (u8)(0xff ^ TN_TAIL_REPLAYED);
	nic->counter[TORUS_NC_REROUTED]++;
	inject_anew(nic, pkt);
}

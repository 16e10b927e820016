// SPDX-License-Identifier: GPL-2.0-only
/* What is left of messages beside kernel/host: their memory, and the tun device. */
#include "msg.h"

#include <assert.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <torus/topology.h>

#include "emu.h"

#define DSCP_CS1	8	/* lower effort: may arrive in any order */
#define DSCP_CS4	32	/* replies */

static void *op_alloc(void *shell, size_t bytes)
{
	(void)shell;
	return calloc(1, bytes);
}

static void op_free(void *shell, void *mem)
{
	(void)shell;
	free(mem);
}

static void op_pkt_put(void *shell, struct tn_pkt *pkt)
{
	pkt_free(((struct emu *)shell)->pool, pkt);
}

static const struct torus_host_ops host_ops = {
	.alloc = op_alloc,
	.free = op_free,
	.pkt_put = op_pkt_put,
};

void msg_init(struct emu *e)
{
	static_assert(TUN_HDR == TORUS_HOST_HDR, "virtio_net_hdr");
	e->host.ops = &host_ops;
	e->host.shell = e;
	e->host.nic = e->nic;
}

/* --- from the host -------------------------------------------------------- */

static unsigned int vc_of_dscp(unsigned int dscp)
{
	if (dscp == DSCP_CS4)
		return TORUS_VC_D1;
	return dscp == DSCP_CS1 ? TORUS_VC_A : TORUS_VC_D0;
}

/* Where a message goes: a node and a VC; TORUS_NO_NODE if not into the fabric. */
static u32 classify(const struct emu *e, const u8 *msg, size_t len, unsigned int *vc)
{
	const u8 *ip = msg + TUN_HDR;
	size_t n = len < TUN_HDR ? 0 : len - TUN_HDR;
	struct in6_addr a6;
	struct in_addr a4;

	if (n >= sizeof(struct iphdr) && ip[0] >> 4 == 4) {
		memcpy(&a4, ip + offsetof(struct iphdr, daddr), sizeof(a4));
		*vc = vc_of_dscp(ip[1] >> 2);
		return torus_node_of_addr4(&e->shape, a4);
	}
	if (n >= sizeof(struct ip6_hdr) && ip[0] >> 4 == 6) {
		memcpy(&a6, ip + offsetof(struct ip6_hdr, ip6_dst), sizeof(a6));
		*vc = vc_of_dscp((ip[0] & 0xfu) << 2 | ip[1] >> 6);
		return torus_node_of_addr6(&e->shape, &a6);
	}
	return TORUS_NO_NODE;
}

static void drop(struct emu *e, struct tn_queue *q)
{
	struct tn_pkt *p;

	while ((p = tn_queue_pop(q)))
		pkt_free(e->pool, p);
	tn_nic_counters(e->nic)[TORUS_NC_HOST_DROPS]++;
}

/* What the NIC takes is the NIC's; the rest waits, or is dropped for good. */
static void send_out(struct emu *e, u64 now)
{
	struct tn_queue *q = &e->msg.out;

	while (q->head) {
		struct tn_pkt *p = q->head;
		struct tn_pkt *next = p->next;
		int err = tn_nic_send(e->nic, p, e->msg.out_dst, e->msg.out_vc, now);

		if (err == -EAGAIN)
			return;
		if (err) {
			if (err == -EHOSTUNREACH && p->tail.flags & TN_TAIL_FIRST)
				icmp_unreachable(e, p->payload, tn_pkt_bytes(p));
			drop(e, q);
			return;
		}
		q->head = next;
		if (!next)
			q->tail = NULL;
		q->count--;
	}
}

static struct tn_pkt *make_packet(struct emu *e, struct frame *f, u8 *payload, size_t bytes)
{
	struct tn_pkt *p;
	size_t pad = -bytes % TN_FLIT;

	f->refs++;
	p = pkt_new(e->pool, f, payload);
	if (!p) {
		f->refs--;
		return NULL;
	}
	memset(payload + bytes, 0, pad);
	p->hdr.len = (u16)((bytes + pad) / TN_FLIT);
	p->tail.flags = (u8)pad;
	return p;
}

static bool cut(struct emu *e, struct frame *f, size_t len)
{
	size_t most = e->params.payload_max / TN_FLIT * TN_FLIT;
	struct tn_queue *q = &e->msg.out;
	struct tn_pkt *p;

	for (size_t at = 0; at < len; at += most) {
		size_t bytes = len - at < most ? len - at : most;

		p = make_packet(e, f, f->data + at, bytes);
		if (!p)
			return false;
		if (!at)
			p->tail.flags |= TN_TAIL_FIRST;
		if (at + bytes == len)
			p->tail.flags |= TN_TAIL_LAST;
		tn_queue_push(q, p);
	}
	return true;
}

void msg_send(struct emu *e, struct frame *f, size_t len, u64 now)
{
	u64 *counter = tn_nic_counters(e->nic);
	struct frame *small = NULL;
	unsigned int vc = TORUS_VC_D0;
	u32 dst = TORUS_NO_NODE;

	counter[TORUS_NC_HOST_MESSAGES_TX]++;
	counter[TORUS_NC_HOST_BYTES_TX] += len < TUN_HDR ? 0 : len - TUN_HDR;
	if (e->is_placed)
		dst = classify(e, f->data, len, &vc);
	if (dst == TORUS_NO_NODE) {
		counter[TORUS_NC_HOST_DROPS]++;
		return;
	}
	if (len < EMU_COPY_BREAK)
		small = frame_new(e->pool, len + TN_FLIT);
	if (small) {
		memcpy(small->data, f->data, len);
		f = small;
	}
	e->msg.out_dst = dst;
	e->msg.out_vc = (u8)(vc == TORUS_VC_A && len > e->params.payload_max / TN_FLIT * TN_FLIT ? TORUS_VC_D0 : vc);
	if (cut(e, f, len))
		send_out(e, now);
	else
		drop(e, &e->msg.out);
	if (small)
		frame_put(e->pool, small);
}

bool msg_room(const struct emu *e)
{
	if (e->msg.out.head)
		return false;
	if (!e->is_placed)
		return true;
	return tn_nic_room(e->nic, TORUS_VC_D0) && tn_nic_room(e->nic, TORUS_VC_D1) &&
	       tn_nic_room(e->nic, TORUS_VC_A);
}

void msg_resume(struct emu *e, u64 now)
{
	if (e->msg.out.head)
		send_out(e, now);
}

/* --- from the fabric ------------------------------------------------------ */

/* @bytes in several packets, which are ours. */
static void deliver_long(struct emu *e, struct tn_queue *packets, u32 bytes)
{
	struct iovec iov[TORUS_HOST_PACKETS_MAX];
	struct tn_pkt *p;
	int n = 0;

	for (p = packets->head; p; p = p->next)
		iov[n++] = (struct iovec) { p->payload, tn_pkt_bytes(p) };
	tun_write(e, iov, n, bytes);
	while ((p = tn_queue_pop(packets)))
		pkt_free(e->pool, p);
}

void msg_deliver(struct emu *e, struct tn_pkt *p)
{
	struct tn_queue packets;
	u32 bytes;

	if (p->hdr.type == TN_UNREACH) {
		if (p->tail.flags & TN_TAIL_FIRST)
			icmp_unreachable(e, p->payload, tn_pkt_bytes(p));
		pkt_free(e->pool, p);
		return;
	}
	bytes = torus_host_take(&e->host, p, &packets);
	if (packets.count > 1)
		deliver_long(e, &packets, bytes);
	else if (bytes)
		tun_deliver(e, p);
}

void msg_flush(struct emu *e)
{
	if (e->msg.out.head)
		drop(e, &e->msg.out);
	torus_host_flush(&e->host);
}

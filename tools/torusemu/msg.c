// SPDX-License-Identifier: GPL-2.0-only
#include "msg.h"

#include <assert.h>
#include <stdlib.h>

#include "emu.h"

static_assert(TUN_HDR == TORUS_HOST_HDR, "virtio_net_hdr");

void msg_lost(void *emu, const u8 *ip, u32 len)
{
	u8 out[TUN_HDR + TORUS_HOST_ANSWER_MAX] = { 0 };
	struct emu *e = emu;
	struct iovec iov = { out, TUN_HDR };
	u32 bytes = torus_host_answer(&e->soft.host, ip, len, loop_now());

	if (!bytes)
		return;
	torus_host_answer_write(ip, bytes, out + TUN_HDR);
	iov.iov_len += bytes;
	tun_write(e, &iov, 1, iov.iov_len);
}

/**
 * struct waiting - a message of the host that waits until the NIC has room; it is @len bytes of
 * @frame
 */
struct waiting {
	struct torus_host_msg msg;
	struct frame *frame;
	u32 len;
};

static bool cut_message(struct emu *e, struct frame *f, u32 len)
{
	u32 most = e->soft.host.payload_max;
	struct tn_pkt *p;

	for (u32 at = 0; at < len; at += most) {
		f->refs++;
		p = pkt_new(e->pool, f, f->data + at);
		if (!p) {
			f->refs--;
			return false;
		}
		torus_host_packet(&e->soft.host.out, p, at, len - at < most ? len - at : most, len);
	}
	return true;
}

static void send_message(struct emu *e, struct frame *f, u32 len,
			 const struct torus_host_msg *msg, u64 now)
{
	if (cut_message(e, f, len))
		torus_host_send(&e->soft.host, msg, now);
	else
		torus_host_drop(&e->soft.host, &e->soft.host.out);
}

/*
 * Keeps a message until the NIC has room; the caller has already copied it to a smaller frame @f,
 * if that saves memory.
 */
static void keep_message(struct emu *e, struct frame *f, u32 len,
			 const struct torus_host_msg *msg, u64 now)
{
	struct waiting *w = malloc(sizeof(*w));

	if (!w) {
		torus_host_drop(&e->soft.host, &e->soft.host.out);
		return;
	}
	*w = (struct waiting) { .msg = *msg, .frame = f, .len = len };
	w->msg.bytes = frame_held(f) + (u32)sizeof(*w);
	f->refs++;
	torus_host_wait(&e->soft.host, &w->msg, now);
}

void msg_send(struct emu *e, struct frame *f, size_t len, u64 now)
{
	struct torus_host_msg msg = { 0 };
	struct frame *small = NULL;

	if (!torus_host_begin(&e->soft.host, &msg, f->data + TUN_HDR,
			      len < TUN_HDR ? 0 : len - TUN_HDR, (u32)len))
		return;
	if (len < EMU_COPY_BREAK)
		small = frame_new(e->pool, len + TN_FLIT);
	if (small) {
		memcpy(small->data, f->data, len);
		f = small;
	}
	if (torus_host_clear(&e->soft.host, &msg))
		send_message(e, f, (u32)len, &msg, now);
	else
		keep_message(e, f, (u32)len, &msg, now);
	if (small)
		frame_put(e->pool, small);
}

bool msg_next(struct emu *e, u64 now)
{
	struct torus_host_msg *msg = torus_host_next(&e->soft.host, now);
	struct waiting *w = msg ? container_of(msg, struct waiting, msg) : NULL;

	if (!w)
		return false;
	send_message(e, w->frame, w->len, msg, now);
	frame_put(e->pool, w->frame);
	free(w);
	return true;
}

void msg_forget(void *emu, struct torus_host_msg *msg)
{
	struct waiting *w = container_of(msg, struct waiting, msg);

	frame_put(((struct emu *)emu)->pool, w->frame);
	free(w);
}

/* Delivers to the host a message of @bytes that came in several packets, and frees the packets. */
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
	u32 bytes = torus_host_take(&e->soft.host, p, &packets);

	if (packets.count > 1)
		deliver_long(e, &packets, bytes);
	else if (bytes)
		tun_deliver(e, p);
}

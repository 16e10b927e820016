// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host side of a NIC (kernel/host): any packets from the fabric, any messages of the host.
 *
 * Input: records of KIND (1 byte), LENGTH (1, of what follows), bytes.
 *   0 a data packet: SRC (1, modulo 4), VC (1, modulo 3), FLAGS (1, of the tail), ESEQ (1: how far
 *     behind the last one of its flow, plus 1), EPOCH (1, modulo 2), FLITS (1), payload; the rest
 *     of its flits is 0
 *   1 a packet that could not arrive: FLAGS (1), payload
 *   2 a message of the host: EACH (1: flits of a packet, less 1), TAKES (1: packets until the NIC
 *     is full, modulo 8), message
 *   3 the NIC has room again, and 3 ms are over
 *
 * The fate of data packets is compared with a model: the packets of each flow that are waiting.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "kernel/host/host.h"

#define SRCS	4
#define FLOWS	(SRCS * TORUS_VCS)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct torus_shape shape = { .ndims = 2, .size = { 3, 2, 1, 1, 1, 1 } };
static struct torus_host host;
static u64 counter[TORUS_NC_COUNT];
static unsigned int packets, takes;
static u64 now;

/** struct flow - what should wait of a message: @count packets, @bytes */
static struct flow {
	u32 count, bytes, last;
	u16 epoch;
	u32 first;	/* bytes of the first packet */
} flows[FLOWS];
static u64 drops;

static void must(bool yes)
{
	if (!yes)
		abort();
}

/* --- the shell and the NIC --------------------------------------------------------------- */

static void op_pkt_put(void *shell, struct tn_pkt *pkt)
{
	(void)shell;
	packets--;
	free(pkt->payload);
	free(pkt);
}

static void lost(void *shell, const u8 *ip, u32 len)
{
	u32 bytes = torus_host_answer(&host, ip, len, now += 1000000);
	u8 *out;

	(void)shell;
	must(bytes <= TORUS_HOST_ANSWER_MAX);
	if (!bytes)
		return;
	out = malloc(bytes);
	torus_host_answer_write(ip, bytes, out);
	must(out[0] >> 4 == ip[0] >> 4);
	free(out);
}

u64 *tn_nic_counters(struct tn_nic *nic)
{
	(void)nic;
	return counter;
}

static u64 count_drops(void)
{
	return counter[TORUS_NC_HOST_TX_DROPS] + counter[TORUS_NC_HOST_RX_DROPS];
}

unsigned int tn_nic_room(struct tn_nic *nic, u32 dst, unsigned int vc)
{
	(void)nic;
	must(dst < 6 && vc < TORUS_VCS);
	return takes;
}

int tn_nic_send_message(struct tn_nic *nic, struct tn_queue *msg, u32 dst, unsigned int vc, u64 at)
{
	(void)nic;
	(void)at;
	must(dst < 6 && vc < TORUS_VCS);
	for (; msg->head; takes--) {
		if (!takes)
			return dst == 5 ? -EHOSTUNREACH : -EAGAIN;
		op_pkt_put(NULL, tn_queue_pop(msg));
	}
	return 0;
}

static struct tn_pkt *new_packet(u32 bytes)
{
	struct tn_pkt *pkt = calloc(1, sizeof(*pkt));

	pkt->payload = calloc(1, (bytes + TN_FLIT - 1) / TN_FLIT * TN_FLIT + !bytes);
	pkt->hdr.len = (u16)((bytes + TN_FLIT - 1) / TN_FLIT);
	packets++;
	return pkt;
}

static struct tn_pkt *op_pkt_new(void *shell, unsigned int nflits)
{
	(void)shell;
	return new_packet(nflits * TN_FLIT);
}

static u32 op_random(void *shell)
{
	(void)shell;
	return 1;
}

static const struct tn_ops ops = {
	.pkt_new = op_pkt_new, .pkt_put = op_pkt_put, .random = op_random,
};

/* --- records ------------------------------------------------------------------------------- */

/*
 * Computes by the model what becomes of a packet. Return: bytes of the message that it completes.
 */
static u32 expect(struct flow *f, const struct tn_pkt *pkt)
{
	bool first = pkt->tail.flags & TN_TAIL_FIRST, last = pkt->tail.flags & TN_TAIL_LAST;
	u32 bytes = tn_pkt_bytes(pkt), all;

	if (pkt->tail.flags & TN_TAIL_ADAPTIVE) {
		all = first && last && bytes > TORUS_HOST_HDR ? bytes : 0;
		drops += !all;
		return all;
	}
	if (f->count && (first || pkt->tail.eseq != f->last + 1 || pkt->tail.epoch != f->epoch ||
			 f->count == TORUS_HOST_PACKETS_MAX)) {
		f->count = f->bytes = 0;
		drops++;
	}
	if (!f->count && !first) {
		drops++;
		return 0;
	}
	if (!f->count)
		f->first = bytes;
	f->count++;
	f->bytes += bytes;
	f->last = pkt->tail.eseq;
	f->epoch = pkt->tail.epoch;
	if (!last) {
		if (f->bytes > TORUS_HOST_MSG_MAX) {
			f->count = f->bytes = 0;
			drops++;
		}
		return 0;
	}
	all = f->first > TORUS_HOST_HDR && f->bytes <= TORUS_HOST_MSG_MAX ? f->bytes : 0;
	drops += !all;
	f->count = f->bytes = 0;
	return all;
}

static void take_data(const u8 *p, size_t n)
{
	u32 flits = p[5] * 4u, bytes = flits * TN_FLIT;
	struct tn_pkt *pkt = new_packet(bytes);
	struct tn_queue msg;
	struct flow *f;
	u32 all;

	memcpy(pkt->payload, p + 6, n - 6 < bytes ? n - 6 : bytes);
	pkt->hdr.type = TN_DATA;
	pkt->hdr.src = p[0] % SRCS;
	pkt->hdr.vc = p[1] % TORUS_VCS;
	pkt->tail.flags = flits ? p[2] : (u8)(p[2] & ~(TN_FLIT - 1));
	f = &flows[pkt->hdr.src * TORUS_VCS + pkt->hdr.vc];
	pkt->tail.eseq = f->last + 1 + (u32)(int8_t)p[3];
	pkt->tail.epoch = p[4] % 2;
	all = expect(f, pkt);
	must(torus_host_take(&host, pkt, &msg) == all);
	must(!all == !msg.count);
	while ((pkt = tn_queue_pop(&msg))) {
		all -= tn_pkt_bytes(pkt);
		op_pkt_put(NULL, pkt);
	}
	must(!all && count_drops() == drops);
}

static void take_unreach(const u8 *p, size_t n)
{
	struct tn_pkt *pkt = new_packet((u32)n - 1);
	struct tn_queue msg;

	memcpy(pkt->payload, p + 1, n - 1);
	pkt->hdr.type = TN_UNREACH;
	pkt->tail.flags = (u8)((p[0] & ~(TN_FLIT - 1)) | (-(u32)(n - 1) % TN_FLIT));
	must(!torus_host_take(&host, pkt, &msg) && !msg.count);
}

/** struct message - of the host: @len bytes, to be cut into packets of @each */
struct message {
	struct torus_host_msg msg;
	u32 each, len;
	u8 bytes[256];
};

static unsigned int messages;

static void forget(void *shell, struct torus_host_msg *msg)
{
	(void)shell;
	messages--;
	free(msg);
}

static void send_message(struct message *m)
{
	struct tn_pkt *pkt;
	u32 at, bytes;

	for (at = 0; at < m->len; at += bytes) {
		bytes = m->len - at < m->each ? m->len - at : m->each;
		pkt = new_packet(bytes);
		memcpy(pkt->payload, m->bytes + at, bytes);
		torus_host_packet(&host.out, pkt, at, bytes, m->len);
	}
	must(!host.out.tail || host.out.tail->tail.flags & TN_TAIL_LAST);
	torus_host_send(&host, &m->msg, now);
	must(!host.out.head);
	forget(NULL, &m->msg);
}

static void take_message(const u8 *p, size_t n)
{
	struct message *m = calloc(1, sizeof(*m));
	size_t ip;

	takes = p[1] % 8;
	m->each = (p[0] % 16 + 1u) * TN_FLIT;
	m->len = (u32)n - 2;
	m->msg.from = p[0] % TORUS_VCS;
	m->msg.bytes = sizeof(*m);
	memcpy(m->bytes, p + 2, m->len);
	ip = m->len < TORUS_HOST_HDR ? 0 : m->len - TORUS_HOST_HDR;
	messages++;
	if (!torus_host_open(&host, m->msg.from) ||
	    !torus_host_begin(&host, &m->msg, m->bytes + m->len - ip, ip, m->len))
		forget(NULL, &m->msg);
	else if (torus_host_clear(&host, &m->msg))
		send_message(m);
	else
		torus_host_wait(&host, &m->msg, now);
	drops = count_drops();
}

static void have_room(void)
{
	struct torus_host_msg *msg;

	takes = 100;
	now += 3000000;
	must(torus_host_expiry(&host));
	while ((msg = torus_host_next(&host, now))) {
		must(takes);
		send_message((struct message *)msg);
	}
	must(!takes || !torus_host_ready(&host));
	drops = count_drops();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct tn_nic_config cfg = {
		.ops = &ops, .params = { .payload_max = TN_PAYLOAD_MIN },
	};

	torus_host_init(&host, NULL, &cfg, lost, forget);
	host.shape = &shape;
	memset(flows, 0, sizeof(flows));
	memset(counter, 0, sizeof(counter));
	now = drops = 0;
	while (len >= 2) {
		size_t n = data[1] < len - 2 ? data[1] : len - 2;
		u8 *record = malloc(n + !n), kind = data[0] % 4;	/* its end is seen */

		memcpy(record, data + 2, n);
		if (kind == 0 && n >= 6)
			take_data(record, n);
		else if (kind == 1 && n >= 1)
			take_unreach(record, n);
		else if (kind == 2 && n >= 2)
			take_message(record, n);
		else if (kind == 3)
			have_room();
		free(record);
		data += 2 + n;
		len -= 2 + n;
	}
	torus_host_flush(&host);
	must(!host.waiting && !packets && !messages);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NIC among its surroundings. One round of the loop: take what came, run
 * timers, move packets, send frames, tell subscribers.
 */
#include "emu.h"

#include <stdlib.h>
#include <time.h>
#include <torus/topology.h>

#include "log.h"
#include "reply.h"

#define FRAMES_MAX	8192	/* 64 KiB buffers: half a gigabyte */
#define IDLE_TIME	500000000ull	/* ns without traffic */
#define NAP		3000000		/* ns */
#define LOOK_INTERVAL	100000000ull
#define MOVES_MAX	4	/* rounds of moving before looking at sockets again */

static struct tn_pkt *op_pkt_get(void *host, void *owner)
{
	struct emu *e = host;
	struct frame *f = owner;
	struct tn_pkt *p;

	f->refs++;
	p = pkt_new(&e->pool, f, f->data);
	if (!p)
		f->refs--;
	return p;
}

static struct tn_pkt *op_pkt_new(void *host, unsigned int nflits)
{
	struct emu *e = host;
	struct frame *f = frame_new(&e->pool, (size_t)nflits * TN_FLIT);
	struct tn_pkt *p = f ? pkt_new(&e->pool, f, f->data) : NULL;

	if (f && !p)
		frame_put(&e->pool, f);
	return p;
}

static void op_pkt_put(void *host, struct tn_pkt *pkt)
{
	pkt_free(&((struct emu *)host)->pool, pkt);
}

static bool op_deliver(void *host, struct tn_pkt *pkt)
{
	msg_deliver(host, pkt);
	return true;
}

static void op_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	notify_mgmt(host, port, data, len);
}

static void op_event(void *host, const struct tn_event *ev)
{
	notify_event(host, ev);
}

static u32 op_random(void *host)
{
	u64 z = ((struct emu *)host)->rng += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (u32)(z >> 32);
}

static const struct tn_ops ops = {
	.pkt_get = op_pkt_get,
	.pkt_new = op_pkt_new,
	.pkt_put = op_pkt_put,
	.deliver = op_deliver,
	.mgmt = op_mgmt,
	.event = op_event,
	.random = op_random,
};

/* Rounded up to what aligned_alloc() wants. */
static void *alloc_aligned(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

int emu_init(struct emu *e, u64 now)
{
	struct tn_nic_config cfg = {
		.ops = &ops,
		.host = e,
		.nports = e->nports,
		.guid = e->guid,
		.epoch = e->epoch,
		.params = e->params,
	};
	int err;

	pool_init(&e->pool, FRAMES_MAX + (u32)(e->params.park_bytes / TN_PACKET_MAX) +
		  e->params.relay_packets);
	e->rx_taken = PORT_RX_BATCH;
	e->tun.watch.fd = e->server.watch.fd = -1;
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		port_init(&e->port[i], e, (u8)i);
	err = loop_init(&e->loop);
	if (err)
		return err;
	e->nic = alloc_aligned(tn_nic_size());
	err = e->nic ? tn_nic_init(e->nic, &cfg, now) : -ENOMEM;
	if (err) {
		free(e->nic);
		e->nic = NULL;
		loop_fini(&e->loop);
		return err;
	}
	for (unsigned int i = 0; i < e->nports; i++)
		tn_nic_serdes(e->nic, i, &e->port[i].serdes.serdes);
	return 0;
}

void emu_fini(struct emu *e)
{
	msg_flush(e);
	tn_nic_flush(e->nic);
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		port_close(&e->port[i]);
	for (unsigned int i = 0; i < PORT_RX_BATCH; i++)
		if (e->rx[i])
			frame_put(&e->pool, e->rx[i]);
	loop_fini(&e->loop);
	free(e->table);
	free(e->nic);
}

int emu_place(struct emu *e, const struct torus_shape *shape, const struct torus_coords *at)
{
	void *mem = alloc_aligned(tn_nic_table_size(shape));
	struct torus_shape old = e->shape;
	u32 old_node = e->node;
	bool again = e->is_placed;
	int err;

	if (!mem)
		return -ENOMEM;
	if (again && !memcmp(&old, shape, sizeof(old)) && !memcmp(&e->at, at, sizeof(*at))) {
		free(mem);
		return 0;
	}
	err = tn_nic_set_shape(e->nic, shape, at, mem);
	if (err) {
		free(mem);
		return err;
	}
	msg_flush(e);
	free(e->table);
	e->table = mem;
	e->shape = *shape;
	e->at = *at;
	e->node = tn_node_id(shape, at);
	e->is_placed = true;
	if (e->placed)
		e->placed(e, again ? &old : NULL, old_node);
	return 0;
}

static void send_all(struct emu *e, u64 now)
{
	u32 ports = tn_nic_tx_ports(e->nic);

	for (unsigned int i = 0; ports; i++, ports >>= 1)
		if (ports & 1)
			port_tx(&e->port[i], now);
}

/* A port waits for its carrier: the kernel's word alone may take a second. */
static void look_for_carrier(struct emu *e, u64 now)
{
	if (now < e->look_at)
		return;
	e->look_at = ~0ull;
	for (unsigned int i = 0; i < e->nports; i++) {
		struct port *p = &e->port[i];

		if (p->watch.fd < 0 || p->carrier)
			continue;
		port_look(p, now);
		e->look_at = (now / LOOK_INTERVAL + 1) * LOOK_INTERVAL;
	}
}

void emu_step(struct emu *e, u64 now)
{
	look_for_carrier(e, now);
	if (now >= tn_nic_expiry(e->nic))
		tn_nic_poll(e->nic, now);
	/* Answers first: the peer waits for E, and delivering takes its time. */
	send_all(e, now);
	for (int i = 0; i < MOVES_MAX; i++) {
		tn_nic_work(e->nic, now);
		send_all(e, now);
		if (!e->msg.out.head)
			break;
		msg_resume(e, now);
	}
	for (unsigned int i = 0; i < e->nports; i++)
		if (e->port[i].fault.head)
			port_delayed(&e->port[i], now);
	notify_flush(e, now);
	tun_poll(e, msg_room(e));
}

static u64 expiry(const struct emu *e)
{
	u64 at = tn_nic_expiry(e->nic);

	for (unsigned int i = 0; i < e->nports; i++) {
		u64 due = fault_expiry(&e->port[i].fault);

		at = due < at ? due : at;
	}
	return e->look_at < at ? e->look_at : at;
}

/*
 * All idle NICs of a machine say so at the same moment. Sleeping until all have
 * done it takes their frames in one go instead of waking up for each.
 */
static void nap(const struct emu *e, u64 now)
{
	const struct timespec ts = { .tv_nsec = NAP };

	if (now - e->busy_at > IDLE_TIME)
		nanosleep(&ts, NULL);
}

void emu_run(struct emu *e)
{
	while (!e->stop) {
		u64 now = loop_now();
		/* More to send than one round takes: only look at the sockets. */
		u64 until = tn_nic_tx_ports(e->nic) ? now : expiry(e);

		loop_wait(&e->loop, now, until);
		now = loop_now();
		emu_step(e, now);
		if (now >= until)
			nap(e, now);
	}
}

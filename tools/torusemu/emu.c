// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NIC among its surroundings. One turn: run timers, move packets, send frames,
 * tell subscribers.
 */
#include "emu.h"

#include <stdlib.h>
#include <torus/topology.h>

#include "kernel/core/splitmix64.h"
#include "log.h"
#include "reply.h"

#define LOOK_INTERVAL	100000000ull
#define MOVES_MAX	4	/* rounds of moving before looking at sockets again */

static struct tn_pkt *op_pkt_get(void *host, void *owner, const u8 *payload)
{
	struct emu *e = host;
	struct frame *f = owner;
	struct tn_pkt *p;

	(void)payload;
	f->refs++;
	p = pkt_new(e->pool, f, f->data);
	if (!p)
		f->refs--;
	return p;
}

static struct tn_pkt *op_pkt_new(void *host, unsigned int nflits)
{
	struct emu *e = host;
	struct frame *f = frame_new(e->pool, (size_t)nflits * TN_FLIT);
	struct tn_pkt *p = f ? pkt_new(e->pool, f, f->data) : NULL;

	if (f && !p)
		frame_put(e->pool, f);
	return p;
}

static void op_pkt_put(void *host, struct tn_pkt *pkt)
{
	pkt_free(((struct emu *)host)->pool, pkt);
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
	return (u32)(splitmix64_mix(((struct emu *)host)->rng += SPLITMIX64_STEP) >> 32);
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

/* What a NIC may keep of the largest frames, beyond those on their way. */
static u32 frames_kept(const struct emu *e)
{
	return (u32)(e->params.park_bytes / tn_packet_max(&e->params)) + e->params.relay_packets;
}

static int make_nic(struct emu *e, u64 now)
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

	e->nic = alloc_aligned(tn_nic_size());
	if (!e->nic)
		return -ENOMEM;
	err = tn_nic_init(e->nic, &cfg, now);
	if (err) {
		free(e->nic);
		e->nic = NULL;
		return err;
	}
	torus_host_init(&e->host, e->nic, &cfg, msg_lost);
	return 0;
}

int emu_init(struct emu *e, struct chassis *c, u64 now)
{
	int err;

	e->chassis = c;
	e->loop = &c->loop;
	e->pool = &c->pool;
	e->tun.watch.fd = e->server.watch.fd = -1;
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		port_init(&e->port[i], e, (u8)i);
	err = make_nic(e, now);
	if (err)
		return err;
	err = chassis_add(c, e);
	if (err) {
		free(e->nic);
		e->nic = NULL;
		return err;
	}
	c->pool.frames_max += frames_kept(e);
	for (unsigned int i = 0; i < e->nports; i++)
		tn_nic_serdes(e->nic, i, &e->port[i].serdes.serdes);
	chassis_wake(c, e);
	return 0;
}

void emu_fini(struct emu *e)
{
	torus_host_flush(&e->host);
	tn_nic_flush(e->nic);
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		port_close(&e->port[i]);
	e->pool->frames_max -= frames_kept(e);
	chassis_del(e->chassis, e);
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
	torus_host_flush(&e->host);
	free(e->table);
	e->table = mem;
	e->shape = *shape;
	e->at = *at;
	e->node = tn_node_id(shape, at);
	e->is_placed = true;
	e->host.shape = &e->shape;
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

		if (!p->medium || !p->medium->is_late || p->carrier)
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
		tun_flush(e);
		send_all(e, now);
		if (!e->host.out.head)
			break;
		torus_host_send(&e->host, now);
	}
	for (unsigned int i = 0; i < e->nports; i++)
		if (e->port[i].fault.late)
			port_delayed(&e->port[i], now);
	notify_flush(e, now);
	tun_poll(e, torus_host_room(&e->host));
}

u64 emu_expiry(const struct emu *e)
{
	u64 at = tn_nic_expiry(e->nic);

	if (tn_nic_tx_ports(e->nic))
		return 0;
	for (unsigned int i = 0; i < e->nports; i++) {
		u64 due = torus_host_fault_expiry(&e->port[i].fault);

		at = due < at ? due : at;
	}
	return e->look_at < at ? e->look_at : at;
}

void emu_busy(struct emu *e, u64 now)
{
	e->chassis->busy_at = now;
	chassis_wake(e->chassis, e);
}

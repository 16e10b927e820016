// SPDX-License-Identifier: GPL-2.0-only
/*
 * One NIC: the callbacks of its core, and its turns. A turn runs timers, moves packets, sends
 * frames and notifies subscribers.
 */
#include "emu.h"

#include <stdlib.h>
#include <torus/topology.h>

#include "kernel/core/splitmix64.h"
#include "lib/util/times.h"
#include "log.h"
#include "reply.h"

#define LOOK_INTERVAL	(100 * MS)
#define MOVES_MAX	4	/* most times that one turn reads messages of the host */

static struct tn_pkt *emu_pkt_get(void *host, void *owner, const u8 *payload)
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

static struct tn_pkt *emu_pkt_new(void *host, unsigned int nflits)
{
	struct emu *e = host;
	struct frame *f = frame_new(e->pool, (size_t)nflits * TN_FLIT);
	struct tn_pkt *p = f ? pkt_new(e->pool, f, f->data) : NULL;

	if (f && !p)
		frame_put(e->pool, f);
	return p;
}

static void emu_pkt_put(void *host, struct tn_pkt *pkt)
{
	pkt_free(((struct emu *)host)->pool, pkt);
}

static u32 emu_keep(void *host, struct tn_pkt *pkt)
{
	return pkt_keep(((struct emu *)host)->pool, pkt);
}

static bool emu_deliver(void *host, struct tn_pkt *pkt)
{
	msg_deliver(host, pkt);
	return true;
}

static bool emu_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	return notify_mgmt(host, port, data, len);
}

static void emu_event(void *host, const struct tn_event *ev)
{
	tn_soft_note(&((struct emu *)host)->soft, ev);
}

static u32 emu_random(void *host)
{
	return (u32)(splitmix64_mix(((struct emu *)host)->rng += SPLITMIX64_STEP) >> 32);
}

static const struct tn_ops ops = {
	.pkt_get = emu_pkt_get,
	.pkt_new = emu_pkt_new,
	.pkt_put = emu_pkt_put,
	.keep = emu_keep,
	.deliver = emu_deliver,
	.mgmt = emu_mgmt,
	.event = emu_event,
	.random = emu_random,
};

/* Rounds @bytes up to a multiple of the alignment, as aligned_alloc() requires. */
static void *alloc_aligned(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/*
 * Return: how many of the largest frames a NIC may keep in its memory, besides the frames in
 * flight.
 */
static u32 frames_kept(const struct emu *e)
{
	const struct tn_params *p = &e->soft.params;

	return (u32)((p->park_bytes + p->hold_bytes) / tn_packet_max(p)) + p->relay_packets +
	       TORUS_HOST_LANES_MAX / POOL_FRAME_MAX;
}

/* --- callbacks for commands (struct tn_soft_shell) --------------------------- */

static void no_lock(struct tn_soft *s)
{
	(void)s;
}

static void no_unlock(struct tn_soft *s, bool changed)
{
	(void)s;
	(void)changed;
}

static u64 emu_now(struct tn_soft *s)
{
	(void)s;
	return loop_now();
}

static void no_rest(void)
{
}

static void *table_new(size_t bytes)
{
	void *table = alloc_aligned(bytes);

	return table ? memset(table, 0, bytes) : NULL;
}

static int attach_port(struct tn_soft *s, unsigned int port, const char *name,
		       struct torus_refusal *why)
{
	struct emu *e = container_of(s, struct emu, soft);
	const char *text = NULL;
	int err;

	for (unsigned int i = 0; i < s->hw.nports; i++)
		if (*name && i != port && !strcmp(s->port[i].lower, name))
			return torus_refuse(why, -EBUSY, NULL, "it is bound to port %u", i);
	err = e->attach(&e->port[port], name, &text, loop_now());
	if (err)
		torus_refuse(why, err, NULL, "%s", text ? text : strerror(-err));
	return err;
}

static void leave_place(struct tn_soft *s)
{
	rma_leave(container_of(s, struct emu, soft));
}

static const struct tn_soft_shell shell = {
	.lock = no_lock,
	.unlock = no_unlock,
	.rest = no_rest,
	.now = emu_now,
	.table_new = table_new,
	.table_free = free,
	.attach = attach_port,
	.leave = leave_place,
};

/* --- lifetime --------------------------------------------------------------- */

static int make_emu_nic(struct emu *e, u64 now)
{
	struct tn_nic_config cfg = { .ops = &ops, .host = e };
	void *mem = alloc_aligned(tn_nic_size());
	int err = mem ? tn_soft_init(&e->soft, mem, &cfg, msg_lost, msg_forget, now) : -ENOMEM;

	if (err)
		free(mem);
	return err;
}

int emu_init(struct emu *e, struct chassis *c, u64 now)
{
	int err;

	e->chassis = c;
	e->soft.shell = &shell;
	e->soft.hw.driver = "torusemu";
	e->loop = &c->loop;
	e->pool = &c->pool;
	e->tun.watch.fd = e->server.watch.fd = -1;
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		port_init(&e->port[i], e, (u8)i);
	err = make_emu_nic(e, now);
	if (err)
		return err;
	err = chassis_add(c, e);
	if (err) {
		free(e->soft.nic);
		e->soft.nic = NULL;
		return err;
	}
	c->pool.frames_max += frames_kept(e);
	chassis_wake(c, e);
	return 0;
}

void emu_fini(struct emu *e)
{
	rma_close(e);
	tn_soft_flush(&e->soft);
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		port_close(&e->port[i]);
	e->pool->frames_max -= frames_kept(e);
	chassis_del(e->chassis, e);
	free(e->soft.table);
	free(e->soft.nic);
}

static void send_frames(struct emu *e, u64 now)
{
	u32 ports = tn_nic_tx_ports(e->soft.nic);

	for (unsigned int i = 0; ports; i++, ports >>= 1)
		if (ports & 1)
			port_tx(&e->port[i], now);
}

/*
 * Asks for the carrier of ports without a carrier, because the kernel's notification may be a
 * second late.
 */
static void look_for_carrier(struct emu *e, u64 now)
{
	if (now < e->look_at)
		return;
	e->look_at = ~0ull;
	for (unsigned int i = 0; i < e->soft.hw.nports; i++) {
		struct port *p = &e->port[i];

		if (!p->medium || !p->medium->is_late || p->carrier)
			continue;
		port_look(p, now);
		e->look_at = (now / LOOK_INTERVAL + 1) * LOOK_INTERVAL;
	}
}

/* Takes a message of the host, and requests of remote memory. Return: false if there are none. */
static bool take_work(struct emu *e, u64 now)
{
	bool message = msg_next(e, now);

	return rma_step(e, now) || message;
}

void emu_step(struct emu *e, u64 now)
{
	look_for_carrier(e, now);
	if (now >= tn_nic_expiry(e->soft.nic))
		tn_nic_poll(e->soft.nic, now);
	/*
	 * First send the answers on the links, because peers wait for these flits, and deliveries
	 * take long.
	 */
	send_frames(e, now);
	rma_step(e, now);
	for (int i = 0;; i++) {
		tn_nic_work(e->soft.nic, now);
		tun_flush(e);
		send_frames(e, now);
		if (i == MOVES_MAX || !take_work(e, now))
			break;
		while (msg_next(e, now))
			;
	}
	for (unsigned int i = 0; i < e->soft.hw.nports; i++)
		if (e->soft.port[i].fault.late)
			port_delayed(&e->port[i], now);
	notify_flush(e, now);
	tun_poll(e, torus_host_open(&e->soft.host, 0));
}

u64 emu_expiry(struct emu *e)
{
	u64 at = tn_nic_expiry(e->soft.nic), waits = torus_host_expiry(&e->soft.host);

	at = waits < at ? waits : at;
	at = rma_expiry(e) < at ? rma_expiry(e) : at;
	if (tn_nic_tx_ports(e->soft.nic) || torus_host_ready(&e->soft.host))
		return 0;
	for (unsigned int i = 0; i < e->soft.hw.nports; i++) {
		u64 due = torus_host_fault_expiry(&e->soft.port[i].fault);

		at = due < at ? due : at;
	}
	return e->look_at < at ? e->look_at : at;
}

void emu_busy(struct emu *e, u64 now)
{
	e->chassis->busy_at = now;
	chassis_wake(e->chassis, e);
}

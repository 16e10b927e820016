// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames are received into pooled buffers, to which the core keeps pointers; frames that are sent
 * are gathered from the memory of their packets. Faults are injected between the NIC and the
 * medium, so that they are the same for all media.
 */
#include "port.h"

#include <stdio.h>

#include "emu.h"
#include "log.h"

#define TX_BATCH	16
#define IDLE_BYTES	(2 * TN_FLIT)

void port_init(struct port *port, struct emu *emu, u8 num)
{
	memset(port, 0, sizeof(*port));
	port->ether.watch.fd = -1;
	port->emu = emu;
	port->num = num;
	port->soft = &emu->soft.port[num];
}

void port_set_carrier(struct port *port, bool up, u64 now)
{
	if (port->carrier != up) {
		tn_nic_carrier(port->emu->soft.nic, port->num, up, now);
		emu_busy(port->emu, now);
	}
	port->carrier = up;
	if (!up)
		port->emu->look_at = 0;
}

/*
 * Asks for the present carrier. The kernel's notifications about devices pass through a queue whose
 * worker may take a second after a change, so this function is also called when a frame could not
 * be sent, or has arrived without carrier.
 */
void port_look(struct port *port, u64 now)
{
	if (port->medium)
		port->medium->look(port, now);
}

static struct frame *take_late_frame(struct port *port, u64 now)
{
	struct torus_host_late *late = torus_host_due(&port->soft->fault, now);

	return late ? container_of(late, struct frame, late) : NULL;
}

void port_close(struct port *port)
{
	struct frame *f;

	if (port->medium)
		port->medium->close(port);
	port->medium = NULL;
	while ((f = take_late_frame(port, ~0ull)))
		frame_put(port->emu->pool, f);
}

char *port_text(const struct port *port, char *buf)
{
	return torus_port_text(port->emu->soft.hw.nports / 2, port->num, buf);
}

void port_gone(struct port *port, u64 now)
{
	char at[TORUS_TEXT_MAX];

	log_warn(port->emu->soft.hw.name, "port %s: its device %s is gone", port_text(port, at),
		 port->soft->lower);
	port_close(port);
	port_set_carrier(port, false, now);
}

static void detach_port(struct port *port, u64 now)
{
	port_close(port);
	port->soft->lower[0] = 0;
	port_set_carrier(port, false, now);
}

int port_attach(struct port *port, const char *name, const char **why, u64 now)
{
	const struct medium *m = *name == ':' ? &cable_medium : &ether_medium;
	char at[TORUS_TEXT_MAX];
	int err;

	*why = NULL;
	if (!*name) {
		detach_port(port, now);
		return 0;
	}
	err = m->open(port, name, why);
	if (err)
		return err;
	port->medium = m;
	snprintf(port->soft->lower, sizeof(port->soft->lower), "%s", name);
	port_set_carrier(port, false, now);
	log_info(port->emu->soft.hw.name, "port %s is bound to %s", port_text(port, at), name);
	port_look(port, now);
	return 0;
}

/* --- receiving ------------------------------------------------------------ */

void port_take(struct port *port, struct frame *f, u32 bytes, u64 now)
{
	struct emu *e = port->emu;
	struct tn_fault *errors;

	if (torus_host_is_deaf(&port->soft->fault))
		return;
	if (bytes > IDLE_BYTES)
		e->chassis->busy_at = now;
	errors = tn_serdes_errors(&port->soft->serdes.serdes, bytes, now);
	if (errors)
		tn_fault_corrupt(errors, f->data, bytes);
	tn_nic_rx(e->soft.nic, port->num, f->data, bytes, f, now);
	chassis_wake(e->chassis, e);
}

/* --- sending -------------------------------------------------------------- */

struct frame *port_gather(struct pool *pool, const struct tn_seg *seg, u32 nsegs, u32 bytes)
{
	struct frame *f = frame_new(pool, bytes);
	u32 at = 0;

	for (u32 i = 0; f && i < nsegs; i++) {
		memcpy(f->data + at, seg[i].base, seg[i].len);
		at += seg[i].len;
	}
	return f;
}

static void send_whole(struct port *port, struct frame *f, u64 now)
{
	const struct tn_seg seg = { f->data, f->bytes };

	port->medium->send(port, &seg, 1, f->bytes, now);
	frame_put(port->emu->pool, f);
}

static void send_faulty(struct port *port, const struct tn_frame *tx, bool hit, u64 now)
{
	struct pool *pool = port->emu->pool;
	struct frame *f = port_gather(pool, tx->seg, tx->nsegs, tx->bytes);

	if (!f)
		return;
	if (hit)
		tn_fault_corrupt(&port->soft->fault.bits, f->data, tx->bytes);
	f->bytes = tx->bytes;
	if (!torus_host_delays(&port->soft->fault))
		send_whole(port, f, now);
	else if (!torus_host_delay(&port->soft->fault, &f->late, frame_held(f), now))
		frame_put(pool, f);
}

static void send_port_frame(struct port *port, const struct tn_frame *tx, u64 now)
{
	bool hit;

	if (!port->medium || port->soft->fault.silence)
		return;
	hit = tn_fault_hits(&port->soft->fault.bits, tx->bytes);
	if (hit || torus_host_delays(&port->soft->fault))
		send_faulty(port, tx, hit, now);
	else
		port->medium->send(port, tx->seg, tx->nsegs, tx->bytes, now);
}

void port_tx(struct port *port, u64 now)
{
	struct emu *e = port->emu;
	struct tn_frame *tx = &e->chassis->tx;

	for (int i = 0; i < TX_BATCH; i++) {
		if (!tn_nic_tx(e->soft.nic, port->num, tx, now))
			return;
		send_port_frame(port, tx, now);
	}
}

void port_delayed(struct port *port, u64 now)
{
	struct frame *f;

	while ((f = take_late_frame(port, now))) {
		if (!port->medium || port->soft->fault.silence)
			frame_put(port->emu->pool, f);
		else
			send_whole(port, f, now);
	}
}

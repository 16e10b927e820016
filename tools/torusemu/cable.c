// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu.h"

/**
 * struct cable - a cable in memory
 * @port: the port at each end; NULL: its NIC is gone
 * @in: true if the end is plugged in
 */
struct cable {
	struct cable *next;
	char name[IFNAMSIZ];
	struct port *port[2];
	bool in[2];
	bool cut;
};

static struct cable *cable_get(struct chassis *c, const char *name)
{
	struct cable *cable = c->cables;

	while (cable && strcmp(cable->name, name))
		cable = cable->next;
	if (cable)
		return cable;
	cable = calloc(1, sizeof(*cable));
	if (!cable)
		return NULL;
	snprintf(cable->name, sizeof(cable->name), "%s", name);
	cable->next = c->cables;
	c->cables = cable;
	return cable;
}

/* Updates the carrier of both ends, after a change of the cable. */
static void look_at_ends(struct cable *cable, u64 now)
{
	for (int i = 0; i < 2; i++)
		if (cable->port[i])
			port_look(cable->port[i], now);
}

int cable_cut(struct chassis *c, const char *name, bool cut)
{
	struct cable *cable = cable_get(c, name);

	if (!cable)
		return -ENOMEM;
	cable->cut = cut;
	look_at_ends(cable, loop_now());
	return 0;
}

void cables_free(struct chassis *c)
{
	struct cable *next;

	for (struct cable *cable = c->cables; cable; cable = next) {
		next = cable->next;
		free(cable);
	}
	c->cables = NULL;
}

/*
 * Return: an end without a port, or -1. An end that a NIC left plugged in is preferred to an unused
 * end.
 */
static int free_end(const struct cable *cable)
{
	for (int i = 0; i < 2; i++)
		if (!cable->port[i] && cable->in[i])
			return i;
	for (int i = 0; i < 2; i++)
		if (!cable->in[i])
			return i;
	return -EBUSY;
}

static int cable_open(struct port *port, const char *name, const char **why)
{
	struct cable *cable = cable_get(port->emu->chassis, name);
	int end = cable ? free_end(cable) : -ENOMEM;

	if (cable && port->plug.cable == cable)
		return 0;
	if (end < 0) {
		*why = cable ? "this cable has two ends, and both are taken" : "out of memory";
		return end;
	}
	port_close(port);
	port->plug = (struct plug) { cable, (u8)end };
	cable->port[end] = port;
	cable->in[end] = true;
	if (cable->port[!end])
		port_look(cable->port[!end], loop_now());
	return 0;
}

void cable_abandon(struct port *port)
{
	struct plug *plug = &port->plug;

	if (plug->cable)
		plug->cable->port[plug->end] = NULL;
	plug->cable = NULL;
}

static void cable_close(struct port *port)
{
	struct plug plug = port->plug;

	if (!plug.cable)
		return;
	cable_abandon(port);
	plug.cable->in[plug.end] = false;
	look_at_ends(plug.cable, loop_now());
}

static bool cable_has_carrier(const struct port *port)
{
	const struct cable *cable = port->plug.cable;

	return cable->in[0] && cable->in[1] && !cable->cut;
}

static void cable_look(struct port *port, u64 now)
{
	port_set_carrier(port, cable_has_carrier(port), now);
}

static void cable_send(struct port *port, const struct tn_seg *seg, u32 nsegs, u32 bytes, u64 now)
{
	const struct cable *cable = port->plug.cable;
	struct port *to = cable->port[!port->plug.end];
	struct frame *f;

	if (!to || !cable_has_carrier(port))
		return;
	f = port_gather(to->emu->pool, seg, nsegs, bytes);
	if (!f)
		return;
	port_take(to, f, bytes, now);
	frame_put(to->emu->pool, f);
	port->emu->chassis->passed = true;
}

const struct medium cable_medium = {
	.open = cable_open,
	.close = cable_close,
	.look = cable_look,
	.send = cable_send,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * NICs that consist of their links alone, so that a million fit into memory. A link is up a few
 * frame delays after its cable is connected, and down at once when the cable is cut; the port of a
 * dead link is closed until a replay opens it. No packets are sent, so counters and parking stay
 * zero.
 *
 * Rows are not stored: nic_plain_rows.c computes how many of them a table changes.
 */
#include <stdlib.h>

#include "nic_plain.h"

#define TRAINING 4	/* time until a link is up, in frame delays */

void plain_start(struct world *w, uint32_t node)
{
	struct plain *n = calloc(1, sizeof(*n));

	if (!n)
		abort();
	w->node[node].plain = n;
}

void plain_stop(struct world *w, uint32_t node)
{
	free(w->node[node].plain);
	w->node[node].plain = NULL;
}

static void port_down(struct world *w, uint32_t node, unsigned int port)
{
	struct plain_port *p = &w->node[node].plain->port[port];

	if (p->state != TORUS_LINK_UP)
		return;
	p->state = TORUS_LINK_FAULTY;
	p->closed = w->node[node].plain->version;
	if (w->node[node].managed)
		report_link(w, node, port);
}

void plain_carrier(struct world *w, uint32_t cable)
{
	const struct cable *c = &w->cable[cable];
	struct ev ev = { .kind = EV_TRAINED, .at = w->now + TRAINING * w->cfg.link_latency };

	if (world_cable_whole(w, cable)) {
		/* The link comes up only if neither NIC is restarted before. */
		ev.node = c->node[0];
		ev.port = c->port[0];
		ev.life = w->node[c->node[0]].nic_life;
		ev.len = w->node[c->node[1]].nic_life;
		world_post(w, &ev);
		return;
	}
	for (unsigned int e = 0; e < 2; e++)
		if (w->node[c->node[e]].plain)
			port_down(w, c->node[e], c->port[e]);
}

void plain_trained(struct world *w, const struct ev *ev)
{
	uint32_t cable = (uint32_t)w->node[ev->node].cable[ev->port];
	const struct cable *c = &w->cable[cable];

	if (!world_cable_whole(w, cable) || ev->life != w->node[c->node[0]].nic_life ||
	    ev->len != w->node[c->node[1]].nic_life)
		return;
	for (unsigned int e = 0; e < 2; e++) {
		struct plain_port *p = &w->node[c->node[e]].plain->port[c->port[e]];

		if (p->state == TORUS_LINK_UP)
			continue;
		p->state = TORUS_LINK_UP;
		p->session++;
		if (w->node[c->node[e]].managed)
			report_link(w, c->node[e], c->port[e]);
	}
}

void plain_link(struct world *w, uint32_t node, unsigned int port, struct torus_link *out)
{
	const struct wnode *n = &w->node[node];
	const struct plain_port *p = &n->plain->port[port];
	const struct cable *c;

	memset(out, 0, sizeof(*out));
	out->port = (uint8_t)port;
	out->state = p->state;
	out->admin = true;
	out->closed = p->closed;
	out->session = p->session;
	if (n->cable[port] < 0)
		return;
	c = &w->cable[n->cable[port]];
	for (unsigned int e = 0; e < 2; e++) {
		if (c->node[e] != node || c->port[e] != port)
			continue;
		out->carrier = world_cable_whole(w, (uint32_t)n->cable[port]);
		out->peer_guid = w->node[c->node[!e]].guid;
		out->peer_port = c->port[!e];
	}
}

void plain_device(struct world *w, uint32_t node, struct torus_device *dev)
{
	const struct plain *n = w->node[node].plain;

	dev->placed = n->placed;
	dev->shape = w->cfg.shape;
	dev->node = n->node;
	dev->version = n->version;
	if (n->placed)
		torus_node_coords(&dev->shape, n->node, &dev->coords);
}

bool plain_links_as_wanted(struct world *w)
{
	for (uint32_t i = 0; i < w->ncables; i++) {
		const struct cable *c = &w->cable[i];
		bool whole = world_cable_whole(w, i);

		for (unsigned int e = 0; c->there && e < 2; e++) {
			const struct plain *n = w->node[c->node[e]].plain;

			if (n && (n->port[c->port[e]].state == TORUS_LINK_UP) != whole)
				return false;
		}
	}
	return true;
}

int plain_mgmt(struct world *w, uint32_t node, unsigned int port, const void *data, size_t len)
{
	int32_t cable = w->node[node].cable[port];
	struct ev ev = { .kind = EV_MGMT, .at = w->now + w->cfg.link_latency, .len = len };
	const struct cable *c = cable < 0 ? NULL : &w->cable[cable];
	unsigned int far;

	if (!c || w->node[node].plain->port[port].state != TORUS_LINK_UP)
		return -ENETDOWN;
	far = c->node[0] == node && c->port[0] == port;
	ev.node = c->node[far];
	ev.port = c->port[far];
	if (!w->node[ev.node].managed)
		return 0;
	ev.life = w->node[ev.node].fm_life;
	ev.data = malloc(len);
	if (!ev.data)
		abort();
	memcpy(ev.data, data, len);
	world_post(w, &ev);
	return 0;
}

int plain_place(struct world *w, uint32_t node, const struct torus_shape *shape,
		const struct torus_coords *at)
{
	struct plain *n = w->node[node].plain;

	if (memcmp(shape, &w->cfg.shape, sizeof(*shape)))
		return -EINVAL;
	if (n->placed && n->node == torus_node_id(shape, at))
		return 0;
	n->node = torus_node_id(shape, at);
	n->placed = true;
	n->version = 0;
	return 0;
}

int plain_flow(struct world *w, uint32_t node, struct torus_park *out)
{
	memset(out, 0, sizeof(*out));
	out->flow.version = w->node[node].plain->version;
	return 0;
}

int plain_replay(struct world *w, uint32_t node, uint16_t ports)
{
	for (unsigned int p = 0; p < w->nports; p++)
		if (ports & 1u << p)
			w->node[node].plain->port[p].closed = false;
	return 0;
}

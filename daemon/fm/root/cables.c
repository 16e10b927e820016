// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event for each cable that is lost, or comes back, made with the first table that contains the
 * change. By then both ends of the cable have reported, if both can, so there is one event. A cable
 * is lost if one of its ends is not up, is held down, leads elsewhere, or belongs to a node without
 * a NIC. A cable that has not been up yet is not lost, and there is no event when it comes up: the
 * bring-up logs the nodes that join. A root that takes over compares with the former root's table,
 * so it also reports the cables that were lost together with that root.
 *
 * A cable has one name, that of its end at a port with "+".
 *
 * Tests: tests/unit/test_fm_cables.c, tests/unit/test_fm_cable_events.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/cables.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"
#include "lib/deps/invariant.h"
#include "lib/util/hash.h"

/**
 * struct change - a cable (by node and dimension) that has changed: when it was last lost or came
 * back, and how often it was lost
 * @before: that was before @at, while another root led
 */
struct change {
	uint32_t cable, downs;
	bool before;
	uint64_t at;
};

/**
 * struct fm_cables - state of all cables in the last table
 * @shape: the shape for which @up and @lost were made; without dimensions: they were not made yet
 * @up, @lost: by node id, mask of dimensions whose cable at the port with "+" is up, or is lost
 * @begun: time since which these states are known
 * @former: the states are those in the former root's table, and no table was compared yet
 * @took: the cables are older than this root, so @begun is not when they got their states
 * @change, @n: the cables that have changed; @by_cable: index of @change by cable
 * @found, @nfound: the cables whose state the next table changes
 */
struct fm_cables {
	struct torus_shape shape;
	uint8_t *up, *lost;
	uint64_t begun;
	bool former, took;
	struct change *change;
	uint32_t n, room;
	struct hash by_cable;
	struct fm_link_change *found;
	uint32_t nfound, found_room;
};

bool fm_cables_new(struct fm_root *r)
{
	r->cables = calloc(1, sizeof(*r->cables));
	return r->cables;
}

static void forget_shape(struct fm_cables *c)
{
	free(c->up);
	free(c->lost);
	free(c->change);
	hash_free(&c->by_cable);
	free(c->found);
	*c = (struct fm_cables) { .n = 0 };
}

void fm_cables_free(struct fm_root *r)
{
	if (r->cables)
		forget_shape(r->cables);
	free(r->cables);
}

/* Return: the entry of @node in @t, or else in the present table; NULL if in neither. */
static const struct fm_entry *entry_of(const struct fm *fm, const struct fm_table_msg *t,
				       uint32_t node)
{
	uint32_t low = 0, high = t ? t->nentries : 0;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (t->entries[mid].node == node)
			return &t->entries[mid];
		if (t->entries[mid].node < node)
			low = mid + 1;
		else
			high = mid;
	}
	return fm->table.version ? &fm->table.entry[node] : NULL;
}

static bool has_nic(const struct fm_entry *e)
{
	return e && (e->state == FM_NODE_UP || e->state == FM_NODE_SILENT);
}

static bool is_up(const struct fm_entry *a, unsigned int p, const struct fm_entry *b,
		  unsigned int q)
{
	return has_nic(a) && has_nic(b) && !((a->fault | a->wiring) & 1u << p) &&
	       !((b->fault | b->wiring) & 1u << q);
}

/* Return: true if both nodes have been in the fabric at some time. */
static bool are_known(const struct fm_entry *a, const struct fm_entry *b)
{
	return a && b && a->state != FM_NODE_ABSENT && b->state != FM_NODE_ABSENT;
}

/*
 * Allocates the states of all cables, which are unknown then. Return: false if there is no memory.
 */
static bool begin_states(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_cables *c = fm->root->cables;
	uint32_t nodes = torus_nodes(shape);

	forget_shape(c);
	c->up = calloc(nodes, 1);
	c->lost = calloc(nodes, 1);
	if (!c->up || !c->lost) {
		forget_shape(c);
		return false;
	}
	c->shape = *shape;
	c->begun = fm->now;
	return true;
}

/*
 * Sets the state of the cable of @node in dimension @d, from the entries of @node (@a) and of the
 * node at the other end (@b).
 */
static void init_state(struct fm_cables *c, uint32_t node, unsigned int d,
		       const struct fm_entry *a, const struct fm_entry *b)
{
	if (is_up(a, d, b, torus_dir_opposite(&c->shape, d)))
		c->up[node] |= (uint8_t)(1u << d);
	else if (are_known(a, b))
		c->lost[node] |= (uint8_t)(1u << d);
}

/* Sets the states of all cables from the present table or, if there is none, from the next one. */
static bool init_states(struct fm *fm, const struct fm_table_msg *t)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_table_msg *of = fm->table.version ? NULL : t;

	if (!begin_states(fm, shape))
		return false;
	fm->root->cables->took = !of;
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		for (unsigned int d = 0; d < shape->ndims; d++)
			init_state(fm->root->cables, i, d, entry_of(fm, of, i),
				   entry_of(fm, of, torus_neighbour(shape, i, d)));
	return true;
}

void fm_cables_former(struct fm *fm, const struct torus_shape *shape, const struct fm_entry *entry)
{
	if (!begin_states(fm, shape))
		return;
	fm->root->cables->former = fm->root->cables->took = true;
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		for (unsigned int d = 0; d < shape->ndims; d++)
			init_state(fm->root->cables, i, d, &entry[i],
				   &entry[torus_neighbour(shape, i, d)]);
}

/*
 * Return: why the end of a cable at @port of that node is down, as the node itself reports it; NULL
 * if it is up, or no reason is known.
 */
static const char *reason_at(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct fm_record *m = fm_record_at(fm->root, node);
	const struct fm_port_row *row = m ? &m->row.port[port] : NULL;

	if (!row || row->state == FM_PORT_UP)
		return NULL;
	return row->stalled ? "stall" : row->reason ? torus_link_reason_name(row->reason) : NULL;
}

static const char *find_reason(const struct fm *fm, const struct fm_table_msg *t,
			       const struct fm_link_change *l)
{
	const struct fm_entry *a = entry_of(fm, t, l->node), *b = entry_of(fm, t, l->peer);
	const char *why = reason_at(fm, l->node, l->port);
	const char *far = reason_at(fm, l->peer, l->peer_port);

	/*
	 * An end gives the reason "peer" if the other end began a new session, and only that one
	 * knows why.
	 */
	if (!why || (far && !strcmp(why, torus_link_reason_name(TORUS_REASON_PEER))))
		why = far;
	if (!why && ((a && a->held & 1u << l->port) || (b && b->held & 1u << l->peer_port)))
		why = "flap";
	if (!why && ((a && a->wiring & 1u << l->port) || (b && b->wiring & 1u << l->peer_port)))
		why = "wiring";
	return why;
}

/*
 * Return: what is stored of the last change of @cable; NULL if it has not changed since this root
 * began.
 */
static struct change *find_change(const struct fm_cables *c, uint32_t cable)
{
	uint32_t key = (uint32_t)fm_mix(cable), i;

	for (uint32_t slot = 0; hash_next(&c->by_cable, key, &slot, &i);)
		if (c->change[i].cable == cable)
			return &c->change[i];
	return NULL;
}

const char *fm_cables_why(const struct fm *fm, uint32_t node, unsigned int port, uint64_t *since)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_link_change l = {
		.node = node, .peer = torus_neighbour(shape, node, port),
		.port = (uint8_t)port, .peer_port = (uint8_t)torus_dir_opposite(shape, port),
	};
	const struct change *c = find_change(fm->root->cables, node * TORUS_MAX_DIMS + port);

	*since = c ? c->at : 0;
	return find_reason(fm, NULL, &l);
}

uint32_t fm_cables_downs(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct change *c = find_change(fm->root->cables, node * TORUS_MAX_DIMS + port);

	return c ? c->downs : 0;
}

/* Makes room for one more change. Return: false if there is no memory. */
static bool make_room(struct fm_cables *c)
{
	uint32_t room = c->room ? 2 * c->room : 16;
	struct change *change;

	if (c->n < c->room)
		return true;
	change = realloc(c->change, room * sizeof(*change));
	if (change)
		c->change = change;
	if (!change || !hash_reserve(&c->by_cable, room))
		return false;
	c->room = room;
	return true;
}

/*
 * Notes that the cable changes now. Return: when it last changed before, or when this root began;
 * @began: set if it changed earlier than the time that is returned
 */
static uint64_t take_change(struct fm *fm, uint32_t cable, bool lost, bool *began)
{
	struct fm_cables *c = fm->root->cables;
	struct change *was = find_change(c, cable);
	uint64_t at = was ? was->at : c->begun;

	*began = was ? was->before : c->took;
	if (was) {
		was->before = false;
		was->at = fm->now;
		was->downs += lost;
	} else if (make_room(c)) {
		hash_put(&c->by_cable, (uint32_t)fm_mix(cable), c->n);
		c->change[c->n++] = (struct change) {
			.cable = cable, .downs = lost, .at = fm->now,
			.before = c->took && at == fm->now,
		};
	}
	return at;
}

/* Adds a change to be logged. Without memory it is not logged. */
static void add_found(struct fm_cables *c, const struct fm_link_change *l)
{
	uint32_t room = c->found_room ? 2 * c->found_room : 16;
	struct fm_link_change *found;

	if (c->nfound == c->found_room) {
		found = realloc(c->found, room * sizeof(*found));
		if (!found)
			return;
		c->found = found;
		c->found_room = room;
	}
	c->found[c->nfound++] = *l;
}

static bool is_excluded(const struct fm_entry *a, unsigned int p, const struct fm_entry *b,
			unsigned int q)
{
	return (a && a->admin & 1u << p) || (b && b->admin & 1u << q);
}

/* Compares the cable of @node in dimension @d with the new table. */
static void compare_cable(struct fm *fm, const struct fm_table_msg *t, uint32_t node,
			  unsigned int d)
{
	struct fm_cables *c = fm->root->cables;
	const struct torus_shape *shape = &fm->table.shape;
	struct fm_link_change l = {
		.node = node, .port = (uint8_t)d, .peer = torus_neighbour(shape, node, d),
		.peer_port = (uint8_t)torus_dir_opposite(shape, d),
	};
	const struct fm_entry *a = entry_of(fm, t, node), *b = entry_of(fm, t, l.peer);
	uint8_t bit = (uint8_t)(1u << d);

	l.up = is_up(a, d, b, l.peer_port);
	if (l.peer == node || !(l.up ? c->lost[node] & bit : c->up[node] & bit)) {
		c->up[node] |= l.up ? bit : 0;
		return;
	}
	c->up[node] ^= bit;
	c->lost[node] ^= bit;
	invariant(!(c->up[node] & c->lost[node] & bit));
	l.version = t->version;
	l.was_for = fm->now - take_change(fm, node * TORUS_MAX_DIMS + d, !l.up, &l.at_least);
	l.reason = l.up ? NULL : find_reason(fm, t, &l);
	l.excluded = is_excluded(a, d, b, l.peer_port);
	snprintf(l.name, sizeof(l.name), "%s", a ? a->name : "");
	snprintf(l.peer_name, sizeof(l.peer_name), "%s", b ? b->name : "");
	add_found(c, &l);
}

uint32_t fm_cables_look(struct fm *fm, const struct fm_table_msg *t)
{
	struct fm_cables *c = fm->root->cables;
	const struct torus_shape *shape = &fm->table.shape;

	if (memcmp(&c->shape, shape, sizeof(*shape)) && !init_states(fm, t))
		return 0;
	if (c->former) {	/* when exactly the cables changed is not known, only that they
				 * did before now */
		c->former = false;
		c->begun = fm->now;
	}
	c->nfound = 0;
	for (uint32_t i = 0; i < t->nentries; i++)
		for (unsigned int d = 0; d < shape->ndims; d++) {
			uint32_t node = t->entries[i].node;

			compare_cable(fm, t, node, d);
			compare_cable(fm, t, torus_neighbour(shape, node, d + shape->ndims), d);
		}
	return c->nfound;
}

/* Writes a time with two units, as fabricctl does. */
static const char *time_text(uint64_t ns, char *buf, size_t room)
{
	unsigned long long ms = ns / MS, s = ns / SEC;

	if (s < 1)
		snprintf(buf, room, "%llu ms", ms);
	else if (s < 60)
		snprintf(buf, room, "%llu.%llu s", s, ms % 1000 / 100);
	else if (s < 3600)
		snprintf(buf, room, "%llu min %02llu s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, room, "%llu h %02llu min", s / 3600, s / 60 % 60);
	else
		snprintf(buf, room, "%llu d %02llu h", s / 86400, s / 3600 % 24);
	return buf;
}

static void log_change(struct fm *fm, const struct fm_link_change *l)
{
	const struct torus_shape *shape = &fm->table.shape;
	char node[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	char end[TORUS_TEXT_MAX], was[32], text[FM_TEXT_MAX];
	const struct fm_log line = {
		.level = l->up || l->excluded ? FM_INFO : FM_WARNING, .kind = "link",
		.text = text, .link = l,
	};

	snprintf(text, sizeof(text), "%s:%s ('%s') to %s:%s ('%s') is %s%s%s%s%s%s",
		 torus_node_text(shape, l->node, node),
		 torus_port_text(shape->ndims, l->port, port), l->name,
		 torus_node_text(shape, l->peer, peer),
		 torus_port_text(shape->ndims, l->peer_port, end), l->peer_name,
		 l->up ? "up again" : "lost", l->reason ? ": " : "", l->reason ? l->reason : "",
		 l->was_for ? ", after " : "", l->was_for && l->at_least ? "at least " : "",
		 l->was_for ? time_text(l->was_for, was, sizeof(was)) : "");
	fm->ops.log(fm->io, &line);
}

void fm_cables_log(struct fm *fm)
{
	struct fm_cables *c = fm->root->cables;

	for (uint32_t i = 0; i < c->nfound; i++)
		log_change(fm, &c->found[i]);
	c->nfound = 0;
}

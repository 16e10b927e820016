// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of a growth alone (daemon/fm/grow/growth.c), in a network that loses nothing: no
 * confirmations, repeats, numbers and release. A model for tests.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel/core/splitmix64.h"
#include "tests/unit/naive_grow.h"

#define NO_PORT 0xff

/** struct naive_node - a node; @asked: of each link, nodes that were asked for and not answered */
struct naive_node {
	bool member;
	uint8_t up;		/* port of the parent; NO_PORT at the root */
	uint16_t open;		/* links by which the node may ask */
	uint32_t asked[TORUS_MAX_PORTS];
	uint32_t added;		/* members that were added since the last DONE */
	uint32_t waits;		/* nodes to be shared when all is answered */
	uint64_t last[TORUS_MAX_PORTS];	/* time at which the last message by each link arrives */
};

/** struct naive_mail - a message under way */
struct naive_mail {
	uint32_t to, n;
	uint8_t port;
	enum fm_growth_kind what;
};

/**
 * struct naive_slot - messages that arrive at the same time, in the order in which they were
 * sent
 */
struct naive_slot {
	struct naive_mail *mail;
	uint32_t n, room;
};

/** struct naive_sim - a run; @slot: a ring of @slots times */
struct naive_sim {
	const struct grow_case *c;
	struct grow_result *out;
	struct naive_node *node;
	struct naive_slot *slot;
	uint32_t slots, under_way;
	uint64_t now, seed;
	unsigned int ports;
	bool failed;		/* out of memory */
};

static void naive_send_mail(struct naive_sim *s, uint32_t from, unsigned int port,
			    enum fm_growth_kind what, uint32_t n)
{
	uint64_t *last = &s->node[from].last[port], at = s->now + 1;
	struct naive_slot *slot;

	if (s->c->jitter)
		at += splitmix64_mix(s->seed += SPLITMIX64_STEP) % (s->c->jitter + 1u);
	if (at < *last)
		at = *last;
	*last = at;
	slot = &s->slot[at % s->slots];
	if (slot->n == slot->room) {
		uint32_t room = slot->room ? 2 * slot->room : 64;
		struct naive_mail *mail = realloc(slot->mail, room * sizeof(*mail));

		if (!mail) {
			s->failed = true;
			return;
		}
		slot->mail = mail;
		slot->room = room;
	}
	slot->mail[slot->n++] = (struct naive_mail){
		.to = torus_neighbour(&s->c->shape, from, port), .n = n,
		.port = (uint8_t)torus_dir_opposite(&s->c->shape, port), .what = what };
	s->under_way++;
	s->out->messages[what]++;
}

static bool naive_awaits_answers(const struct naive_sim *s, const struct naive_node *v)
{
	for (unsigned int p = 0; p < s->ports; p++)
		if (v->asked[p])
			return true;
	return false;
}

/* Tells the parent what was added. */
static void naive_report_members(struct naive_sim *s, uint32_t id)
{
	struct naive_node *v = &s->node[id];

	if (v->added && v->up == NO_PORT)
		s->out->counted += v->added;
	else if (v->added)
		naive_send_mail(s, id, v->up, FM_GROWTH_COMPLETE, v->added);
	v->added = 0;
}

/* Asks by all open links for @n nodes together, or says that there is no way. */
static void naive_share_nodes(struct naive_sim *s, uint32_t id, uint32_t n)
{
	struct naive_node *v = &s->node[id];
	uint32_t links = (uint32_t)__builtin_popcount(v->open), rest = links ? n % links : 0;

	v->waits = 0;
	if (!links && naive_awaits_answers(s, v)) {
		v->waits = n;
		return;
	}
	if (!links) {
		naive_report_members(s, id);
		if (v->up == NO_PORT)
			s->out->missing += n;
		else
			naive_send_mail(s, id, v->up, FM_GROWTH_DEAD_END, n);
		return;
	}
	for (unsigned int p = 0; p < s->ports; p++) {
		uint32_t part = n / links;

		if (!(v->open >> p & 1))
			continue;
		part += rest > 0;
		rest -= rest > 0;
		v->asked[p] += part;
		if (part)
			naive_send_mail(s, id, p, FM_GROWTH_PROPAGATE, part);
	}
}

/* When all questions are answered: shares what waits, or reports. */
static void naive_settle_node(struct naive_sim *s, uint32_t id)
{
	struct naive_node *v = &s->node[id];

	if (naive_awaits_answers(s, v))
		return;
	if (v->waits)
		naive_share_nodes(s, id, v->waits);
	else
		naive_report_members(s, id);
}

/* Makes a node a member. @port: of its parent. */
static void naive_join_part(struct naive_sim *s, uint32_t id, uint8_t port, uint32_t n)
{
	struct naive_node *v = &s->node[id];

	v->member = true;
	v->up = port;
	v->added = 1;
	s->out->members++;
	for (unsigned int p = 0; p < s->ports; p++) {
		uint32_t to = torus_neighbour(&s->c->shape, id, p);

		if (p != port && to != id && !s->c->dead[to])
			v->open |= (uint16_t)(1u << p);
	}
	if (n > 1)
		naive_share_nodes(s, id, n - 1);
	else
		naive_report_members(s, id);
}

static void naive_take_mail(struct naive_sim *s, const struct naive_mail *m)
{
	struct naive_node *v = &s->node[m->to];

	switch (m->what) {
	case FM_GROWTH_PROPAGATE:
		if (!v->member) {
			naive_join_part(s, m->to, m->port, m->n);
		} else if (m->port == v->up) {
			naive_share_nodes(s, m->to, v->waits + m->n);
		} else {
			v->open &= (uint16_t)~(1u << m->port);
			naive_send_mail(s, m->to, m->port, FM_GROWTH_REFUSE, m->n);
		}
		break;
	case FM_GROWTH_REFUSE:
	case FM_GROWTH_DEAD_END:
		v->asked[m->port] -= m->n;
		v->open &= (uint16_t)~(1u << m->port);
		naive_share_nodes(s, m->to, v->waits + m->n);
		break;
	default:
		v->asked[m->port] -= m->n;
		v->added += m->n;
		naive_settle_node(s, m->to);
	}
}

static void naive_run_until_silent(struct naive_sim *s)
{
	while (s->under_way && !s->failed) {
		struct naive_slot *slot = &s->slot[++s->now % s->slots];

		for (uint32_t i = 0; i < slot->n && !s->failed; i++) {
			struct naive_mail m = slot->mail[i];

			s->under_way--;
			naive_take_mail(s, &m);
			s->out->hop_times = s->now;
		}
		slot->n = 0;
	}
}

int naive_grow(const struct grow_case *c, struct grow_result *out)
{
	uint32_t nodes = torus_nodes(&c->shape);
	struct naive_sim s = { .c = c, .out = out, .seed = c->seed, .ports = 2u * c->shape.ndims,
		.slots = c->jitter + 2 };

	*out = (struct grow_result){ .over = true };
	s.node = calloc(nodes, sizeof(*s.node));
	s.slot = calloc(s.slots, sizeof(*s.slot));
	s.failed = !s.node || !s.slot;
	if (!s.failed) {
		naive_join_part(&s, 0, NO_PORT, c->ask);
		naive_run_until_silent(&s);
	}
	for (uint32_t id = 0; s.node && id < nodes; id++)
		out->over &= !naive_awaits_answers(&s, &s.node[id]) && !s.node[id].waits &&
			     !s.node[id].added;
	for (uint32_t i = 0; s.slot && i < s.slots; i++)
		free(s.slot[i].mail);
	free(s.slot);
	free(s.node);
	return s.failed ? -ENOMEM : 0;
}

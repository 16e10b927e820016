// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "grow_run.h"
#include "kernel/core/splitmix64.h"

#define NO_PORT 0xff

/** struct grow_node - a node; @asked: of each link, nodes that were asked for and not answered */
struct grow_node {
	bool member;
	uint8_t up;		/* port of the parent; NO_PORT at the root */
	uint16_t open;		/* links by which it may ask */
	uint32_t asked[TORUS_MAX_PORTS];
	uint32_t added;		/* members since the last DONE */
	uint32_t waits;		/* nodes to be shared when all is answered */
	uint64_t last[TORUS_MAX_PORTS];	/* when the last message by a link arrives */
};

/** struct grow_mail - a message under way */
struct grow_mail {
	uint32_t to, n;
	uint8_t port;
	enum grow_message what;
};

/** struct grow_slot - messages that arrive at the same time, in the order in which they were sent */
struct grow_slot {
	struct grow_mail *mail;
	uint32_t n, room;
};

/** struct grow_sim - a run; @slot: a ring of @slots times */
struct grow_sim {
	const struct grow_case *c;
	struct grow_result *out;
	struct grow_node *node;
	struct grow_slot *slot;
	uint32_t slots, under_way;
	uint64_t now, seed;
	unsigned int ports;
	bool failed;		/* out of memory */
};

static void send_mail(struct grow_sim *s, uint32_t from, unsigned int port, enum grow_message what,
		      uint32_t n)
{
	uint64_t *last = &s->node[from].last[port], at = s->now + 1;
	struct grow_slot *slot;

	if (s->c->jitter)
		at += splitmix64_mix(s->seed += SPLITMIX64_STEP) % (s->c->jitter + 1u);
	if (at < *last)
		at = *last;
	*last = at;
	slot = &s->slot[at % s->slots];
	if (slot->n == slot->room) {
		uint32_t room = slot->room ? 2 * slot->room : 64;
		struct grow_mail *mail = realloc(slot->mail, room * sizeof(*mail));

		if (!mail) {
			s->failed = true;
			return;
		}
		slot->mail = mail;
		slot->room = room;
	}
	slot->mail[slot->n++] = (struct grow_mail){
		.to = torus_neighbour(&s->c->shape, from, port), .n = n,
		.port = (uint8_t)torus_dir_opposite(&s->c->shape, port), .what = what };
	s->under_way++;
	s->out->messages[what]++;
}

static bool awaits_answers(const struct grow_sim *s, const struct grow_node *v)
{
	for (unsigned int p = 0; p < s->ports; p++)
		if (v->asked[p])
			return true;
	return false;
}

/* Tells the parent what was added. */
static void report_members(struct grow_sim *s, uint32_t id)
{
	struct grow_node *v = &s->node[id];

	if (v->added && v->up == NO_PORT)
		s->out->counted += v->added;
	else if (v->added)
		send_mail(s, id, v->up, GROW_DONE, v->added);
	v->added = 0;
}

/* Asks by all open links for @n nodes together, or says that there is no way. */
static void share_nodes(struct grow_sim *s, uint32_t id, uint32_t n)
{
	struct grow_node *v = &s->node[id];
	uint32_t links = (uint32_t)__builtin_popcount(v->open), rest = links ? n % links : 0;

	v->waits = 0;
	if (!links && awaits_answers(s, v)) {
		v->waits = n;
		return;
	}
	if (!links) {
		report_members(s, id);
		if (v->up == NO_PORT)
			s->out->missing += n;
		else
			send_mail(s, id, v->up, GROW_DEAD, n);
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
			send_mail(s, id, p, GROW_PROPAGATE, part);
	}
}

/* When all questions are answered: shares what waits, or reports. */
static void settle_node(struct grow_sim *s, uint32_t id)
{
	struct grow_node *v = &s->node[id];

	if (awaits_answers(s, v))
		return;
	if (v->waits)
		share_nodes(s, id, v->waits);
	else
		report_members(s, id);
}

/* Makes a node a member. @port: of its parent. */
static void join_part(struct grow_sim *s, uint32_t id, uint8_t port, uint32_t n)
{
	struct grow_node *v = &s->node[id];

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
		share_nodes(s, id, n - 1);
	else
		report_members(s, id);
}

static void take_mail(struct grow_sim *s, const struct grow_mail *m)
{
	struct grow_node *v = &s->node[m->to];

	switch (m->what) {
	case GROW_PROPAGATE:
		if (!v->member) {
			join_part(s, m->to, m->port, m->n);
		} else if (m->port == v->up) {
			share_nodes(s, m->to, v->waits + m->n);
		} else {
			v->open &= (uint16_t)~(1u << m->port);
			send_mail(s, m->to, m->port, GROW_REFUSE, m->n);
		}
		break;
	case GROW_REFUSE:
	case GROW_DEAD:
		v->asked[m->port] -= m->n;
		v->open &= (uint16_t)~(1u << m->port);
		share_nodes(s, m->to, v->waits + m->n);
		break;
	default:
		v->asked[m->port] -= m->n;
		v->added += m->n;
		settle_node(s, m->to);
	}
}

static void run_until_silent(struct grow_sim *s)
{
	while (s->under_way && !s->failed) {
		struct grow_slot *slot = &s->slot[++s->now % s->slots];

		for (uint32_t i = 0; i < slot->n && !s->failed; i++) {
			struct grow_mail m = slot->mail[i];

			s->under_way--;
			take_mail(s, &m);
			s->out->hop_times = s->now;
		}
		slot->n = 0;
	}
}

int grow_run(const struct grow_case *c, struct grow_result *out)
{
	uint32_t nodes = torus_nodes(&c->shape);
	struct grow_sim s = { .c = c, .out = out, .seed = c->seed, .ports = 2u * c->shape.ndims,
		.slots = c->jitter + 2 };

	*out = (struct grow_result){ .over = true };
	s.node = calloc(nodes, sizeof(*s.node));
	s.slot = calloc(s.slots, sizeof(*s.slot));
	s.failed = !s.node || !s.slot;
	if (!s.failed) {
		join_part(&s, 0, NO_PORT, c->ask);
		run_until_silent(&s);
	}
	for (uint32_t id = 0; s.node && id < nodes; id++)
		out->over &= !awaits_answers(&s, &s.node[id]) && !s.node[id].waits && !s.node[id].added;
	for (uint32_t i = 0; s.slot && i < s.slots; i++)
		free(s.slot[i].mail);
	free(s.slot);
	free(s.node);
	return s.failed ? -ENOMEM : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "daemon/fm/grow/edge.h"
#include "grow_run.h"
#include "kernel/core/splitmix64.h"

/** struct grow_node - a node; @last: of each port, when the last message by it arrives */
struct grow_node {
	struct fm_growth growth;
	struct grow_sim *sim;
	uint64_t last[TORUS_MAX_PORTS];
};

/** struct grow_mail - a message under way */
struct grow_mail {
	uint32_t to;
	uint8_t port;
	struct fm_growth_msg msg;
};

/**
 * struct grow_slot - messages that arrive at the same time, in the order in which they were sent
 */
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
	bool failed;		/* out of memory */
};

/* Return: a message's room among those that arrive at @at; NULL if there is no memory. */
static struct grow_mail *add_mail(struct grow_sim *s, uint64_t at)
{
	struct grow_slot *slot = &s->slot[at % s->slots];

	if (slot->n == slot->room) {
		uint32_t room = slot->room ? 2 * slot->room : 64;
		struct grow_mail *mail = realloc(slot->mail, room * sizeof(*mail));

		if (!mail) {
			s->failed = true;
			return NULL;
		}
		slot->mail = mail;
		slot->room = room;
	}
	s->under_way++;
	return &slot->mail[slot->n++];
}

/*
 * Sends a message. Only messages of the search have jitter. Any other message arrives after one hop
 * time, but not before the messages that were sent over the same link before it.
 */
static void send_growth(void *arg, unsigned int port, const struct fm_growth_msg *m)
{
	struct grow_node *v = arg;
	struct grow_sim *s = v->sim;
	uint32_t from = (uint32_t)(v - s->node);
	uint64_t at = s->now + 1;
	struct grow_mail *mail;

	if (s->c->jitter && grow_searches(m->kind))
		at += splitmix64_mix(s->seed += SPLITMIX64_STEP) % (s->c->jitter + 1u);
	if (at < v->last[port])
		at = v->last[port];
	v->last[port] = at;
	mail = add_mail(s, at);
	if (!mail)
		return;
	*mail = (struct grow_mail) {
		.to = torus_neighbour(&s->c->shape, from, port), .msg = *m,
		.port = (uint8_t)torus_dir_opposite(&s->c->shape, port) };
	s->out->messages[m->kind]++;
}

static void note_stage(void *arg, enum fm_growth_stage stage)
{
	struct grow_node *v = arg;

	v->sim->out->members += stage == FM_GROWTH_GROWS;
}

static const struct fm_growth_ops growth_ops = { .send = send_growth, .changed = note_stage };

static void begin_nodes(struct grow_sim *s, uint32_t nodes)
{
	unsigned int ports = 2u * s->c->shape.ndims;
	const struct fm_growth_port up = { .up = true };

	for (uint32_t id = 0; id < nodes; id++) {
		struct grow_node *v = &s->node[id];

		v->sim = s;
		fm_growth_init(&v->growth, &growth_ops, v, id + 1, ports, 1);
		for (unsigned int p = 0; p < ports; p++) {
			uint32_t to = torus_neighbour(&s->c->shape, id, p);

			if (to != id && !s->c->dead[to])
				fm_growth_port(&v->growth, p, &up, 0);
		}
	}
}

/* No timer expires in this loop, because a hop takes 1 ns of the machines' time. */
static void run_until_silent(struct grow_sim *s)
{
	while (s->under_way && !s->failed) {
		struct grow_slot *slot = &s->slot[++s->now % s->slots];

		for (uint32_t i = 0; i < slot->n && !s->failed; i++) {
			struct grow_mail m = slot->mail[i];

			s->under_way--;
			fm_growth_receive(&s->node[m.to].growth, m.port, &m.msg, s->now);
			if (grow_searches(m.msg.kind))
				s->out->hop_times = s->now;
			s->out->end = s->now;
		}
		slot->n = 0;
	}
}

/* Counts the answers that no message has carried. They would follow soon after the end. */
static void count_owed_answers(struct grow_sim *s, uint32_t nodes)
{
	for (uint32_t id = 0; id < nodes; id++) {
		const struct fm_growth *g = &s->node[id].growth;

		for (unsigned int p = 0; p < g->ports; p++)
			s->out->messages[FM_GROWTH_ACK] += fm_edge_owes(&g->edge[p]);
	}
}

/* Return: true if all members run and have different numbers, or none is a member. */
static bool judge_end(const struct grow_sim *s, uint32_t nodes)
{
	uint32_t run = 0;
	uint64_t sum = 0;

	for (uint32_t id = 0; id < nodes; id++) {
		const struct fm_growth *g = &s->node[id].growth;

		if (g->stage != FM_GROWTH_RUNS && g->stage != FM_GROWTH_FREE)
			return false;
		if (g->stage == FM_GROWTH_RUNS) {
			sum += g->number;
			run++;
		}
	}
	if (s->out->missing)
		return !run;
	return run == s->c->ask && sum == (uint64_t)run * (run - 1) / 2;
}

int grow_run(const struct grow_case *c, struct grow_result *out)
{
	uint32_t nodes = torus_nodes(&c->shape);
	struct grow_sim s = { .c = c, .out = out, .seed = c->seed, .slots = c->jitter + 2 };
	const struct fm_growth_terms any = { 0 };

	*out = (struct grow_result){ 0 };
	s.node = calloc(nodes, sizeof(*s.node));
	s.slot = calloc(s.slots, sizeof(*s.slot));
	s.failed = !s.node || !s.slot;
	if (!s.failed) {
		begin_nodes(&s, nodes);
		s.failed = fm_growth_begin(&s.node[0].growth, 1, c->ask, &any, UINT64_MAX / 2, 0);
		run_until_silent(&s);
		count_owed_answers(&s, nodes);
		out->counted = s.node[0].growth.found;
		out->missing = c->ask - out->counted;
		out->over = judge_end(&s, nodes);
	}
	for (uint32_t i = 0; s.slot && i < s.slots; i++)
		free(s.slot[i].mail);
	free(s.slot);
	free(s.node);
	return s.failed ? -ENOMEM : 0;
}

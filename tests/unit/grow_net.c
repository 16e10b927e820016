// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/clock.h"
#include "tests/unit/grow_net.h"
#include "tests/unit/random.h"

#define HOP (100 * US)

static uint32_t id_of(const struct grow_net_node *v)
{
	return (uint32_t)(v - v->net->node);
}

static void post_mail(void *arg, unsigned int port, const struct fm_growth_msg *m)
{
	struct grow_net_node *v = arg;
	struct grow_net *t = v->net;
	uint64_t at = t->now + HOP + US * random_below(&t->seed, t->jitter + 1);

	if (t->loss && random_below(&t->seed, 1000) < t->loss)
		return;
	if (t->mails == GROW_NET_MAIL)
		abort();
	if (at < v->last[port])
		at = v->last[port];
	v->last[port] = at;
	t->mail[t->mails++] = (struct grow_net_mail) {
		.at = at, .order = t->order++, .from = id_of(v), .from_port = (uint8_t)port,
		.to = torus_neighbour(&t->shape, id_of(v), port),
		.port = (uint8_t)torus_dir_opposite(&t->shape, port), .msg = *m };
}

static void note_stage(void *arg, enum fm_growth_stage stage)
{
	struct grow_net_node *v = arg;

	if (stage == FM_GROWTH_GROWS)
		v->joined[v->growth.id.serial] = true;
	if (stage == FM_GROWTH_RELEASES)
		v->net->ended[v->growth.id.serial] |= 1u << v->growth.end.why;
}

static const struct fm_growth_ops net_ops = { .send = post_mail, .changed = note_stage };

static void begin_manager(struct grow_net *t, uint32_t id)
{
	struct grow_net_node *v = &t->node[id];
	uint32_t life = v->growth.life + 1000;
	struct fm_growth_port port[TORUS_MAX_PORTS];

	memcpy(port, v->growth.port, sizeof(port));
	fm_growth_init(&v->growth, &net_ops, v, id + 1, 2u * t->shape.ndims, life);
	for (unsigned int p = 0; p < v->growth.ports; p++)
		fm_growth_port(&v->growth, p, &port[p], t->now);
}

void grow_net_init(struct grow_net *t, const char *shape, uint64_t seed)
{
	memset(t, 0, sizeof(*t));
	if (torus_shape_parse(shape, &t->shape))
		abort();
	t->nodes = torus_nodes(&t->shape);
	t->seed = seed;
	t->now = 1;
	for (uint32_t id = 0; id < t->nodes; id++) {
		struct grow_net_node *v = &t->node[id];

		v->net = t;
		for (unsigned int p = 0; p < 2u * t->shape.ndims; p++)
			v->growth.port[p] = (struct fm_growth_port) {
				.up = torus_neighbour(&t->shape, id, p) != id,
				.rate = 100, .margin = 10 };
		begin_manager(t, id);
	}
}

int grow_net_begin(struct grow_net *t, uint32_t node, uint32_t serial, uint32_t total,
		   const struct fm_growth_terms *terms)
{
	return fm_growth_begin(&t->node[node].growth, serial, total, terms, 5000 * MS, t->now);
}

/* Return: when @at happens at @v, whose manager may hang. */
static uint64_t delayed(const struct grow_net_node *v, uint64_t at)
{
	return at == NEVER ? NEVER : later(at, v->hangs);
}

/* Return: when the timer of the node @id is due. */
static uint64_t timer_of(const struct grow_net *t, uint32_t id)
{
	const struct grow_net_node *v = &t->node[id];

	return v->dead ? NEVER : delayed(v, fm_growth_expiry(&v->growth));
}

/*
 * Handles the next message or timer, and sets in @due when the node's timer is due then. Return:
 * false if there is none by @until.
 */
static bool step_grow_net(struct grow_net *t, uint64_t until, uint64_t *due)
{
	uint64_t mail_at = NEVER, timer_at = NEVER;
	uint32_t first = 0, who = 0;

	for (uint32_t i = 0; i < t->mails; i++) {
		uint64_t at = delayed(&t->node[t->mail[i].to], t->mail[i].at);

		if (at > mail_at || (at == mail_at && t->mail[i].order > t->mail[first].order))
			continue;
		mail_at = at;
		first = i;
	}
	for (uint32_t id = 0; id < t->nodes; id++) {
		if (due[id] >= timer_at)
			continue;
		timer_at = due[id];
		who = id;
	}
	if (earlier(mail_at, timer_at) > until || earlier(mail_at, timer_at) == NEVER)
		return false;
	t->now = later(t->now, earlier(mail_at, timer_at));
	if (mail_at <= timer_at) {
		struct grow_net_mail m = t->mail[first];

		t->mail[first] = t->mail[--t->mails];
		t->seen++;
		who = m.to;
		fm_growth_receive(&t->node[who].growth, m.port, &m.msg, t->now);
	} else {
		fm_growth_due(&t->node[who].growth, t->now);
	}
	due[who] = timer_of(t, who);
	return true;
}

void grow_net_run(struct grow_net *t, uint64_t until, uint64_t seen)
{
	uint64_t due[GROW_NET_NODES];

	for (uint32_t id = 0; id < t->nodes; id++)
		due[id] = timer_of(t, id);
	while (t->seen < seen && step_grow_net(t, until, due))
		;
}

static void drop_mail(struct grow_net *t, uint32_t node, unsigned int port)
{
	for (uint32_t i = 0; i < t->mails;) {
		const struct grow_net_mail *m = &t->mail[i];

		if ((m->to == node && m->port == port) || (m->from == node && m->from_port == port))
			t->mail[i] = t->mail[--t->mails];
		else
			i++;
	}
}

void grow_net_set(struct grow_net *t, uint32_t node, unsigned int port,
		  const struct fm_growth_port *is)
{
	uint32_t peer = torus_neighbour(&t->shape, node, port);
	unsigned int far = torus_dir_opposite(&t->shape, port);

	if (!t->node[node].dead)
		fm_growth_port(&t->node[node].growth, port, is, t->now);
	if (!t->node[peer].dead)
		fm_growth_port(&t->node[peer].growth, far, is, t->now);
}

void grow_net_cut(struct grow_net *t, uint32_t node, unsigned int port)
{
	const struct fm_growth_port down = { 0 };

	t->faulty = true;
	drop_mail(t, node, port);
	if (torus_neighbour(&t->shape, node, port) != node)
		grow_net_set(t, node, port, &down);
}

void grow_net_kill(struct grow_net *t, uint32_t node)
{
	t->node[node].dead = true;
	for (unsigned int p = 0; p < 2u * t->shape.ndims; p++)
		grow_net_cut(t, node, p);
	memset(&t->node[node].growth, 0, sizeof(t->node[node].growth));
}

void grow_net_restart(struct grow_net *t, uint32_t node)
{
	struct grow_net_node *v = &t->node[node];

	if (v->dead)
		return;
	t->faulty = true;
	memset(v->joined, 0, sizeof(v->joined));
	begin_manager(t, node);
}

void grow_net_hang(struct grow_net *t, uint32_t node, uint64_t ns)
{
	t->faulty = true;
	t->node[node].hangs = t->now + ns;
}

static bool runs(const struct grow_net_node *v, uint32_t root, uint32_t serial)
{
	const struct fm_growth *g = &v->growth;

	return !v->dead && g->stage == FM_GROWTH_RUNS && g->id.guid == root + 1 &&
	       g->id.serial == serial;
}

uint32_t grow_net_running(const struct grow_net *t, uint32_t root, uint32_t serial)
{
	uint32_t n = 0;

	for (uint32_t id = 0; id < t->nodes; id++)
		n += runs(&t->node[id], root, serial);
	return n;
}

/* Cables of the node @id, which runs. */
static const char *judge_cables(const struct grow_net *t, uint32_t id)
{
	const struct fm_growth *g = &t->node[id].growth;

	for (unsigned int p = 0; p < g->ports; p++) {
		const struct grow_net_node *w = &t->node[torus_neighbour(&t->shape, id, p)];
		const struct fm_growth_edge *far =
			&w->growth.edge[torus_dir_opposite(&t->shape, p)];

		if (!g->port[p].up)
			continue;
		if (w->joined[g->id.serial] &&
		    !runs(w, (uint32_t)g->id.guid - 1, (uint32_t)g->id.serial))
			return "a member runs beside one that was released";
		if (p != g->up || !w->joined[g->id.serial])
			continue;
		if (far->received.done != fm_growth_subtree(g))
			return "a parent counts other members than are below its child";
		if (far->first != g->number)
			return "a number that the parent did not give";
	}
	return NULL;
}

/* Partitions that run: different numbers, and all of them if there were no faults. */
static const char *judge_numbers(const struct grow_net *t)
{
	for (uint32_t a = 0; a < t->nodes; a++) {
		const struct fm_growth *g = &t->node[a].growth;
		uint32_t root = (uint32_t)g->id.guid - 1, serial = (uint32_t)g->id.serial;

		if (t->node[a].dead || g->stage != FM_GROWTH_RUNS)
			continue;
		if (g->number >= g->total)
			return "a number above the last";
		if (!t->faulty && grow_net_running(t, root, serial) != g->total)
			return "not all members run";
		for (uint32_t b = 0; b < a; b++)
			if (runs(&t->node[b], root, serial) &&
			    t->node[b].growth.number == g->number)
				return "a number twice";
	}
	return NULL;
}

/* Why growths ended. A member that was released may be taken for one that started again. */
static const char *judge_whys(const struct grow_net *t)
{
	const unsigned int good = 1u << FM_GROWTH_TOO_FEW | 1u << FM_GROWTH_STOPPED;

	for (int i = 0; i < GROW_NET_SERIALS; i++) {
		if (t->ended[i] >> FM_GROWTH_FORGED & 1)
			return "a member called an honest neighbour a liar";
		if (!t->faulty && t->ended[i] &&
		    (!(t->ended[i] & good) || t->ended[i] & ~(good | 1u << FM_GROWTH_FORGOTTEN)))
			return "a growth ended without reason";
	}
	return NULL;
}

const char *grow_net_judge(const struct grow_net *t)
{
	for (uint32_t id = 0; id < t->nodes; id++) {
		const struct grow_net_node *v = &t->node[id];
		const char *wrong;

		if (v->dead)
			continue;
		if (v->growth.stage != FM_GROWTH_FREE && v->growth.stage != FM_GROWTH_RUNS)
			return "a member neither runs nor is released";
		if (v->growth.stage != FM_GROWTH_RUNS)
			continue;
		wrong = judge_cables(t, id);
		if (wrong)
			return wrong;
	}
	return judge_whys(t) ? judge_whys(t) : judge_numbers(t);
}

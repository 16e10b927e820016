// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptions of jobs. Which nodes belong to a job is in their entries, and the entries alone
 * decide on their rows: if there is no memory, only the description is lost.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/node/facts.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/status.h"
#include "lib/deps/invariant.h"

/* Return: index of the first job whose id is not below @id. */
static uint32_t find_job_place(const struct fm_jobs *s, uint16_t id)
{
	uint32_t i = 0;

	while (i < s->n && s->of[i].id < id)
		i++;
	return i;
}

bool fm_jobs_put(struct fm_jobs *s, const struct fm_job *j)
{
	uint32_t i = find_job_place(s, j->id);

	invariant(j->id && (i == s->n || s->of[i].id != j->id));
	if (s->n == s->room) {
		uint32_t room = 2 * s->room + 4;
		struct fm_job *of = realloc(s->of, room * sizeof(*of));

		if (!of)
			return false;
		s->of = of;
		s->room = room;
	}
	memmove(&s->of[i + 1], &s->of[i], (s->n++ - i) * sizeof(*s->of));
	s->of[i] = *j;
	return true;
}

void fm_jobs_drop(struct fm_jobs *s, uint16_t id)
{
	uint32_t i = find_job_place(s, id);

	if (i < s->n && s->of[i].id == id)
		memmove(&s->of[i], &s->of[i + 1], (--s->n - i) * sizeof(*s->of));
}

const struct fm_job *fm_jobs_find(const struct fm_jobs *s, uint16_t id)
{
	uint32_t i = find_job_place(s, id);

	return i < s->n && s->of[i].id == id ? &s->of[i] : NULL;
}

const struct fm_job *fm_jobs_named(const struct fm_jobs *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!strcmp(s->of[i].name, name))
			return &s->of[i];
	return NULL;
}

uint16_t fm_jobs_next(const struct fm_jobs *s)
{
	uint32_t id = 1;

	for (uint32_t i = 0; i < s->n && s->of[i].id == id; i++)
		id++;
	return id <= FM_JOBS_MAX ? (uint16_t)id : 0;
}

void fm_jobs_set(struct fm_jobs *s, const struct fm_job *of, uint32_t n)
{
	fm_jobs_free(s);
	s->of = n ? malloc(n * sizeof(*s->of)) : NULL;
	if (!s->of)
		return;
	memcpy(s->of, of, n * sizeof(*s->of));
	s->n = s->room = n;
}

void fm_jobs_free(struct fm_jobs *s)
{
	free(s->of);
	*s = (struct fm_jobs) { .n = 0 };
}

static bool is_same_job(const struct fm_job *a, const struct fm_job *b)
{
	return a->id == b->id && a->how == b->how && a->nodes == b->nodes && a->uid == b->uid &&
	       a->since == b->since && !strcmp(a->name, b->name) && !strcmp(a->by, b->by);
}

bool fm_jobs_same(const struct fm_jobs *a, const struct fm_jobs *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!is_same_job(&a->of[i], &b->of[i]))
			return false;
	return true;
}

uint64_t fm_jobs_sum(const struct fm_jobs *s, uint64_t sum)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct fm_job *j = &s->of[i];

		sum = fm_mix(fm_mix(fm_mix(fm_mix(sum + j->id) + j->how) + j->nodes) + j->uid);
		sum = fm_mix_text(fm_mix_text(fm_mix(sum + j->since), j->name), j->by);
	}
	return sum;
}

void fm_jobs_close(const struct fm_table *t, const bool *member, uint16_t *closed)
{
	uint16_t all = (uint16_t)((1u << 2 * t->shape.ndims) - 1);

	for (uint32_t i = 0; i < t->nodes; i++) {
		closed[i] = member[i] ? t->closed[i] & all : all;
		for (unsigned int p = 0; member[i] && p < 2u * t->shape.ndims; p++)
			if (!member[torus_neighbour(&t->shape, i, p)])
				closed[i] |= (uint16_t)(1u << p);
	}
}

/*
 * Return: true if @e is of a node whose NIC works, and which is in service: an administrator who
 * excludes a node as a whole knows that it has no links, so it is not part of its job.
 */
static bool can_be_part(const struct fm_table *t, const struct fm_entry *e)
{
	return (e->state == FM_NODE_UP || e->state == FM_NODE_SILENT) &&
	       !fm_is_out_of_service(&t->shape, e->admin);
}

/**
 * struct job_walk - a search over the cables of jobs; @queue: the @n nodes that were found
 */
struct job_walk {
	const struct fm_table *t;
	bool *met;
	uint32_t *queue, n;
};

static void meet_node(struct job_walk *w, uint32_t node)
{
	w->met[node] = true;
	w->queue[w->n++] = node;
}

/* Finds all nodes that cables of its job join with @node. */
static void walk_part(struct job_walk *w, uint32_t node)
{
	const struct fm_table *t = w->t;

	w->n = 0;
	meet_node(w, node);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t at = w->queue[i];

		for (unsigned int p = 0; p < 2u * t->shape.ndims; p++) {
			uint32_t far = torus_neighbour(&t->shape, at, p);

			if (!(t->closed[at] & 1u << p) && !w->met[far] &&
			    t->entry[far].job == t->entry[at].job)
				meet_node(w, far);
		}
	}
}

bool fm_jobs_count(const struct fm_table *t, struct fm_job_count *count)
{
	struct job_walk w = {
		.t = t, .met = calloc(t->nodes + 1, sizeof(*w.met)),
		.queue = malloc((t->nodes + 1) * sizeof(*w.queue)),
	};
	bool enough = w.met && w.queue;

	memset(count, 0, (FM_JOBS_MAX + 1) * sizeof(*count));
	for (uint32_t i = 0; enough && i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];

		if (!e->job || e->job > FM_JOBS_MAX)
			continue;
		count[e->job].up += e->state == FM_NODE_UP && can_be_part(t, e);
		if (w.met[i] || !can_be_part(t, e))
			continue;
		count[e->job].parts++;
		walk_part(&w, i);
	}
	free(w.met);
	free(w.queue);
	return enough;
}

/* Adds the cables of the job that do not work, between parts (@between) or to other nodes of it. */
static uint32_t list_severed(const struct fm_table *t, uint16_t id, struct torus_health *job,
			     bool between, struct torus_cable *cable, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nodes; i++) {
		for (unsigned int d = 0; t->entry[i].job == id && d < t->shape.ndims; d++) {
			uint32_t far = torus_neighbour(&t->shape, i, d);

			if (t->entry[far].job != id ||
			    torus_health_component(job, i) == torus_health_component(job, far) ||
			    between != (can_be_part(t, &t->entry[i]) &&
					can_be_part(t, &t->entry[far])))
				continue;
			if (n < max)
				cable[n] = (struct torus_cable) { .node = i, .dim = (uint8_t)d };
			n++;
		}
	}
	return n;
}

uint32_t fm_jobs_severed(const struct fm_table *t, uint16_t id, struct torus_cable *cable,
			 uint32_t max)
{
	bool *member = calloc(t->nodes + 1, sizeof(*member));
	uint16_t *closed = malloc((t->nodes + 1) * sizeof(*closed));
	struct torus_health *job = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; member && i < t->nodes; i++)
		member[i] = t->entry[i].job == id;
	if (member && closed) {
		fm_jobs_close(t, member, closed);
		if (!torus_health_new(&t->shape, closed, &job)) {
			n = list_severed(t, id, job, true, cable, max);
			n = n ? n : list_severed(t, id, job, false, cable, max);
		}
	}
	torus_health_free(job);
	free(member);
	free(closed);
	return n;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: jobs that grow
 *
 * The root names the first node and the number of members; the nodes find each other without it
 * (node/grower.c, ../grow/growth.c). Each member reports itself, and when the root knows all of
 * them, it begins the job as one of a list: it checks that they are free and joined, and gives them
 * their numbers (box.c). The numbers of the growth only show here which members are missing.
 *
 * The root does not depend on the members. It takes only reports about growths that it has ordered,
 * and each growth ends: with all members, with the report of its end, or at @until. If the job does
 * not begin, the root orders the members to leave. That order may be lost; members then leave by
 * themselves (HOLD in node/grower.c).
 *
 * Another job may begin at members of a growth meanwhile. They leave it, so it can no longer have
 * all of them: the root ends it then, and at the report of a member that already belongs to a job.
 *
 * Two growths may take nodes from each other, and both find too few. A growth that met busy nodes
 * while another one was under way is tried again after a random time.
 *
 * Tests: tests/unit/test_fm_grown.c, tests/sim/test_job_grow.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/grown.h"
#include "daemon/fm/grow/facts.h"
#include "daemon/fm/node/grower.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/box.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/job.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define TERMS_MAX 80	/* bytes of the text of describe_terms() */
#define GROWTHS_MAX 16		/* jobs that grow at a time, and those that have just ended */
#define LIMIT (1500 * MS)	/* of a growth; answers to users wait 2 s */
#define LIMIT_FIRST_MS 1200u	/* limit of the first member, so that it can report the reason */
#define REPEAT (250 * MS)	/* GROW is repeated after this time without any report */
#define AGAIN_MIN (10 * MS)	/* wait until a growth is tried again: random, up to AGAIN_MAX */
#define AGAIN_MAX (80 * MS)
#define KEEP (10 * SEC)		/* how long the end of a growth can be asked for */

/**
 * struct growth - a job that grows, or did not long ago
 * @want: its @list is not used
 * @shape: of the fabric, by which nodes have these numbers
 * @order: the order to the first node; its @serial is 0 until the next attempt begins
 * @began: when that was first sent in the present attempt
 * @member: by number: node id + 1 of the member; 0: it has not reported. NULL: the growth has ended
 * @members: number of those that have reported; @met: any node has reported
 * @at: when the order is sent, for the first time or again; NEVER
 * @until: when it is given up; after its end: when it is forgotten
 * @result: as fm_job_growth(); @why: the reason
 */
struct growth {
	struct fm_job job;
	struct fm_job_want want;
	struct torus_shape shape;
	struct fm_grow_msg order;
	uint64_t began;
	uint32_t *member, members;
	uint64_t at, until;
	int result;
	char why[FM_TEXT_MAX];
};

struct fm_grown {
	unsigned int n;
	struct growth of[GROWTHS_MAX];
};

bool fm_grown_new(struct fm_root *r)
{
	r->grown = calloc(1, sizeof(*r->grown));
	return r->grown;
}

void fm_grown_free(struct fm_root *r)
{
	for (unsigned int i = 0; r->grown && i < r->grown->n; i++)
		free(r->grown->of[i].member);
	free(r->grown);
}

static struct growth *find_growth(const struct fm *fm, const char *name)
{
	struct fm_grown *s = fm->root->grown;

	for (unsigned int i = 0; i < s->n; i++)
		if (!strcmp(s->of[i].job.name, name))
			return &s->of[i];
	return NULL;
}

static void remove_growth(struct fm_grown *s, struct growth *g)
{
	free(g->member);
	*g = s->of[--s->n];
}

/* Return: number of growths that have not ended. */
static unsigned int count_growing(const struct fm_grown *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n; i++)
		n += s->of[i].result == -EINPROGRESS;
	return n;
}

/* --- attempts -------------------------------------------------------------------------- */

/* Orders the members to leave the present attempt. */
static void release_members(struct fm *fm, struct growth *g)
{
	struct fm_grow_msg over = { .term = fm->term, .guid = g->order.guid };

	over.serial = g->order.serial;
	g->order.serial = 0;
	if (over.serial)
		fm_grower_order(fm, &over);
}

static void finish_growth(struct fm *fm, struct growth *g, int err)
{
	if (err)
		release_members(fm, g);
	free(g->member);
	g->member = NULL;
	g->result = err;
	g->at = NEVER;
	g->until = fm->now + KEEP;
	/* Too few free nodes are no fault of the fabric: as with a box, only the user is told. */
	if (err && err != -ENOSPC && err != -EBUSY)
		fm_log(fm, FM_WARNING, "job", "job '%s' did not grow: %s", g->job.name, g->why);
}

/* Sends the order; the first time with a new number. */
static void send_order(struct fm *fm, struct growth *g)
{
	const struct fm_record *m = fm_record_at(fm->root, g->want.at);

	if (!m || !m->via) {
		snprintf(g->why, sizeof(g->why), "the manager of the first node was lost");
		finish_growth(fm, g, -EHOSTUNREACH);
		return;
	}
	if (!g->order.serial)
		g->began = fm->now;
	while (!g->order.serial)
		g->order.serial = fm_random(fm);
	g->order.term = fm->term;
	g->order.guid = m->guid;
	g->at = fm->now + REPEAT;
	fm_grower_order(fm, &g->order);
}

static bool may_grow_again(const struct fm *fm, const struct growth *g,
			   const struct fm_grown_msg *m)
{
	return !m->err && m->why == FM_GROWTH_TOO_FEW && m->met & FM_GROWTH_MET_BUSY &&
	       count_growing(fm->root->grown) > 1 && fm->now + AGAIN_MAX < g->until;
}

static void grow_again(struct fm *fm, struct growth *g)
{
	release_members(fm, g);
	memset(g->member, 0, g->want.nodes * sizeof(*g->member));
	g->members = 0;
	g->at = fm->now + AGAIN_MIN + fm_random(fm) % (AGAIN_MAX - AGAIN_MIN);
}

/* --- reasons --------------------------------------------------------------------------- */

/* Writes what the members needed, if anything: " with 2 links of 10000 Mb/s and margin 120%" */
static void describe_terms(const struct fm_job_want *w, char text[TERMS_MAX])
{
	size_t n;

	*text = '\0';
	if (!w->links && !w->rate && !w->margin)
		return;
	n = (size_t)snprintf(text, TERMS_MAX, " with %u link%s", w->links ? w->links : 1,
			     w->links > 1 ? "s" : "");
	if (w->rate)
		n += (size_t)snprintf(text + n, TERMS_MAX - n, " of %u Mb/s", w->rate);
	if (w->margin)
		snprintf(text + n, TERMS_MAX - n, " and margin %u%%", w->margin);
}

/* Explains an error of the first member when it began. */
static int explain_refusal(const struct fm *fm, struct growth *g, uint32_t err)
{
	char node[TORUS_TEXT_MAX], terms[TERMS_MAX];

	torus_node_text(&fm->table.shape, g->want.at, node);
	describe_terms(&g->want, terms);
	if (err == EBUSY)
		snprintf(g->why, sizeof(g->why), "node %s belongs to a job or to another growth, "
			 "or is out of service", node);
	else if (err == ENOLINK)
		snprintf(g->why, sizeof(g->why), "node %s is not one%s", node, terms);
	else
		snprintf(g->why, sizeof(g->why), "node %s: %s", node, strerror((int)err));
	return err == EBUSY ? -EBUSY : -ENOSPC;
}

/* Writes the node and the port at which a growth has ended: "node 1,0 at +x". */
static void name_growth_end(const struct fm *fm, const struct fm_grown_msg *m, char *text,
			    size_t room)
{
	char port[TORUS_TEXT_MAX], node[FM_WHO_MAX];

	fm_table_name(fm, m->at, node);
	if (m->port < 2 * fm->table.shape.ndims)
		snprintf(text, room, "node %s at %s", node,
			 torus_port_text(fm->table.shape.ndims, m->port, port));
	else
		snprintf(text, room, "node %s", node);
}

/* Explains why the growth has ended. Return: the negative errno */
static int explain_end(const struct fm *fm, struct growth *g, const struct fm_grown_msg *m)
{
	char at[FM_WHO_MAX + TORUS_TEXT_MAX + 16], terms[TERMS_MAX];
	const char *busy = m->met & FM_GROWTH_MET_BUSY ? "; other nodes there are in jobs, or out "
			   "of service" : "";

	name_growth_end(fm, m, at, sizeof(at));
	describe_terms(&g->want, terms);
	switch (m->why) {
	case FM_GROWTH_TOO_FEW:
		snprintf(g->why, sizeof(g->why), "only %u of %u nodes%s were found that are free%s",
			 m->found, g->want.nodes, terms, busy);
		return -ENOSPC;
	case FM_GROWTH_LATE:
		snprintf(g->why, sizeof(g->why), "the nodes behind %s had not all answered after "
			 "%u ms", at, LIMIT_FIRST_MS);
		return -ETIMEDOUT;
	case FM_GROWTH_LOST:
		snprintf(g->why, sizeof(g->why), "%s lost its link meanwhile: try again", at);
		return -EAGAIN;
	case FM_GROWTH_SILENT:
		snprintf(g->why, sizeof(g->why), "the neighbour of %s does not answer: its fabricd "
			 "hangs, or is of an earlier release", at);
		return -ETIMEDOUT;
	case FM_GROWTH_FORGOTTEN:
		snprintf(g->why, sizeof(g->why), "the neighbour of %s started again meanwhile: try "
			 "again", at);
		return -EAGAIN;
	default:
		snprintf(g->why, sizeof(g->why), "%s ended it", at);
		return -EPROTO;
	}
}

/* --- members --------------------------------------------------------------------------- */

static void log_growth(struct fm *fm, const struct growth *g)
{
	uint64_t us = (fm->now - g->began) / US;

	fm_log(fm, FM_INFO, "job", "job '%s' grew: its %u node%s found in %llu.%03llu ms",
	       g->job.name, g->want.nodes, g->want.nodes == 1 ? " was" : "s were",
	       (unsigned long long)(us / 1000), (unsigned long long)(us % 1000));
}

/* Called when all members are known: begins the job, if its nodes can still be used. */
static void start_grown_job(struct fm *fm, struct growth *g)
{
	struct fm_job_want list = {
		.how = FM_JOB_LIST, .nodes = g->want.nodes, .at = TORUS_NO_NODE, .list = g->member,
	};
	uint32_t *node = malloc(g->want.nodes * sizeof(*node));
	int err = node ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < g->want.nodes; i++)
		g->member[i]--;
	if (!err)
		err = fm_box_choose(fm, &list, node, g->why);
	else
		snprintf(g->why, sizeof(g->why), "no memory");
	if (!err) {
		err = fm_job_begin(fm, &g->job, node);
		if (err)
			snprintf(g->why, sizeof(g->why), "the job cannot begin: %s",
				 strerror(-err));
	}
	if (!err)
		log_growth(fm, g);
	free(node);
	finish_growth(fm, g, err);
	fm_grown_look(fm);
}

/* Ends a growth whose member @node was given to another job. */
static void lose_member(struct fm *fm, struct growth *g, uint32_t node)
{
	char at[TORUS_TEXT_MAX];

	snprintf(g->why, sizeof(g->why), "node %s was given to another job meanwhile: try again",
		 torus_node_text(&fm->table.shape, node, at));
	finish_growth(fm, g, -EBUSY);
}

void fm_grown_look(struct fm *fm)
{
	struct fm_grown *s = fm->root->grown;

	for (unsigned int i = 0; i < s->n; i++) {
		struct growth *g = &s->of[i];

		for (uint32_t k = 0; g->member && k < g->want.nodes; k++)
			if (g->member[k] && fm->root->seat[g->member[k] - 1].job)
				lose_member(fm, g, g->member[k] - 1);
	}
}

static void take_member(struct fm *fm, struct growth *g, const struct fm_grown_msg *m)
{
	const struct fm_record *r = fm_record(fm->root, m->guid);

	if (!r || r->node == TORUS_NO_NODE || m->number >= g->want.nodes || g->member[m->number])
		return;
	if (fm->root->seat[r->node].job) {
		lose_member(fm, g, r->node);
		return;
	}
	g->member[m->number] = r->node + 1;
	if (++g->members == g->want.nodes)
		start_grown_job(fm, g);
}

void fm_grown_take(struct fm *fm, const struct fm_grown_msg *m)
{
	struct fm_grown *s = fm->root->grown;
	struct growth *g = NULL;

	for (unsigned int i = 0; i < s->n; i++)
		if (s->of[i].result == -EINPROGRESS && s->of[i].order.serial &&
		    s->of[i].order.serial == m->serial && s->of[i].order.guid == m->first)
			g = &s->of[i];
	if (!g)
		return;
	g->at = NEVER;
	if (memcmp(&g->shape, &fm->table.shape, sizeof(g->shape))) {
		snprintf(g->why, sizeof(g->why),
			 "the shape of the fabric has changed meanwhile: try again");
		finish_growth(fm, g, -EAGAIN);
		return;
	}
	if (!m->ended)
		take_member(fm, g, m);
	else if (may_grow_again(fm, g, m))
		grow_again(fm, g);
	else
		finish_growth(fm, g, m->err ? explain_refusal(fm, g, m->err) :
					      explain_end(fm, g, m));
}

/* --- interface ------------------------------------------------------------------------- */

/*
 * Makes room for one more growth: forgets the one that ended first. Return: false if none has ended
 */
static bool make_room_for_growth(struct fm_grown *s)
{
	struct growth *old = NULL;

	if (s->n < GROWTHS_MAX)
		return true;
	for (unsigned int i = 0; i < s->n; i++)
		if (s->of[i].result != -EINPROGRESS && (!old || s->of[i].until < old->until))
			old = &s->of[i];
	if (old)
		remove_growth(s, old);
	return old;
}

int fm_grown_begin(struct fm *fm, const struct fm_job *job, const struct fm_job_want *want)
{
	struct fm_grown *s = fm->root->grown;
	struct growth *g = find_growth(fm, job->name);
	const struct fm_record *m;

	if (!fm->root->settled || !fm->table.version)
		return -EAGAIN;
	if (fm_jobs_named(&fm->root->jobs, job->name) || (g && g->result == -EINPROGRESS))
		return -EEXIST;
	if (!want->nodes || want->nodes > fm->table.nodes || want->at >= fm->table.nodes)
		return -EINVAL;
	m = fm_record_at(fm->root, want->at);
	if (!m || !m->via || m->state != FM_NODE_UP)
		return -EHOSTUNREACH;
	if (g)
		remove_growth(s, g);
	if (!make_room_for_growth(s))
		return -ENOSPC;
	g = &s->of[s->n];
	*g = (struct growth) {
		.job = *job, .want = *want, .shape = fm->table.shape, .result = -EINPROGRESS,
		.until = fm->now + LIMIT,
		.member = calloc(want->nodes, sizeof(*g->member)),
		.order = { .nodes = want->nodes, .links = want->links, .rate = want->rate,
			   .margin = want->margin, .limit_ms = LIMIT_FIRST_MS },
	};
	if (!g->member)
		return -ENOMEM;
	s->n++;
	send_order(fm, g);
	return 0;
}

int fm_grown_state(const struct fm *fm, const char *name, char *why)
{
	const struct growth *g = find_growth(fm, name);

	*why = '\0';
	if (!g)
		return -ENOENT;
	memcpy(why, g->why, FM_TEXT_MAX);
	return g->result;
}

void fm_grown_due(struct fm *fm)
{
	struct fm_grown *s = fm->root->grown;

	for (unsigned int i = s->n; i-- > 0;) {
		struct growth *g = &s->of[i];

		if (g->result != -EINPROGRESS) {
			if (g->until <= fm->now)
				remove_growth(s, g);
		} else if (g->until <= fm->now) {
			snprintf(g->why, sizeof(g->why), "%u of %u nodes had reported after %u ms",
				 g->members, g->want.nodes, (unsigned int)(LIMIT / MS));
			finish_growth(fm, g, -ETIMEDOUT);
		} else if (g->at <= fm->now) {
			send_order(fm, g);
		}
	}
}

uint64_t fm_grown_expiry(const struct fm *fm)
{
	const struct fm_grown *s = fm->root->grown;
	uint64_t at = NEVER;

	for (unsigned int i = 0; i < s->n; i++)
		at = earlier(at, earlier(s->of[i].at, s->of[i].until));
	return at;
}

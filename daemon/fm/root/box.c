// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes for a job: a box of the torus whose nodes are all free, or nodes that a list names.
 *
 * Boxes may cross the ends of a dimension. Of the boxes with as many nodes as are wanted, the one
 * with the fewest cables that lead out of it is taken, and of several places the one that begins at
 * the lowest node id. A box that faulty cables divide is not taken.
 *
 * The root does nothing else during the search, so its work is limited (WORK_MAX): for each form of
 * a box all nodes are looked at once for each dimension, and for each free box its own nodes once.
 * Where that is not enough, the forms that are left, which have the most cables out, are not tried.
 *
 * The nodes get the numbers of D(1,m)-addressing (torus_dm_new_torus()).
 *
 * Tests: tests/unit/test_fm_box.c, tests/sim/test_job.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/root/box.h"
#include "daemon/fm/status.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/facts.h"

#define TRIES 256	/* most free boxes that are tried, if faulty cables divide them */
#define WORK_MAX (8u << 20)	/* most steps of a search, from one node to the next; some 100 ms */

/* --- nodes that are not free ------------------------------------------------------------ */

/* Why a node cannot belong to a new job. */
enum obstacle { FREE, IN_JOB, NOT_UP, OUT_OF_SERVICE };

static enum obstacle find_obstacle(const struct fm *fm, uint32_t node)
{
	const struct fm_entry *e = &fm->table.entry[node];

	if (fm->root->seat[node].job)
		return IN_JOB;
	if (e->state != FM_NODE_UP)
		return NOT_UP;
	return fm_is_out_of_service(&fm->table.shape, e->admin) ? OUT_OF_SERVICE : FREE;
}

/* Writes the obstacle at @node, which is not free: "node 1,0 belongs to job 'a' of user 1000". */
static void describe_obstacle(const struct fm *fm, uint32_t node, char *text, size_t room)
{
	const struct fm_job *j = fm_jobs_find(&fm->root->jobs, fm->root->seat[node].job);
	enum obstacle o = find_obstacle(fm, node);
	char at[TORUS_TEXT_MAX], user[32] = "";

	torus_node_text(&fm->table.shape, node, at);
	if (j && j->uid != FM_NO_UID)
		snprintf(user, sizeof(user), " of user %u", j->uid);
	if (o == IN_JOB && j)
		snprintf(text, room, "node %s belongs to job '%s'%s", at, j->name, user);
	else
		snprintf(text, room, "node %s %s", at,
			 o == IN_JOB ? "belongs to another job" :
			 o == NOT_UP ? "is not up" : "is out of service");
}

/* --- numbers --------------------------------------------------------------------------- */

static struct torus_health *health_of_nodes(const struct fm *fm, const uint32_t *node, uint32_t n)
{
	uint32_t nodes = fm->table.nodes;
	bool *member = calloc(nodes, sizeof(*member));
	uint16_t *closed = malloc(nodes * sizeof(*closed));
	struct torus_health *h = NULL;

	for (uint32_t i = 0; member && i < n; i++)
		member[node[i]] = true;
	if (member && closed) {
		fm_jobs_close(&fm->table, member, closed);
		if (torus_health_new(&fm->table.shape, closed, &h))
			h = NULL;
	}
	free(member);
	free(closed);
	return h;
}

/* Return: a node to which no path leads from the first one; TORUS_NO_NODE if there is none. */
static uint32_t find_apart(struct torus_health *h, const uint32_t *node, uint32_t n)
{
	uint32_t first = torus_health_component(h, node[0]);

	for (uint32_t i = 1; i < n; i++)
		if (torus_health_component(h, node[i]) != first)
			return node[i];
	return TORUS_NO_NODE;
}

/* If the addresses need too many digits, the nodes keep their present order. */
static int number_component(struct torus_health *h, uint32_t *node, uint32_t n)
{
	struct torus_dm *dm;
	int err = torus_dm_new_torus(h, node[0], NULL, &dm);

	if (err)
		return err == -EOVERFLOW ? 0 : err;
	for (uint32_t i = 0; i < n; i++)
		node[i] = torus_dm_node(dm, torus_dm_number_vertex(dm, i));
	torus_dm_free(dm);
	return 0;
}

/*
 * Numbers the nodes of a job, so that near numbers are near nodes: sorts @node by number. Return:
 * 0; -ENOTCONN if their own cables do not join them, and @why names two nodes; -ENOMEM.
 */
static int number_members(const struct fm *fm, uint32_t *node, uint32_t n, char *why)
{
	const struct torus_shape *shape = &fm->table.shape;
	struct torus_health *h = health_of_nodes(fm, node, n);
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX];
	uint32_t apart;
	int err;

	snprintf(why, FM_TEXT_MAX, "no memory to number the nodes of the job");
	if (!h || torus_health_component(h, node[0]) == TORUS_NO_NODE) {
		torus_health_free(h);
		return -ENOMEM;
	}
	apart = find_apart(h, node, n);
	if (apart == TORUS_NO_NODE) {
		err = number_component(h, node, n);
	} else {
		snprintf(why, FM_TEXT_MAX, "the nodes %s and %s are not joined by links between "
			 "nodes of the job that work", torus_node_text(shape, node[0], a),
			 torus_node_text(shape, apart, b));
		err = -ENOTCONN;
	}
	torus_health_free(h);
	return err;
}

/* --- boxes ----------------------------------------------------------------------------- */

/**
 * struct box_search - the search for a box
 * @blocked: by node id: 1 if the node is not free
 * @inside: by node id: how many nodes are not free in the box that begins there
 * @line: the former numbers of a line of nodes
 * @seen: by node id: @mark if the node is in the box that is tried last, @mark + 1 if a walk has
 *	met it there; @queue: the nodes that the walk has met
 * @tries: free boxes that were tried; @apart: some of them were divided
 * @work: steps so far; @cut: there were too many to try all boxes
 */
struct box_search {
	const struct fm *fm;
	const struct fm_job_want *want;
	uint32_t *blocked, *inside, *line, *seen, *queue;
	uint32_t mark, work;
	unsigned int tries;
	bool apart, cut;
};

/* Return: true if @steps more are allowed, and counts them. */
static bool may_work(struct box_search *s, uint64_t steps)
{
	if (s->work + steps > WORK_MAX)
		s->cut = true;
	else
		s->work += (uint32_t)steps;
	return !s->cut;
}

static uint64_t cables_out(const struct torus_shape *shape, const uint16_t *size, uint32_t n)
{
	uint64_t out = 0;

	for (unsigned int d = 0; d < shape->ndims; d++)
		out += size[d] == shape->size[d] ? 0 : 2 * n / size[d];
	return out;
}

/* Sets @size to the first box of @n nodes. Return: false if there is none. */
static bool first_box(const struct torus_shape *shape, uint32_t n, unsigned int from,
		      uint16_t *size)
{
	if (from == shape->ndims)
		return n == 1;
	for (uint16_t s = shape->size[from]; s; s--) {
		if (n % s)
			continue;
		size[from] = s;
		if (first_box(shape, n / s, from + 1, size))
			return true;
	}
	return false;
}

/* Sets @size to the next box of as many nodes. Return: false if there is no other. */
static bool next_box(const struct torus_shape *shape, uint16_t *size)
{
	uint32_t n = 1;

	for (unsigned int d = shape->ndims; d--;) {
		n *= size[d];
		for (uint16_t s = (uint16_t)(size[d] - 1); s; s--) {
			if (n % s)
				continue;
			size[d] = s;
			if (first_box(shape, n / s, d + 1, size))
				return true;
		}
	}
	return false;
}

/*
 * Replaces each number by the sum of the @len numbers from it on in direction @d, where 0 follows
 * the last coordinate.
 */
static void sum_along(struct box_search *s, unsigned int d, uint32_t len)
{
	const struct torus_shape *shape = &s->fm->table.shape;
	uint32_t size = shape->size[d], step = size > 1 ? torus_neighbour(shape, 0, d) : 1;

	for (uint32_t i = 0; i < s->fm->table.nodes; i++) {
		uint32_t sum = 0;

		if (i / step % size)
			continue;
		for (uint32_t k = 0; k < size; k++)
			s->line[k] = s->inside[i + k * step];
		for (uint32_t k = 0; k < len; k++)
			sum += s->line[k];
		for (uint32_t k = 0; k < size; k++) {
			s->inside[i + k * step] = sum;
			sum += s->line[(k + len) % size] - s->line[k];
		}
	}
}

/* Lists the nodes of the box @size that begins at @from. */
static void list_box(const struct torus_shape *shape, uint32_t from, const uint16_t *size,
		     uint32_t *node)
{
	uint32_t n = 1;

	node[0] = from;
	for (unsigned int d = 0; d < shape->ndims; d++) {
		for (uint32_t i = n; i < n * size[d]; i++)
			node[i] = torus_neighbour(shape, node[i - n], d);
		n *= size[d];
	}
}

/*
 * A box that is as long as a dimension may begin only at the first node of the dimension, or at the
 * requested node.
 */
static bool may_begin(const struct box_search *s, uint32_t from, const uint16_t *size)
{
	const struct torus_shape *shape = &s->fm->table.shape;
	struct torus_coords at;

	if (s->inside[from])
		return false;
	if (s->want->at != TORUS_NO_NODE)
		return from == s->want->at;
	torus_node_coords(shape, from, &at);
	for (unsigned int d = 0; d < shape->ndims; d++)
		if (size[d] == shape->size[d] && at.c[d])
			return false;
	return true;
}

/* Return: true if the links between the nodes of the box, which work, join all of them. */
static bool is_box_joined(struct box_search *s, const uint32_t *node)
{
	const struct fm_table *t = &s->fm->table;
	uint32_t n = s->want->nodes, met = 1;

	s->mark += 2;
	for (uint32_t i = 0; i < n; i++)
		s->seen[node[i]] = s->mark;
	s->queue[0] = node[0];
	s->seen[node[0]]++;
	for (uint32_t i = 0; i < met; i++) {
		uint32_t at = s->queue[i];

		for (unsigned int p = 0; p < 2u * t->shape.ndims; p++) {
			uint32_t o = torus_neighbour(&t->shape, at, p);

			if (t->closed[at] >> p & 1 || s->seen[o] != s->mark ||
			    t->closed[o] >> torus_dir_opposite(&t->shape, p) & 1)
				continue;
			s->seen[o]++;
			s->queue[met++] = o;
		}
	}
	return met == n;
}

/* Return: 0 if a box of @size was found; -EAGAIN none; other: the search ends. */
static int try_size(struct box_search *s, const uint16_t *size, uint32_t *node, char *why)
{
	const struct fm_table *t = &s->fm->table;
	uint64_t walk = 2ull * t->shape.ndims * s->want->nodes;
	int err;

	if (!may_work(s, (uint64_t)t->shape.ndims * t->nodes))
		return -EAGAIN;
	memcpy(s->inside, s->blocked, t->nodes * sizeof(*s->inside));
	for (unsigned int d = 0; d < t->shape.ndims; d++)
		sum_along(s, d, size[d]);
	for (uint32_t i = 0; i < t->nodes && s->tries < TRIES; i++) {
		if (!may_begin(s, i, size))
			continue;
		if (!may_work(s, walk))
			break;
		s->tries++;
		list_box(&t->shape, i, size, node);
		err = is_box_joined(s, node) ? number_members(s->fm, node, s->want->nodes, why) :
					  -ENOTCONN;
		if (err != -ENOTCONN)
			return err;
		s->apart = true;
	}
	return -EAGAIN;
}

/*
 * Finds the boxes with the fewest outgoing cables, of those with more than @above. Return: that
 * number; 0: none
 */
static uint64_t next_cables(const struct torus_shape *shape, uint32_t n, uint64_t above, bool any)
{
	uint16_t size[TORUS_MAX_DIMS];
	uint64_t least = UINT64_MAX;

	if (!first_box(shape, n, 0, size))
		return UINT64_MAX;
	do {
		uint64_t out = cables_out(shape, size, n);

		if ((any || out > above) && out < least)
			least = out;
	} while (next_box(shape, size));
	return least;
}

static int try_boxes(struct box_search *s, uint32_t *node, char *why)
{
	const struct torus_shape *shape = &s->fm->table.shape;
	uint32_t n = s->want->nodes;
	uint16_t size[TORUS_MAX_DIMS];
	int err = -EAGAIN;

	for (uint64_t out = next_cables(shape, n, 0, true); out != UINT64_MAX;
	     out = next_cables(shape, n, out, false)) {
		first_box(shape, n, 0, size);
		do {
			if (cables_out(shape, size, n) == out)
				err = try_size(s, size, node, why);
		} while (err == -EAGAIN && next_box(shape, size));
		if (err != -EAGAIN)
			return err;
	}
	return err;
}

/* Return: the next number of nodes from @n on, in steps of @by, that is a box; 0: none */
static uint32_t find_box_size(const struct torus_shape *shape, uint32_t n, int by)
{
	uint16_t size[TORUS_MAX_DIMS];

	for (; n && n <= torus_nodes(shape); n += (uint32_t)by)
		if (first_box(shape, n, 0, size))
			return n;
	return 0;
}

/* Writes as much of a text as there is room for. */
__attribute__((format(printf, 3, 4)))
static void write_text(char *to, size_t room, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to, room, fmt, ap);
	va_end(ap);
}

/*
 * Writes how many nodes are free, and which is the first that is not, @at if that is one of them:
 * "14 nodes are free; of the others, node 1,0 is not up".
 */
static void describe_taken(const struct fm *fm, uint32_t at, char *text, size_t room)
{
	uint32_t n = fm->table.nodes, free_nodes = 0, first = n;
	char why[128] = "";

	for (uint32_t i = n; i--;) {
		if (find_obstacle(fm, i) == FREE)
			free_nodes++;
		else
			first = i;
	}
	if (at < n && find_obstacle(fm, at) != FREE)
		first = at;
	if (first < n)
		describe_obstacle(fm, first, why, sizeof(why));
	write_text(text, room, "%u node%s free%s%s", free_nodes, free_nodes == 1 ? " is" : "s are",
		   *why ? "; of the others, " : "", why);
}

static void explain_no_box(const struct box_search *s, char *why)
{
	const struct torus_shape *shape = &s->fm->table.shape;
	uint32_t n = s->want->nodes, under = find_box_size(shape, n, -1);
	uint32_t over = find_box_size(shape, n, 1);
	char text[TORUS_TEXT_MAX], at[TORUS_TEXT_MAX] = "", more[32] = "", taken[160];

	torus_shape_text(shape, text);
	if (over != n) {
		if (over)
			snprintf(more, sizeof(more), " or %u", over);
		snprintf(why, FM_TEXT_MAX, "%u nodes do not form a box of %s: must be, for "
			 "example, %u%s; --how grow and --list take nodes of any form", n,
			 text, under, more);
		return;
	}
	if (s->want->at != TORUS_NO_NODE)
		torus_node_text(shape, s->want->at, at);
	describe_taken(s->fm, s->want->at, taken, sizeof(taken));
	write_text(why, FM_TEXT_MAX, "no box of %u free nodes%s%s in %s%s: %s", n,
		   *at ? " begins at " : "", at, text,
		   s->apart ? " is whole, because of links that do not work" : "",
		   s->cut ? "there are too many boxes to try all, so name nodes" : taken);
}

static int find_free_box(const struct fm *fm, const struct fm_job_want *want, uint32_t *node,
			 char *why)
{
	uint32_t nodes = fm->table.nodes;
	struct box_search s = {
		.fm = fm, .want = want, .blocked = malloc(nodes * sizeof(*s.blocked)),
		.inside = malloc(nodes * sizeof(*s.inside)),
		.line = malloc(TORUS_MAX_SIZE * sizeof(*s.line)),
		.seen = calloc(nodes, sizeof(*s.seen)),
		.queue = malloc(want->nodes * sizeof(*s.queue)),
	};
	int err = -ENOMEM;

	snprintf(why, FM_TEXT_MAX, "no memory to look for a box");
	if (s.blocked && s.inside && s.line && s.seen && s.queue) {
		for (uint32_t i = 0; i < nodes; i++)
			s.blocked[i] = find_obstacle(fm, i) != FREE;
		err = try_boxes(&s, node, why);
		if (err == -EAGAIN) {
			explain_no_box(&s, why);
			err = -ENOSPC;
		}
	}
	free(s.blocked);
	free(s.inside);
	free(s.line);
	free(s.seen);
	free(s.queue);
	return err;
}

/* --- lists ----------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int take_list(const struct fm *fm, const struct fm_job_want *want, uint32_t *node, char *why)
{
	const struct torus_shape *shape = &fm->table.shape;
	char text[TORUS_TEXT_MAX];

	memcpy(node, want->list, want->nodes * sizeof(*node));
	qsort(node, want->nodes, sizeof(*node), by_id);
	for (uint32_t i = 0; i < want->nodes; i++) {
		torus_node_text(shape, node[i], text);
		if (i && node[i] == node[i - 1]) {
			snprintf(why, FM_TEXT_MAX, "node %s is listed twice", text);
			return -EINVAL;
		}
		if (find_obstacle(fm, node[i]) != FREE) {
			describe_obstacle(fm, node[i], why, FM_TEXT_MAX);
			return -EBUSY;
		}
	}
	return number_members(fm, node, want->nodes, why);
}

int fm_box_choose(const struct fm *fm, const struct fm_job_want *want, uint32_t *node, char *why)
{
	if (want->how == FM_JOB_LIST)
		return take_list(fm, want, node, why);
	return find_free_box(fm, want, node, why);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/deps/invariant.h"
#include "dm.h"

/* --- sets ---------------------------------------------------------------------- */

static uint32_t edge_key(const struct lt_level *l, uint32_t v, unsigned int port)
{
	const struct torus_graph *g = l->graph;
	uint32_t weight = 1;

	if (l->prefer == TORUS_DM_BANDWIDTH && g->weight)
		weight = g->weight(g->arg, v, port);
	if (weight > 0xffffff)
		weight = 0xffffff;
	if (l->prefer == TORUS_DM_DISTANCE && g->dim)
		weight |= (g->dim(g->arg, v, port) + 1) << 24;
	return weight;
}

uint32_t lt_dm_edges(const struct lt_level *l, uint32_t set, const struct lt_edge **edges)
{
	const struct torus_graph *g = l->graph;
	uint32_t n = 0, i;

	if (l->first) {
		*edges = l->edge + l->first[set];
		return l->first[set + 1] - l->first[set];
	}
	for (unsigned int port = 0; port < g->degree; port++) {
		uint32_t to = g->next(g->arg, set, port), key;

		if (to == TORUS_NO_NODE || to == set)
			continue;
		key = edge_key(l, set, port);
		for (i = 0; i < n && l->room[i].to != to; i++)
			;
		if (i < n)
			l->room[i].key = lt_key_sum(l->room[i].key, key);
		else
			l->room[n++] = (struct lt_edge){ .to = to, .key = key };
	}
	*edges = l->room;
	return n;
}

/**
 * struct join - state of a step, which joins pairs of sets
 * @l: sets before the step
 * @mate: partner of each set
 * @into: for each set twice the number of its next set, plus its digit
 * @size: vertices of each set; NULL before the first step
 * @set: for each vertex its set
 */
struct join {
	struct lt_level l;
	uint32_t *mate, *into, *size, *set;
};

static uint32_t size_of(const struct join *j, uint32_t set)
{
	return j->size ? j->size[set] : 1;
}

/*
 * Numbers the next sets in the order of their lowest part. @one: if not NULL, the sets that get
 * digit 1. Return: number of next sets.
 */
static uint32_t number_sets(struct join *j, const bool *one)
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < j->l.n; a++) {
		uint32_t b = j->mate[a];
		bool swap;

		if (b != TORUS_NO_NODE && b < a)
			continue;
		j->into[a] = n << 1;
		if (b != TORUS_NO_NODE) {
			swap = one ? one[a] : size_of(j, a) < size_of(j, b);
			j->into[a] |= swap;
			j->into[b] = n << 1 | !swap;
		}
		n++;
	}
	return n;
}

/*
 * Appends the edges of @set to those of the next set, which begin at @first. @at: for each next
 * set, index of the edge to it, plus 1; a value of at most @first was left by another set and does
 * not count. Return: end of the edges.
 */
static uint32_t add_edges(const struct join *j, uint32_t set, struct lt_edge *edge,
			  uint32_t first, uint32_t end, uint32_t *at)
{
	const struct lt_edge *e;
	uint32_t self = j->into[set] >> 1;

	for (uint32_t n = lt_dm_edges(&j->l, set, &e); n--; e++) {
		uint32_t to = j->into[e->to] >> 1;

		if (to == self)
			continue;
		if (at[to] > first) {
			edge[at[to] - 1].key = lt_key_sum(edge[at[to] - 1].key, e->key);
			continue;
		}
		edge[end++] = (struct lt_edge){ .to = to, .key = e->key };
		at[to] = end;
	}
	return end;
}

/* Return: number of edges that the next sets have at most. */
static size_t count_edges(const struct join *j)
{
	const struct lt_edge *e;
	size_t sum = 0;

	for (uint32_t a = 0; a < j->l.n; a++) {
		for (uint32_t n = lt_dm_edges(&j->l, a, &e); n--; e++)
			sum += e->to != j->mate[a];
	}
	return sum;
}

/* Makes the @n next sets and their edges the present ones. Return: 0 or -ENOMEM. */
static int contract_sets(struct join *j, uint32_t n)
{
	size_t most = count_edges(j);
	struct lt_edge *edge = malloc((most + 1) * sizeof(*edge)), *less;
	uint32_t *first = malloc((n + 1u) * sizeof(*first)), *at = calloc(n, sizeof(*at));
	uint32_t *size = malloc(n * sizeof(*size)), end = 0;

	if (!edge || !first || !at || !size || most >= UINT32_MAX) {
		free(edge);
		free(first);
		free(at);
		free(size);
		return -ENOMEM;
	}
	for (uint32_t a = 0; a < j->l.n; a++) {
		uint32_t b = j->mate[a], to = j->into[a] >> 1;

		if (b != TORUS_NO_NODE && b < a)
			continue;
		first[to] = end;
		end = add_edges(j, a, edge, first[to], end, at);
		size[to] = size_of(j, a);
		if (b != TORUS_NO_NODE) {
			end = add_edges(j, b, edge, first[to], end, at);
			size[to] += size_of(j, b);
		}
	}
	invariant(end <= most);
	first[n] = end;
	free(at);
	free(j->l.first);
	free(j->l.edge);
	free(j->size);
	less = realloc(edge, (end + 1u) * sizeof(*edge));
	j->l.edge = less ? less : edge;
	j->l.first = first;
	j->l.n = n;
	j->size = size;
	return 0;
}

/* --- steps --------------------------------------------------------------------- */

static bool are_adjacent(const struct lt_level *l, uint32_t a, uint32_t b)
{
	const struct lt_edge *e;

	for (uint32_t n = lt_dm_edges(l, a, &e); n--; e++)
		if (e->to == b)
			return true;
	return false;
}

/* Takes the pairs of @step that the caller of the search gave. Return: 0, -EINVAL. */
static int take_pairs(struct join *j, const struct torus_dm_rule *rule, unsigned int step,
		      bool *one)
{
	for (uint32_t i = 0; i < j->l.n; i++)
		j->mate[i] = TORUS_NO_NODE;
	for (uint32_t i = 0; i < rule->n_pairs; i++) {
		const struct torus_dm_pair *p = &rule->pair[i];
		uint32_t a, b;

		if (p->step != step)
			continue;
		a = j->set[p->zero];
		b = j->set[p->one];
		if (a == b || j->mate[a] != TORUS_NO_NODE || j->mate[b] != TORUS_NO_NODE ||
		    !are_adjacent(&j->l, a, b))
			return -EINVAL;
		j->mate[a] = b;
		j->mate[b] = a;
		one[b] = true;
	}
	return 0;
}

/* Finds the pairs of a step, and numbers the next sets. Return: 0 and @n, or a negative errno. */
static int match_sets(struct join *j, const struct torus_dm_rule *rule, unsigned int step,
		      uint32_t *n)
{
	bool *one = NULL;
	int err;

	if (rule->pair) {
		one = calloc(j->l.n, sizeof(*one));
		err = one ? take_pairs(j, rule, step, one) : -ENOMEM;
	} else if (rule->match == TORUS_DM_EXACT) {
		err = lt_match_exact(&j->l, j->mate);
	} else {
		err = lt_match_dominant(&j->l, j->mate);
	}
	if (!err)
		*n = number_sets(j, one);
	free(one);
	return err;
}

/* Executes one step: joins the pairs of sets. Return: 0 or a negative errno. */
static int join_step(struct torus_dm *dm, struct join *j, const struct torus_dm_rule *rule)
{
	uint32_t n = 0;
	int err = -ENOMEM;

	if (dm->m == TORUS_DM_DIGITS_MAX)
		return -EOVERFLOW;
	j->mate = malloc(j->l.n * sizeof(*j->mate));
	j->into = malloc(j->l.n * sizeof(*j->into));
	if (j->mate && j->into)
		err = match_sets(j, rule, dm->m, &n);
	if (!err && n == j->l.n)
		err = -ENOTCONN;
	if (!err && n > 1)
		err = contract_sets(j, n);
	for (uint32_t v = 0; !err && v < dm->graph.n; v++) {
		uint32_t into = j->into[j->set[v]];

		dm->address[v] |= (into & 1) << dm->m;
		j->set[v] = into >> 1;
	}
	free(j->mate);
	free(j->into);
	if (err)
		return err;
	dm->m++;
	j->l.n = n;
	return 0;
}

static int join_all(struct torus_dm *dm, const struct torus_dm_rule *rule)
{
	const struct torus_graph *g = &dm->graph;
	struct join j = { .l = { .n = g->n, .graph = g, .prefer = rule->prefer } };
	int err = 0;

	j.set = malloc(g->n * sizeof(*j.set));
	j.l.room = malloc((g->degree + 1) * sizeof(*j.l.room));
	if (!j.set || !j.l.room)
		err = -ENOMEM;
	for (uint32_t v = 0; !err && v < g->n; v++)
		j.set[v] = v;
	while (!err && j.l.n > 1)
		err = join_step(dm, &j, rule);
	free(j.set);
	free(j.size);
	free(j.l.room);
	free(j.l.first);
	free(j.l.edge);
	return err;
}

/* --- numbers ------------------------------------------------------------------- */

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * Lists the addresses that are not below the number of vertices, and the numbers that no vertex has
 * (TORUS_NO_NODE in @vertex).
 */
static int list_holes(struct torus_dm *dm)
{
	uint32_t n = dm->graph.n, k = 0;

	for (uint32_t v = 0; v < n; v++)
		dm->holes += dm->address[v] >= n;
	if (!dm->holes)
		return 0;
	dm->missing = malloc(dm->holes * sizeof(*dm->missing));
	dm->standing = malloc(dm->holes * sizeof(*dm->standing));
	if (!dm->missing || !dm->standing)
		return -ENOMEM;
	for (uint32_t v = 0; v < n; v++)
		if (dm->address[v] >= n)
			dm->standing[k++] = dm->address[v];
	qsort(dm->standing, dm->holes, sizeof(*dm->standing), compare_u32);
	k = 0;
	for (uint32_t i = 0; i < n; i++)
		if (dm->vertex[i] == TORUS_NO_NODE)
			dm->missing[k++] = i;
	invariant(k == dm->holes);
	return 0;
}

static int number_vertices(struct torus_dm *dm)
{
	uint32_t n = dm->graph.n;
	int err;

	dm->vertex = malloc(n * sizeof(*dm->vertex));
	if (!dm->vertex)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		dm->vertex[i] = TORUS_NO_NODE;
	for (uint32_t v = 0; v < n; v++)
		if (dm->address[v] < n)
			dm->vertex[dm->address[v]] = v;
	err = list_holes(dm);
	for (uint32_t v = 0; !err && v < n; v++)
		if (dm->address[v] >= n)
			dm->vertex[torus_dm_number(dm, v)] = v;
	return err;
}

/* Return: true if the graph and the rule are valid. */
static bool input_is_valid(const struct torus_graph *g, const struct torus_dm_rule *rule)
{
	if (!g->n || g->n > 1u << TORUS_DM_DIGITS_MAX || g->degree > TORUS_DM_DEGREE_MAX ||
	    (rule->match == TORUS_DM_EXACT && g->n > TORUS_DM_EXACT_MAX))
		return false;
	for (uint32_t i = 0; rule->pair && i < rule->n_pairs; i++)
		if (rule->pair[i].zero >= g->n || rule->pair[i].one >= g->n)
			return false;
	for (uint32_t v = 0; v < g->n; v++) {
		for (unsigned int port = 0; port < g->degree; port++) {
			uint32_t to = g->next(g->arg, v, port);

			if (to >= g->n && to != TORUS_NO_NODE)
				return false;
		}
	}
	return true;
}

int torus_dm_new(const struct torus_graph *g, const struct torus_dm_rule *rule,
		 struct torus_dm **out)
{
	static const struct torus_dm_rule usual;
	struct torus_dm_rule how = rule ? *rule : usual;
	struct torus_dm *dm;
	int err;

	if (!input_is_valid(g, &how))
		return -EINVAL;
	if (how.match == TORUS_DM_AUTO)
		how.match = g->n <= TORUS_DM_AUTO_MAX ? TORUS_DM_EXACT : TORUS_DM_DOMINANT;
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return -ENOMEM;
	dm->graph = *g;
	dm->address = calloc(g->n, sizeof(*dm->address));
	err = dm->address ? join_all(dm, &how) : -ENOMEM;
	if (!err)
		err = number_vertices(dm);
	if (err) {
		torus_dm_free(dm);
		return err;
	}
	*out = dm;
	return 0;
}

void torus_dm_free(struct torus_dm *dm)
{
	if (!dm)
		return;
	free(dm->address);
	free(dm->vertex);
	free(dm->missing);
	free(dm->standing);
	lt_dm_part_free(dm->part);
	free(dm);
}

unsigned int torus_dm_digits(const struct torus_dm *dm)
{
	return dm->m;
}

uint32_t torus_dm_address(const struct torus_dm *dm, uint32_t v)
{
	return dm->address[v];
}

/* Return: index of @value in a sorted list, or -1. */
static int64_t find_sorted(const uint32_t *list, uint32_t n, uint32_t value)
{
	const uint32_t *at = n ? bsearch(&value, list, n, sizeof(*list), compare_u32) : NULL;

	return at ? at - list : -1;
}

uint32_t torus_dm_holes(const struct torus_dm *dm, const uint32_t **missing,
			const uint32_t **standing)
{
	if (missing)
		*missing = dm->missing;
	if (standing)
		*standing = dm->standing;
	return dm->holes;
}

uint32_t torus_dm_translate(const struct torus_dm *dm, uint32_t number)
{
	int64_t i = find_sorted(dm->missing, dm->holes, number);

	return i < 0 ? number : dm->standing[i];
}

uint32_t torus_dm_number(const struct torus_dm *dm, uint32_t v)
{
	uint32_t address = dm->address[v];

	return address < dm->graph.n ? address :
	       dm->missing[find_sorted(dm->standing, dm->holes, address)];
}

uint32_t torus_dm_number_vertex(const struct torus_dm *dm, uint32_t number)
{
	return dm->vertex[number];
}

uint32_t torus_dm_vertex(const struct torus_dm *dm, uint32_t address)
{
	int64_t i;

	if (address < dm->graph.n)
		return find_sorted(dm->missing, dm->holes, address) < 0 ? dm->vertex[address] :
									  TORUS_NO_NODE;
	i = find_sorted(dm->standing, dm->holes, address);
	return i < 0 ? TORUS_NO_NODE : dm->vertex[dm->missing[i]];
}

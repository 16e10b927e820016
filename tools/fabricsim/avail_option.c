// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "avail_option.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

#define SECONDS_MAX 1e6

/* --- recovery ---------------------------------------------------------------- */

static int append_size(struct range *r, double v)
{
	double *more;

	if (r->n == RANGE_MAX)
		return fail("a file of recoveries has more than %d lines NODES SECONDS", RANGE_MAX);
	more = realloc(r->v, (r->n + 1) * sizeof(*more));
	if (!more)
		return fail("out of memory");
	r->v = more;
	r->v[r->n++] = v;
	return OK;
}

/*
 * Reads an output of fabricsim recovery: the longest time of its acts whose names begin with @act.
 */
static int answer_read(const char *line, const char *act, double *nodes, double *seconds)
{
	json_t *all = json_loads(line, 0, NULL), *point;
	const char *what;
	size_t i;

	*nodes = json_number_value(json_object_get(all, "nodes"));
	*seconds = -1;
	json_array_foreach(json_object_get(all, "points"), i, point) {
		what = json_string_value(json_object_get(point, "act"));
		if (what && !strncmp(what, act, strlen(act)))
			*seconds = fmax(*seconds,
					json_number_value(json_object_get(point, "resumed_ms")) /
					1000);
	}
	json_decref(all);
	return *seconds >= 0 ? OK : CANNOT;
}

static int read_recoveries(const char *file, unsigned int at, const char *line, const char *act,
			   struct recovery *r)
{
	double nodes, seconds;
	char rest;

	if (sscanf(line, " %c", &rest) != 1 || rest == '#')
		return OK;
	if (rest == '{') {
		if (answer_read(line, act, &nodes, &seconds))
			return fail("%s:%u: not an output of fabricsim recovery --json that has an "
				    "act '%s...'",
				    file, at, act);
	} else if (sscanf(line, "%lf %lf %c", &nodes, &seconds, &rest) != 2) {
		return fail("%s:%u: '%.*s': must be two numbers, NODES SECONDS", file, at,
			    (int)strcspn(line, "\n"), line);
	}
	if (!(nodes >= 1) || !(seconds >= 0 && seconds <= SECONDS_MAX))
		return fail("%s:%u: %g nodes, %g seconds: must be 1 node or more, 0 to %g "
			    "seconds",
			    file, at, nodes, seconds, SECONDS_MAX);
	if (r->nodes.n && nodes <= r->nodes.v[r->nodes.n - 1])
		return fail("%s:%u: %g nodes, must be more than the %g of the line before",
			    file, at, nodes, r->nodes.v[r->nodes.n - 1]);
	return append_size(&r->nodes, nodes) || append_size(&r->seconds, seconds) ? CANNOT : OK;
}

static int file_read(const char *option, const char *file, const char *act, struct recovery *r)
{
	FILE *f = fopen(file, "r");
	int status = OK;
	char *line = NULL;
	size_t room = 0;

	if (!f)
		return fail("--%s: '%s' is not a number of seconds, 0 to %g, and not a file: %s",
			    option, file, SECONDS_MAX, strerror(errno));
	for (unsigned int at = 1; status == OK && getline(&line, &room, f) >= 0; at++)
		status = read_recoveries(file, at, line, act, r);
	if (status == OK && ferror(f))
		status = fail("--%s: '%s': %s", option, file, strerror(errno));
	free(line);
	fclose(f);
	if (status == OK && !r->nodes.n)
		status = fail("--%s: '%s' has no line NODES SECONDS", option, file);
	return status;
}

int recovery_option(const char *option, const char *text, const char *act, struct recovery *r)
{
	char *end;
	double v = strtod(text, &end);

	*r = (struct recovery) { .nodes.n = 0 };
	if (end == text || *end)
		return file_read(option, text, act, r);
	if (real_option(option, text, 0, SECONDS_MAX, &v))
		return CANNOT;
	return append_size(&r->nodes, 1) || append_size(&r->seconds, v) ? CANNOT : OK;
}

double recovery_at(const struct recovery *r, double nodes)
{
	const double *n = r->nodes.v, *s = r->seconds.v;
	size_t i = 0;

	while (i < r->nodes.n && n[i] < nodes)
		i++;
	if (!i || i == r->nodes.n)
		return s[i ? i - 1 : 0];
	return s[i - 1] + (s[i] - s[i - 1]) * log(nodes / n[i - 1]) / log(n[i] / n[i - 1]);
}

/* --- sizes ------------------------------------------------------------------- */

int nodes_option(const char *text, double min, double max, struct range *r)
{
	const char *colon = strchr(text, ':');
	double from, to;

	if (!colon || strchr(colon + 1, ':')) {
		if (range_parse("nodes", text, min, max, r))
			return CANNOT;
	} else {
		if (range_decades("nodes", text, min, max, 2, r))
			return CANNOT;
		from = r->v[0];
		to = r->v[1];
		r->n = 0;
		for (double n = from; n < to; n *= 2)
			if (append_size(r, n))
				return CANNOT;
		if (append_size(r, to))
			return CANNOT;
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i] != floor(r->v[i]))
			return fail("--nodes: %g is not a whole number", r->v[i]);
	return OK;
}

/* Return: the divisor of @n nearest to @want by ratio, or 0 if none is within a factor of two. */
static uint32_t divisor_near(uint32_t n, double want)
{
	double best = 2;
	uint32_t found = 0;

	for (uint32_t i = 1; i <= n && i <= 2 * want; i++) {
		double ratio = i > want ? i / want : want / i;

		if (n % i == 0 && ratio <= best && (ratio < best || !found)) {
			best = ratio;
			found = i;
		}
	}
	return found;
}

static bool exact_shape(struct torus_shape *s, uint32_t nodes)
{
	for (unsigned int d = 0; d < s->ndims; d++) {
		uint32_t size = divisor_near(nodes, pow(nodes, 1.0 / (s->ndims - d)));

		if (size < 2 || size > TORUS_MAX_SIZE)
			return false;
		s->size[d] = (uint16_t)size;
		nodes /= size;
	}
	return nodes == 1;
}

int shape_near(unsigned int dims, double nodes, struct torus_shape *out)
{
	double side = floor(pow(nodes, 1.0 / dims) + 1e-9), best = INFINITY;
	unsigned int longer = 0;

	*out = (struct torus_shape) { .ndims = (uint8_t)dims, .size = { 1, 1, 1, 1, 1, 1 } };
	if (side < 2 || side > TORUS_MAX_SIZE || nodes > TORUS_MAX_NODES)
		return -1;
	if (exact_shape(out, (uint32_t)nodes))
		return 0;
	for (unsigned int i = 0; i <= dims; i++) {
		double off = fabs(pow(side, dims - i) * pow(side + 1, i) - nodes);

		if (off < best && (i == 0 || side < TORUS_MAX_SIZE)) {
			best = off;
			longer = i;
		}
	}
	for (unsigned int d = 0; d < dims; d++)
		out->size[d] = (uint16_t)(side + (d < longer));
	return torus_nodes(out) ? 0 : -1;
}

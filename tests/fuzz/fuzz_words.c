// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as user input: numbers, times, places, parameters. A text that is accepted is in its
 * range, has the form that the manual gives, and is read as the same value when it is written out.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "tools/fabricctl/number.h"
#include "tools/torusemu/param.h"

#define WORD_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool yes)
{
	if (!yes)
		abort();
}

static void numbers(const char *text)
{
	uint64_t v;
	double s;

	if (!number_parse(text, 5, 1000, &v))
		must(v >= 5 && v <= 1000);
	if (!seconds_parse(text, &s))
		must(s >= 0.01 && s <= 86400);
	if (!rate_parse(text, &v))
		must(v <= 1000000000000000000 && !strpbrk(text, "xXpP"));
	if (!time_parse(text, 5, 10000000000, &v))
		must(v >= 5 && v <= 10000000000 && !strpbrk(text, "xXpPeE"));
	if (!hex_parse(text, &v))
		must(v != 0);
	if (!size_parse(text, &v) && strspn(text, "0123456789") == strlen(text))
		must(v == strtoull(text, NULL, 10));
}

static void parameter(const char *text)
{
	char why[PARAM_WHY_MAX] = "";
	uint64_t v;
	const struct tn_param *p = param_parse(text, &v, why, sizeof(why));

	must(!p == !!why[0]);
	if (!p)
		return;
	must(v >= p->min && v <= p->max && (p->is_wide || v <= UINT32_MAX));
	must(!strpbrk(strchr(text, '='), "xXpP"));
}

static void shape(const char *text)
{
	struct torus_shape a, b;
	char out[TORUS_TEXT_MAX];

	if (torus_shape_parse(text, &a))
		return;
	must(torus_nodes(&a) && !torus_shape_parse(torus_shape_text(&a, out), &b));
	must(a.ndims == b.ndims && !memcmp(a.size, b.size, a.ndims * sizeof(a.size[0])));
}

static void places(const char *text, const struct torus_shape *s)
{
	struct torus_coords at, again;
	char out[TORUS_TEXT_MAX];
	unsigned int port, same;
	uint32_t node;

	if (!torus_coords_parse(text, s, &at)) {
		must(torus_node_id(s, &at) < torus_nodes(s));
		must(!torus_coords_parse(torus_coords_text(s, &at, out), s, &again));
		must(torus_node_id(s, &at) == torus_node_id(s, &again));
	}
	if (!torus_port_parse(text, s->ndims, &port)) {
		must(port < 2u * s->ndims);
		must(!torus_port_parse(torus_port_text(s->ndims, port, out), s->ndims, &same));
		must(port == same);
	}
	if (!torus_link_parse(text, s, &node, &port))
		must(node < torus_nodes(s) && port < 2u * s->ndims);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct torus_shape shapes[] = {
		{ 1, { 7, 1, 1, 1, 1, 1 } }, { 3, { 4, 3, 2, 1, 1, 1 } },
		{ 6, { 2, 2, 3, 2, 1, 5 } },
	};
	char *text;

	if (len > WORD_MAX)
		return 0;
	/* As long as it is, so that nothing after its end goes unseen. */
	text = malloc(len + 1);
	must(text);
	memcpy(text, data, len);
	text[len] = '\0';
	numbers(text);
	parameter(text);
	shape(text);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		places(text, &shapes[i]);
	free(text);
	return 0;
}

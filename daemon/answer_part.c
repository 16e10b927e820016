// SPDX-License-Identifier: GPL-2.0-only
/*
 * Partial replies: replies about a range of nodes, so that clients can ask for a large fabric in
 * several requests; and replies that a node makes from its own knowledge because there is no root.
 */
#include <string.h>
#include "daemon/answer.h"

/* --- a range of nodes -------------------------------------------------------- */

bool answer_range(struct request *rq, uint32_t max)
{
	const struct torus_shape *shape = fm_shape(rq->d->fm);
	json_int_t count = json_integer_value(json_object_get(rq->args, "count"));
	char text[TORUS_TEXT_MAX];

	if (answer_node(rq, true, &rq->node))
		return false;
	max = max ? max : 1;
	if (count < 1 || count > max) {
		answer_error(rq, "usage", "count: must be 1 to %u in a fabric of %u nodes", max,
			     torus_nodes(shape));
		return false;
	}
	rq->count = (uint32_t)count;
	/* The request is passed on with coordinates, because other nodes may not know the names. */
	json_object_set_new(rq->args, "node",
			    json_string(torus_node_text(shape, rq->node, text)));
	return true;
}

bool answer_range_has(const struct fabricd *d, const json_t *cmd)
{
	const char *first = json_string_value(json_object_get(cmd, "node"));
	json_int_t count = json_integer_value(json_object_get(cmd, "count"));
	const struct torus_shape *shape = fm_shape(d->fm);
	uint32_t own = fm_own(d->fm), from;
	struct torus_coords at;

	if (!count)
		return true;
	if (own == TORUS_NO_NODE || !first || torus_coords_parse(first, shape, &at))
		return false;
	from = torus_node_id(shape, &at);
	return own >= from && own - from < count;
}

/* --- without the root -------------------------------------------------------- */

json_t *rootless_json(const struct request *rq)
{
	const struct fabricd *d = rq->d;
	uint64_t since = d->fm ? fm_cut_off(d->fm) : 0;

	return json_pack("{s:o, s:I, s:{s:o, s:s}}",
			 "since", since ? json_real(answer_wall(since)) : json_null(),
			 "table_version", (json_int_t)(d->fm ? fm_version(d->fm) : 0),
			 "own", "node", node_json(d, d->fm ? fm_own(d->fm) : TORUS_NO_NODE),
			 "name", d->config.fm.name);
}

/* Each item has the label, because clients may take items out of their reply. */
void answer_label(const struct request *rq, json_t *list)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		json_object_set_new(v, "rootless", json_boolean(rq->rootless));
}

json_t *last_alive_json(const struct request *rq, uint32_t node, bool answered, bool *lately)
{
	uint64_t at;

	*lately = fm_last_alive(rq->d->fm, node, &at) || answered;
	if (answered)
		at = loop_now();
	else if (at > rq->began)
		at = rq->began;		/* the node has not answered since then */
	return at ? json_real((double)(loop_now() - at) * 1e-6) : json_null();
}

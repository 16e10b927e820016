// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configurations that managers run with: the configuration of one node, or the values of all
 * nodes.
 */
#include <string.h>
#include "daemon/answer.h"
#include "daemon/config_dump.h"
#include "daemon/log.h"

#define CONFIG_PIECE 128	/* most nodes whose values are gathered at once */

/*
 * Corrects the log level in @list, and its source, if "fabricctl log" has set another level than
 * the configuration file.
 */
static void add_level(json_t *list)
{
	const char *level = log_level_name(log_level());
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		if (strcmp(json_string_value(json_object_get(v, "key")), "log_level") ||
		    !strcmp(json_string_value(json_object_get(v, "value")), level))
			continue;
		json_object_set_new(v, "value", json_string(level));
		json_object_set_new(v, "source", json_string("fabricctl log"));
		json_object_set_new(v, "line", json_null());
	}
}

static json_t *own_json(const struct fabricd *d, bool values)
{
	const struct config *c = &d->config;
	uint32_t node = d->fm ? fm_own(d->fm) : TORUS_NO_NODE;
	json_t *j = json_pack("{s:o, s:s, s:s}", "node", node_json(d, node), "name", c->fm.name,
			      "software", TORUS_VERSION);
	json_t *list;

	if (values) {
		list = config_values_json(c);
		json_object_set_new(list, "log_level", json_string(log_level_name(log_level())));
		json_object_set_new(j, "values", list);
		return j;
	}
	list = config_json(c, &d->run);
	add_level(list);
	json_object_set_new(j, "file", json_string(d->run.path));
	json_object_set_new(j, "config", list);
	return j;
}

json_t *local_config(struct fabricd *d, json_t *cmd)
{
	return own_json(d, json_is_true(json_object_get(cmd, "values")));
}

static void answer_silent_config(struct request *rq)
{
	answer_error(rq, "unreachable",
		     "node '%s' does not answer, or its manager is of an "
		     "earlier release and does not tell its configuration",
		     json_string_value(json_object_get(rq->args, "node")));
}

static const struct listing listing_config = {
	.items = flat_items, .silent = answer_silent_config,
};

void answer_config(struct request *rq)
{
	bool values = json_is_true(json_object_get(rq->args, "values"));
	bool some = json_is_integer(json_object_get(rq->args, "count"));

	if (!values && !some && !json_is_string(json_object_get(rq->args, "node")))
		answer_ok(rq, json_pack("[o]", own_json(rq->d, false)), NULL);
	else if (answer_leads(rq) && answer_ready(rq) &&
		 (some ? answer_range(rq, ANSWER_NODES_MAX) : !answer_node(rq, false, &rq->node)))
		answer_list(rq, &listing_config, CONFIG_PIECE);
}

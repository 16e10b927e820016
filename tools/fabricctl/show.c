// SPDX-License-Identifier: GPL-2.0-only
#include "json.h"
#include "show.h"
#include "wave.h"

int show_answer(const struct ctl *ctl, const char *request, const char *node,
		void (*show)(const json_t *data))
{
	return show_nodes(ctl, json_pack("{ss}", "cmd", request), node, 0, 0, show);
}

static int ask_some(struct ask *a, json_t *question, bool all, uint32_t max, uint32_t each,
		    json_t **data)
{
	return all ? ask_nodes(a, question, max, each, data) : ask(a, question, data);
}

/* A manager of an earlier release does not know "brief", and is asked for all there is. */
static int ask_briefly(struct ask *a, json_t *question, bool all, uint32_t max, uint32_t each,
		       json_t **data)
{
	json_t *whole = json_object_get(question, "brief") ? json_copy(question) : NULL;
	int status;

	a->spares = whole ? "usage" : NULL;
	a->spared = false;
	status = ask_some(a, question, all, max, each, data);
	a->spares = NULL;
	if (!whole || !a->spared) {
		json_decref(whole);
		return status;
	}
	json_object_del(whole, "brief");
	return ask_some(a, whole, all, max, each, data);
}

/* Asks @a, and shows the answer. */
static int show_asked(const struct ctl *ctl, struct ask *a, json_t *question, const char *node,
		      uint32_t max, uint32_t each, void (*show)(const json_t *data))
{
	char at[TORUS_TEXT_MAX];
	json_t *data;
	int status = node ? ask_node(a, node, at) : OK;

	if (status == OK && node)
		json_object_set_new(question, "node", json_string(at));
	if (status != OK)
		json_decref(question);
	else
		status = ask_briefly(a, question, max && !node, max, each, &data);
	if (status != OK)
		return status;
	ask_label(a, ctl->json);
	if (ctl->json)
		json_show(json_incref(data));
	else
		show(data);
	json_decref(data);
	return ask_status(a);
}

int show_nodes_early(const struct ctl *ctl, json_t *question, const char *node, uint32_t max,
		     uint32_t each, void (*show)(const json_t *data),
		     const struct show_early *early)
{
	bool shown = false;
	struct ask a;
	int status = ask_open(ctl, &a);

	if (status != OK) {
		json_decref(question);
		return status;
	}
	if (early && !node)
		status = wave_show(ctl, &a, early->items, early->show, &shown);
	if (status != OK || shown)
		json_decref(question);
	else
		status = show_asked(ctl, &a, question, node, max, each, show);
	ask_close(&a);
	return status;
}

int show_nodes(const struct ctl *ctl, json_t *question, const char *node, uint32_t max,
	       uint32_t each, void (*show)(const json_t *data))
{
	return show_nodes_early(ctl, question, node, max, each, show, NULL);
}

json_t *show_filter(const json_t *all, bool (*keep)(const json_t *item))
{
	json_t *some = json_array(), *v;
	size_t i;

	json_array_foreach(all, i, v)
		if (keep(v))
			json_array_append(some, v);
	return some;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "json.h"
#include "show.h"

int show_answer(const struct ctl *ctl, const char *request, const char *node,
		void (*show)(const json_t *data))
{
	return show_nodes(ctl, json_pack("{ss}", "cmd", request), node, 0, 0, show);
}

int show_nodes(const struct ctl *ctl, json_t *question, const char *node, uint32_t max, uint32_t each,
	       void (*show)(const json_t *data))
{
	json_t *data;
	char at[TORUS_TEXT_MAX];
	struct ask a;
	int status;

	status = ask_open(ctl, &a);
	if (status != OK) {
		json_decref(question);
		return status;
	}
	status = node ? ask_node(&a, node, at) : OK;
	if (status == OK && node)
		json_object_set_new(question, "node", json_string(at));
	if (status != OK)
		json_decref(question);
	else if (max && !node)
		status = ask_nodes(&a, question, max, each, &data);
	else
		status = ask(&a, question, &data);
	if (status == OK) {
		ask_label(&a, ctl->json);
		if (ctl->json)
			json_show(json_incref(data));
		else
			show(data);
		json_decref(data);
		status = ask_status(&a);
	}
	ask_close(&a);
	return status;
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

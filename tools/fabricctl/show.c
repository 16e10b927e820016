// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "json.h"
#include "output.h"
#include "show.h"
#include "wave.h"

int show_answer(const struct ctl *ctl, const char *request, const char *node,
		void (*show)(const json_t *data))
{
	return show_nodes(ctl, json_pack("{ss}", "cmd", request), node,
			  &(struct show_nodes) { .show = show });
}

static int ask_some(struct ask *a, json_t *question, bool all, uint32_t max, uint32_t each,
		    json_t **data)
{
	return all ? ask_nodes(a, question, max, each, data) : ask(a, question, data);
}

static bool is_refused(const struct ask *a, const char *code)
{
	return a->spared && !strcmp(a->refused, code);
}

/*
 * Asks with "brief", "bad" or "errors"; a manager of an earlier release refuses these, and is asked
 * for everything.
 */
static int ask_briefly(struct ask *a, json_t *question, bool all, const struct show_nodes *how,
		       json_t **data)
{
	bool brief = json_object_get(question, "brief") || json_object_get(question, "bad") ||
		     json_object_get(question, "errors");
	json_t *whole = brief ? json_copy(question) : NULL;
	int status;

	a->spares = !how->instead || all ? "usage" : "usage unreachable";
	if (!whole)
		a->spares = how->instead && !all ? "unreachable" : NULL;
	a->spared = false;
	status = ask_some(a, question, all, how->max, how->each, data);
	if (whole && is_refused(a, "usage")) {
		a->spares = how->instead && !all ? "unreachable" : NULL;
		a->spared = false;
		json_object_del(whole, "brief");
		json_object_del(whole, "bad");
		json_object_del(whole, "errors");
		status = ask_some(a, json_incref(whole), all, how->whole, how->each, data);
	}
	a->spares = NULL;
	json_decref(whole);
	return status;
}

static json_t *pick_data(json_t *data, json_t *(*pick)(const json_t *data))
{
	json_t *some = pick(data);

	json_decref(data);
	return some;
}

/* Asks @a, and shows the answer. */
static int show_asked(const struct ctl *ctl, struct ask *a, json_t *question, const char *node,
		      const struct show_nodes *how)
{
	char at[TORUS_TEXT_MAX];
	json_t *data = NULL;
	int status = node ? ask_node(a, node, at) : OK;

	if (status == OK && node)
		json_object_set_new(question, "node", json_string(at));
	if (status == OK)
		status = ask_briefly(a, json_incref(question), how->max && !node, how, &data);
	if (status != OK && is_refused(a, "unreachable"))
		status = how->instead(a, question, &data);
	json_decref(question);
	if (status != OK)
		return status;
	if (how->pick)
		data = pick_data(data, how->pick);
	ask_label(a, ctl->json);
	if (ctl->json)
		json_show(json_incref(data));
	else
		how->show(data);
	json_decref(data);
	return ask_status(a);
}

/* Return: true if the text is a link, such as "1,1:+x". */
static bool names_link(const char *text)
{
	size_t n = strlen(text);

	return n > 3 && text[n - 3] == ':' && strchr("+-", text[n - 2]) &&
	       strchr("xyzabc", text[n - 1]);
}

int show_nodes(const struct ctl *ctl, json_t *question, const char *node,
	       const struct show_nodes *how)
{
	bool shown = false;
	struct ask a;
	int status;

	if (node && names_link(node)) {
		json_decref(question);
		return fail("'%s' is a link, but a NODE is wanted: '%.*s' stands for all links of "
			    "the node, and 'fabricctl link test %s' tests that one", node,
			    (int)strlen(node) - 3, node, node);
	}
	status = ask_open(ctl, &a);
	if (status != OK) {
		json_decref(question);
		return status;
	}
	if (how->early && !node)
		status = wave_show(ctl, &a, how->early->items, how->early->show, &shown);
	if (status != OK || shown)
		json_decref(question);
	else
		status = show_asked(ctl, &a, question, node, how);
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

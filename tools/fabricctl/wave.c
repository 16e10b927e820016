// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "wave.h"

const char *wave_position_text(const json_t *position, char *buf)
{
	size_t n = 0, i;
	json_t *v;

	strcpy(buf, "-");
	json_array_foreach(position, i, v)
		if (n < TORUS_TEXT_MAX - 12)
			n += (size_t)snprintf(buf + n, TORUS_TEXT_MAX - n, i ? ",%d" : "%d",
					      (int)json_integer_value(v));
	return buf;
}

const char *wave_end_text(const json_t *end, char *buf)
{
	const char *port = json_text(end, "port");

	wave_position_text(json_object_get(end, "position"), buf);
	if (port && json_is_null(json_object_get(end, "position")))
		strcpy(buf, "?");
	if (port && strlen(buf) + strlen(port) + 2 < TORUS_TEXT_MAX)
		sprintf(buf + strlen(buf), ":%s", port);
	return buf;
}

const json_t *wave_neighbour(const json_t *own, const char *port)
{
	const json_t *all = json_object_get(json_object_get(own, "wave"), "neighbours");
	size_t i;
	json_t *v;

	json_array_foreach(all, i, v) {
		const char *at = json_text(v, "port");

		if (at && !strcmp(at, port))
			return v;
	}
	return NULL;
}

/* Prints above the items, or aside on standard error, that they are preliminary. */
static void put_label(const json_t *own, bool aside)
{
	static const char text[] = "preliminary, there is no table yet: this is what %s knows "
		"itself, by its NIC and the Inits of its neighbours";
	const char *name = json_text(own, "name");

	if (aside) {
		warn(text, name ? name : "-");
		return;
	}
	printf("%s", paint(DOUBTFUL));
	printf(text, name ? name : "-");
	printf("%s\n", paint(PLAIN));
}

int wave_show(const struct ctl *ctl, struct ask *a, json_t *(*items)(const json_t *own),
	      void (*show)(const json_t *items), bool *shown)
{
	json_t *data, *list;
	const json_t *own;
	bool ready;
	int status = ask_ready(a, &ready);

	*shown = false;
	if (status != OK || ready)
		return status;
	status = ask(a, json_pack("{ss}", "cmd", "status"), &data);
	if (status != OK)
		return status;
	own = json_object_get(data, "own");
	if (json_is_object(json_object_get(own, "wave"))) {
		*shown = true;
		list = items(own);
		put_label(own, ctl->json);
		if (ctl->json)
			json_show(json_incref(list));
		else
			show(list);
		json_decref(list);
		status = PROBLEM;
	}
	json_decref(data);
	return status;
}

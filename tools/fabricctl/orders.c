// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "json.h"
#include "number.h"
#include "orders.h"
#include "say.h"

/* Prints the ports of an order; none if it is about all ports of the node. */
static void show_ports(const json_t *order)
{
	const json_t *ports = json_object_get(order, "ports");
	const json_t *node = json_object_get(order, "node");
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	printf("%s", json_node_text(node, text));
	if (json_array_size(ports) == 2 * json_array_size(node))
		return;
	json_array_foreach(ports, i, v)
		printf("%s%s", i ? "," : ":", json_is_string(v) ? json_string_value(v) : "?");
}

/* Prints the user as 1000@name; a manager of an earlier release does not send it. */
static void show_user(const json_t *order)
{
	const char *by = json_text(order, "by");

	if (json_is_integer(json_object_get(order, "uid")))
		printf(" by %llu@%s", (unsigned long long)json_count(order, "uid"), by ? by : "?");
}

void orders_show(const json_t *orders, const char *title, size_t max)
{
	char text[32];
	size_t i;
	json_t *v;

	json_array_foreach(orders, i, v) {
		const char *reason = json_text(v, "reason");
		double until = (double)json_count(v, "until");

		if (i == max)
			break;
		if (*title)
			printf("%s%-9s%s", paint(DOUBTFUL), i ? "" : title, paint(PLAIN));
		else
			printf("  ");
		show_ports(v);
		show_user(v);
		printf(", %s ago", duration_text(age((double)json_count(v, "since")), text));
		if (until > 0)
			printf(", for another %s", duration_text(seconds_left(until), text));
		printf("%s%s\n", reason ? ": " : "", reason ? reason : "");
	}
}

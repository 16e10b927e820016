// SPDX-License-Identifier: GPL-2.0-only
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "number.h"
#include "orders.h"
#include "output.h"

/* Prints the ports of an order; prints nothing if the order is about all ports of the node. */
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

/*
 * Writes the name of a user of this machine into @buf; "" if the user has no name here. Only
 * /etc/passwd is read, because a directory service may be down together with the fabric.
 */
static void find_user(uint64_t uid, char *buf, size_t room)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *user;

	*buf = '\0';
	while (f && !*buf && (user = fgetpwent(f)))
		if (user->pw_uid == uid)
			snprintf(buf, room, "%s", user->pw_name);
	if (f)
		fclose(f);
}

char *orders_user_text(const json_t *order, char *buf)
{
	unsigned long long uid = json_count(order, "uid");
	const char *by = json_text(order, "by");
	char name[64];

	if (!json_is_integer(json_object_get(order, "uid")))
		return strcpy(buf, "");
	find_user(uid, name, sizeof(name));
	if (*name)
		snprintf(buf, ORDERS_USER_MAX, "%s(%llu)@%s", name, uid, by ? by : "?");
	else
		snprintf(buf, ORDERS_USER_MAX, "%llu@%s", uid, by ? by : "?");
	return buf;
}

void orders_show(const json_t *orders, const char *title, size_t max)
{
	char text[32], user[ORDERS_USER_MAX];
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
		orders_user_text(v, user);
		printf("%s%s, %s", *user ? " by " : "", user,
		       ago_text((double)json_count(v, "since"), text));
		if (until > 0)
			printf(", for another %s", left_text(until, text));
		printf("%s%s\n", reason ? ": " : "", reason ? reason : "");
	}
}

const char *orders_event_what(const json_t *event)
{
	const char *state = json_text(json_object_get(event, "order"), "state");

	return !state ? "?" : strcmp(state, "over") ? state : "included";
}

char *orders_event_by(const json_t *event, char *buf)
{
	const json_t *order = json_object_get(event, "order");
	const char *state = json_text(order, "state");

	return state && !strcmp(state, "over") ? strcpy(buf, "") : orders_user_text(order, buf);
}

void orders_show_event(const json_t *event)
{
	const json_t *order = json_object_get(event, "order");
	const char *reason = json_text(order, "reason");
	double until = (double)json_count(order, "until"),
	       since = (double)json_count(order, "since");
	char user[ORDERS_USER_MAX], text[32];

	printf("%s ", orders_event_what(event));
	show_ports(order);
	orders_event_by(event, user);
	printf("%s%s", *user ? " by " : ", the time is over", user);
	if (*user && until > since)
		printf(", for %s", duration_text(until - since, text));
	printf(", at %s%s%s\n",
	       moment_text(json_number_value(json_object_get(event, "time")), text),
	       reason ? ": " : "", reason ? reason : "");
}

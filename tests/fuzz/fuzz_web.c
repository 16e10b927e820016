// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a request of HTTP to fabricweb, and as a reply of the manager. The first byte is the
 * method; then come, each on a line, the path, Accept, Content-Type, Origin, Last-Event-ID and
 * Authorization; the rest is the body. A bit of the first byte makes the fifth line the host, too.
 * The question to the manager is one line of JSON, with the command of the path.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/fabricweb/reply.h"
#include "tools/fabricweb/request.h"
#include "tools/fabricweb/ring.h"
#include "tools/fabricweb/users.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct users *make_users(void)
{
	char path[] = "/tmp/fuzz_web.XXXXXX", why[256];
	static const char text[] = "admin:change:sha256:"
		"3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0\n"
		"me:read:$6$abcdefgh$\n";
	int fd = mkstemp(path);
	struct users *u;

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	u = users_load(path, why, sizeof(why));
	unlink(path);
	return u;
}

static void check_plan(const struct web_plan *plan, enum web_method method)
{
	json_t *ask;

	switch (plan->kind) {
	case WEB_REFUSE:
		if (plan->status < 400 || plan->status > 505 || plan->ask || !*plan->text)
			abort();
		return;
	case WEB_FILE:
	case WEB_EVENTS:
	case WEB_USER:
		if (plan->change || plan->ask)
			abort();
		return;
	case WEB_METRICS:
	case WEB_FAMILIES:
	case WEB_ASK:
		break;
	}
	ask = json_loads(plan->ask, 0, NULL);
	if (!json_is_string(json_object_get(ask, "cmd")) || strchr(plan->ask, '\n') ||
	    plan->change != (method == WEB_POST))
		abort();
	json_decref(ask);
}

/* Only the user with the token is known, and a password is hashed only for the one that has one. */
static void check_user(struct users *users, const char *authorization)
{
	char name[USERS_NAME_MAX + 1];
	struct users_try try;

	switch (users_check(users, authorization, name, &try)) {
	case USERS_NOBODY:
		if (*name)
			abort();
		return;
	case USERS_READ:
		abort();
	case USERS_CHANGE:
		if (strcmp(name, "admin"))
			abort();
		return;
	case USERS_TRY:
		if ((*try.name && strcmp(try.name, "me")) || *try.hash != '$' ||
		    strlen(try.password) >= sizeof(try.password))
			abort();
		return;
	}
}

static void check_reply(const char *text, size_t len)
{
	struct reply r;
	char code[32];

	if (!reply_find(text, len, &r))
		return;
	if (r.ok ? !r.data.len : !r.error.len)
		abort();
	if (r.data.len && (r.data.at < text || r.data.at + r.data.len > text + len))
		abort();
	web_status_of_code(reply_code(&r, code, sizeof(code)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct users *users;
	static struct ring ring;
	char *copy, *at, *line[6] = { NULL };
	struct web_request rq = { 0 };
	struct web_plan plan;
	bool missed;

	if (!users) {
		users = make_users();
		ring_add(&ring, 1, 1000, "{}");
	}
	check_reply((const char *)data, len);
	if (!len)
		return 0;
	copy = malloc(len);
	memcpy(copy, data + 1, len - 1);
	copy[len - 1] = '\0';
	at = copy;
	for (unsigned int i = 0; i < 6 && at; i++)
		line[i] = strsep(&at, "\n");
	rq = (struct web_request){
		.method = (enum web_method)(*data % 4), .uri = line[0], .accept = line[1],
		.content_type = line[2], .origin = line[3],
		.host = *data & 4 ? line[4] : "node:7180", .hosts = *data & 4 ? "localhost node" : NULL,
		.host_due = *data & 8, .two_hosts = *data & 16,
		.last_event_id = line[4], .body = at ? at : "", .body_len = at ? strlen(at) : 0,
	};
	web_plan_make(&rq, &plan);
	check_plan(&plan, rq.method);
	if (plan.kind == WEB_EVENTS && ring_after(&ring, plan.text, &missed) > 1)
		abort();
	web_plan_free(&plan);
	check_user(users, line[5]);
	free(copy);
	return 0;
}

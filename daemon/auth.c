// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/auth.h"

static void sign_auth(const struct auth_session *s, struct svc_auth *out)
{
	const struct auth *a = s->auth;

	memset(out, 0, sizeof(*out));
	out->newest = s->newest;
	snprintf(out->fabric, sizeof(out->fabric), "%s", a->fabric);
	snprintf(out->name, sizeof(out->name), "%s", a->name);
}

int auth_open(struct auth *a, const struct auth_ops *ops, const char *fabric,
	      const char *name, const char *where, char *text)
{
	memset(a, 0, sizeof(*a));
	a->ops = ops;
	snprintf(a->fabric, sizeof(a->fabric), "%s", fabric);
	snprintf(a->name, sizeof(a->name), "%s", name);
	return ops->open(a, where, text);
}

void auth_close(struct auth *a)
{
	if (a->ops)
		a->ops->close(a);
	a->ops = NULL;
}

int auth_mac(const struct auth *a, const char *label, const void *data, size_t len, uint8_t *out)
{
	return a->ops->mac(a, label, data, len, out);
}

void auth_session_init(struct auth_session *s, const struct auth *a, bool initiator)
{
	memset(s, 0, sizeof(*s));
	s->auth = a;
	s->initiator = initiator;
}

int auth_start(struct auth_session *s, struct svc_auth *out)
{
	sign_auth(s, out);
	return s->auth->ops->start(s, out);
}

enum auth_next auth_step(struct auth_session *s, const struct svc_auth *in,
			 struct svc_auth *out)
{
	if (!s->peer_name[0]) {
		snprintf(s->peer_fabric, sizeof(s->peer_fabric), "%s", in->fabric);
		snprintf(s->peer_name, sizeof(s->peer_name), "%s", in->name);
	}
	if (strcmp(in->fabric, s->auth->fabric)) {
		snprintf(s->text, sizeof(s->text), "fabric is '%s', must be '%s'",
			 in->fabric, s->auth->fabric);
		return AUTH_REFUSED;
	}
	if (!in->name[0] || strcmp(in->name, s->peer_name)) {
		snprintf(s->text, sizeof(s->text), "the name is missing, or has changed since the "
			 "first message");
		return AUTH_REFUSED;
	}
	sign_auth(s, out);
	return s->auth->ops->step(s, in, out);
}

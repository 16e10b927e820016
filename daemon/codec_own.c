// SPDX-License-Identifier: GPL-2.0-only
/* Converts fabricd's own messages, struct svc_msg, to the bytes of svc.proto and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/codec.h"
#include "daemon/fm/fm.h"
#include "daemon/svc_msg.h"

const char *svc_msg_name(const struct svc_msg *msg)
{
	switch (msg->type) {
	case SVC_FM:
		return fm_msg_name(msg->fm.type);
	case SVC_AUTH:
		return "auth";
	case SVC_ASK:
		return "ask";
	case SVC_ANSWER:
		return "answer";
	case SVC_EVENT:
		return "event";
	case SVC_LINES:
		return "lines";
	}
	return "?";
}

/* --- packing --------------------------------------------------------------- */

static int pack_auth(Svc__Message *m, const struct svc_auth *a, uint8_t **data, size_t *len)
{
	Svc__Auth b = SVC__AUTH__INIT;

	if (a->nonce_len > SVC_AUTH_MAX || a->proof_len > SVC_AUTH_MAX)
		return -EINVAL;
	b.nonce.len = a->nonce_len;
	b.nonce.data = (uint8_t *)a->nonce;
	b.proof.len = a->proof_len;
	b.proof.data = (uint8_t *)a->proof;
	b.fabric = (char *)a->fabric;
	b.name = (char *)a->name;
	b.newest = a->newest;
	m->auth = &b;
	return codec_pack(m, SVC_AUTH, data, len);
}

static int pack_ask(Svc__Message *m, const struct svc_ask *a, uint8_t **data, size_t *len)
{
	Svc__Ask b = SVC__ASK__INIT;

	b.id = a->id;
	b.to = a->to;
	b.node = a->node;
	b.privileged = a->user.privileged;
	b.jobs = a->user.jobs;
	b.uid = a->user.uid + 1;
	b.from = a->user.node + 1;
	b.ttl = a->ttl;
	b.command = a->command;
	m->ask = &b;
	return codec_pack(m, SVC_ASK, data, len);
}

static int pack_answer(Svc__Message *m, const struct svc_answer *a, uint8_t **data, size_t *len)
{
	Svc__Answer b = SVC__ANSWER__INIT;

	b.id = a->id;
	b.more = a->more;
	b.node = a->node;
	b.reply = a->reply;
	m->answer = &b;
	return codec_pack(m, SVC_ANSWER, data, len);
}

static int pack_event(Svc__Message *m, const struct svc_event *e, uint8_t **data, size_t *len)
{
	Svc__Event b = SVC__EVENT__INIT;

	b.time = e->time;
	b.node = (char *)e->node;
	b.level = e->level;
	b.kind = (char *)e->kind;
	b.text = (char *)e->text;
	m->event = &b;
	return codec_pack(m, SVC_EVENT, data, len);
}

static int pack_lines(Svc__Message *m, const struct svc_lines *l, uint8_t **data, size_t *len)
{
	Svc__Lines b = SVC__LINES__INIT;

	b.node = l->node;
	b.links = l->links;
	m->lines = &b;
	return codec_pack(m, SVC_LINES, data, len);
}

unsigned int svc_msg_since(const struct svc_msg *msg)
{
	if (msg->type != SVC_FM)
		return 5;
	if (msg->fm.type == FM_MSG_GROW || msg->fm.type == FM_MSG_GROWN)
		return 7;
	return msg->fm.type == FM_MSG_KEPT ? 6 : 5;
}

int svc_msg_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len)
{
	Svc__Message m = SVC__MESSAGE__INIT;

	m.schema = schema;
	switch (msg->type) {
	case SVC_FM:
		return codec_fm_pack(&m, &msg->fm, data, len);
	case SVC_AUTH:
		return pack_auth(&m, &msg->auth, data, len);
	case SVC_ASK:
		return pack_ask(&m, &msg->ask, data, len);
	case SVC_ANSWER:
		return pack_answer(&m, &msg->answer, data, len);
	case SVC_EVENT:
		return pack_event(&m, &msg->event, data, len);
	case SVC_LINES:
		return pack_lines(&m, &msg->lines, data, len);
	}
	return -EINVAL;
}

/* --- unpacking ------------------------------------------------------------- */

static int get_auth(struct svc_auth *to, const Svc__Auth *from)
{
	if (!codec_text(to->fabric, sizeof(to->fabric), from->fabric) ||
	    !codec_text(to->name, sizeof(to->name), from->name) ||
	    from->nonce.len > SVC_AUTH_MAX || from->proof.len > SVC_AUTH_MAX)
		return -EBADMSG;
	to->newest = from->newest;
	to->nonce_len = (uint32_t)from->nonce.len;
	to->proof_len = (uint32_t)from->proof.len;
	if (to->nonce_len)
		memcpy(to->nonce, from->nonce.data, to->nonce_len);
	if (to->proof_len)
		memcpy(to->proof, from->proof.data, to->proof_len);
	return 0;
}

static int get_copy(char **to, const char *from)
{
	*to = strdup(from);
	return *to ? 0 : -ENOMEM;
}

static int get_ask(struct svc_ask *to, const Svc__Ask *from)
{
	if (from->to >= SVC_TOS || from->ttl < 1 || from->ttl > SVC_TTL_MAX)
		return -EBADMSG;
	to->id = from->id;
	to->to = (uint8_t)from->to;
	to->node = from->node;
	to->user.privileged = from->privileged;
	to->user.jobs = from->jobs;
	to->user.uid = from->uid - 1;
	to->user.node = from->from - 1;
	to->ttl = from->ttl;
	return get_copy(&to->command, from->command);
}

static int get_answer(struct svc_answer *to, const Svc__Answer *from)
{
	to->id = from->id;
	to->more = from->more;
	to->node = from->node;
	return get_copy(&to->reply, from->reply);
}

static int get_event(struct svc_event *to, const Svc__Event *from)
{
	/* The comparison is false for NaN, too. */
	if (!(from->time >= 0 && from->time <= SVC_TIME_MAX) || from->level > FM_DEBUG ||
	    !codec_text(to->node, sizeof(to->node), from->node) ||
	    !codec_text(to->kind, sizeof(to->kind), from->kind) ||
	    !codec_text(to->text, sizeof(to->text), from->text))
		return -EBADMSG;
	to->time = from->time;
	to->level = (uint8_t)from->level;
	return 0;
}

static int get_own_body(struct svc_msg *out, const Svc__Message *m)
{
	out->type = (uint8_t)(m->body_case - 1);
	switch (out->type) {
	case SVC_AUTH:
		return get_auth(&out->auth, m->auth);
	case SVC_ASK:
		return get_ask(&out->ask, m->ask);
	case SVC_ANSWER:
		return get_answer(&out->answer, m->answer);
	case SVC_EVENT:
		return get_event(&out->event, m->event);
	case SVC_LINES:
		out->lines.node = m->lines->node;
		return get_copy(&out->lines.links, m->lines->links);
	}
	out->type = SVC_FM;
	return codec_fm(&out->fm, m);
}

int svc_msg_unpack(const uint8_t *data, size_t len, struct svc_msg *out)
{
	Svc__Message *m;
	int err = codec_open(data, len, &m);
	uint32_t schema = m ? m->schema : 0;

	memset(out, 0, sizeof(*out));
	if (!err)
		err = get_own_body(out, m);
	if (m)
		svc__message__free_unpacked(m, NULL);
	if (err && out->type != SVC_FM)
		svc_msg_clear(out);
	out->schema = schema;
	return err;
}

void svc_msg_clear(struct svc_msg *msg)
{
	switch (msg->type) {
	case SVC_FM:
		fm_msg_clear(&msg->fm);
		break;
	case SVC_ASK:
		free(msg->ask.command);
		break;
	case SVC_ANSWER:
		free(msg->answer.reply);
		break;
	case SVC_LINES:
		free(msg->lines.links);
		break;
	}
	memset(msg, 0, sizeof(*msg));
}

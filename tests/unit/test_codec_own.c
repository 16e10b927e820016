// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricd's own messages on the wire: valid ones arrive unchanged, and those that break a limit do
 * not arrive. Otherwise a member could write anything on the terminals of administrators.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/codec.h"
#include "daemon/fm/fm.h"
#include "daemon/svc_msg.h"

static const struct svc_msg all[] = {
	{ .fm = { .type = FM_MSG_FETCH, .fetch = { .version = 77 } } },
	{ .type = SVC_AUTH, .auth = { "torus", "n0", 9, 2, SVC_AUTH_MAX, { 1, 2 }, { 3, 4, 5 } } },
	{ .type = SVC_ASK, .ask = { 1ull << 63, SVC_TO_NODE, TORUS_NO_NODE, { true, 1000, 3, true },
				    SVC_TTL_MAX, (char *)"{\"cmd\":\"x\"}" } },
	{ .type = SVC_ANSWER, .answer = { 9, true, 12, (char *)"[1]" } },
	{ .type = SVC_ANSWER, .answer = { 9, false, 0, (char *)"" } },
	{ .type = SVC_EVENT, .event = { 1.5, FM_DEBUG, "0,1", "link", "port 3: it is gone" } },
	{ .type = SVC_LINES, .lines = { 7, (char *)"[]" } },
	{ .type = SVC_ASK, .ask = { 4, SVC_TO_ROOT, 0, { false, SVC_NO_UID, TORUS_NO_NODE, false }, 1,
				    (char *)"{}" } },
};

#define N (sizeof(all) / sizeof(all[0]))

static int packed(const struct svc_msg *m, struct svc_msg *out)
{
	uint8_t *data;
	size_t len;
	int err;

	assert_int_equal(svc_msg_pack(m, 5, &data, &len), 0);
	err = svc_msg_unpack(data, len, out);
	free(data);
	return err;
}

/* Takes the text to which a message points out of it. Return: the text. */
static const char *take_text(struct svc_msg *m)
{
	char **at = m->type == SVC_ASK ? &m->ask.command : m->type == SVC_ANSWER ?
		    &m->answer.reply : m->type == SVC_LINES ? &m->lines.links : NULL;
	const char *text = at ? *at : "";

	if (at)
		*at = NULL;
	return text;
}

static void unpacked_own_message_equals_packed_one(void **state)
{
	static const char *const name[N] = {
		"fetch", "auth", "ask", "answer", "answer", "event", "lines", "ask",
	};

	(void)state;
	for (unsigned int i = 0; i < N; i++) {
		struct svc_msg m, a = all[i], b;

		assert_int_equal(packed(&a, &m), 0);
		assert_string_equal(svc_msg_name(&m), name[i]);
		assert_int_equal(m.schema, 5);
		b = m;
		b.schema = 0;
		assert_string_equal(take_text(&b), take_text(&a));
		assert_memory_equal(&b, &a, sizeof(a));
		svc_msg_clear(&m);
		svc_msg_clear(&m);	/* the message has no content any more */
	}
	assert_string_equal(svc_msg_name(&(struct svc_msg) { .type = 99 }), "?");
}

/* An altered message is refused, or what comes out can be packed again. */
static void altered_own_message_is_refused_or_packs_again(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (unsigned int i = 0; i < N; i++) {
		uint8_t *data, *again;
		size_t len, len2;

		assert_int_equal(svc_msg_pack(&all[i], 5, &data, &len), 0);
		for (unsigned int bit = 0; bit < 8 * len; bit++) {
			struct svc_msg m;

			data[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (svc_msg_unpack(data, len, &m)) {
				refused++;
			} else {
				assert_int_equal(svc_msg_pack(&m, 5, &again, &len2), 0);
				free(again);
				svc_msg_clear(&m);
			}
			data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		for (size_t n = 0; n < len; n++) {
			struct svc_msg m;

			if (!svc_msg_unpack(data, n, &m))
				svc_msg_clear(&m);
		}
		free(data);
	}
	assert_true(refused > 100);
}

/* Return: true if message @i is accepted after @change. */
static int changed(unsigned int i, void (*change)(struct svc_msg *m))
{
	struct svc_msg m = all[i], out;
	int err;

	change(&m);
	err = packed(&m, &out);
	if (!err)
		svc_msg_clear(&out);
	return err;
}

static void nobody(struct svc_msg *m)
{
	m->ask.to = SVC_TOS;
}

static void no_time(struct svc_msg *m)
{
	m->ask.ttl = 0;
}

static void for_ever(struct svc_msg *m)
{
	m->ask.ttl = SVC_TTL_MAX + 1;
}

static void no_level(struct svc_msg *m)
{
	m->event.level = FM_DEBUG + 1;
}

static void no_number(struct svc_msg *m)
{
	m->event.time = NAN;
}

static void before_1970(struct svc_msg *m)
{
	m->event.time = -1;
}

/* A time is refused for which a calendar has no year, or JSON no number. */
static void far_away(struct svc_msg *m)
{
	m->event.time = 1e300;
}

static void own_message_beyond_limits_is_refused(void **state)
{
	static const struct {
		unsigned int of;
		void (*change)(struct svc_msg *m);
	} bad[] = { { 2, nobody }, { 2, no_time }, { 2, for_ever }, { 5, no_level }, { 5, no_number },
		    { 5, before_1970 }, { 5, far_away } };
	struct svc_msg m = all[1];
	uint8_t *data;
	size_t len;

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(changed(bad[i].of, bad[i].change), -EBADMSG);
	m.auth.nonce_len = SVC_AUTH_MAX + 1;
	assert_int_equal(svc_msg_pack(&m, 5, &data, &len), -EINVAL);
	m.auth.nonce_len = 0;
	m.auth.proof_len = SVC_AUTH_MAX + 1;
	assert_int_equal(svc_msg_pack(&m, 5, &data, &len), -EINVAL);
	m.type = 99;
	assert_int_equal(svc_msg_pack(&m, 5, &data, &len), -EINVAL);
	assert_int_equal(svc_msg_unpack(NULL, 0, &m), -EBADMSG);
}

/* A nonce, a proof and a name are refused if they are one byte longer than there is room for. */
static void text_one_byte_too_long_is_refused(void **state)
{
	uint8_t bytes[SVC_AUTH_MAX + 1] = { 0 }, *data;
	char text[FM_TEXT_MAX + 1];
	ProtobufCBinaryData *of;
	struct svc_msg out;
	size_t len;

	(void)state;
	memset(text, 'x', sizeof(text));
	for (unsigned int i = 0; i < 6; i++) {
		Svc__Message m = SVC__MESSAGE__INIT;
		Svc__Event event = SVC__EVENT__INIT;
		Svc__Auth auth = SVC__AUTH__INIT;
		char **at[] = { &auth.fabric, &auth.name, &event.node, &event.kind, &event.text };
		static const size_t room[] = {
			TORUS_NAME_MAX + 1, TORUS_NAME_MAX + 1, TORUS_TEXT_MAX, SVC_KIND_MAX,
			FM_TEXT_MAX,
		};

		of = i % 2 ? &auth.nonce : &auth.proof;
		for (unsigned int over = 0; over < 2; over++) {
			if (i < 5) {
				text[room[i] - 1 + over] = '\0';
				*at[i] = text;
			} else {
				*of = (ProtobufCBinaryData) { SVC_AUTH_MAX + over, bytes };
			}
			if (i < 2 || i == 5)
				m.auth = &auth;
			else
				m.event = &event;
			assert_int_equal(codec_pack(&m, i < 2 || i == 5 ? SVC_AUTH : SVC_EVENT, &data, &len),
					 0);
			assert_int_equal(svc_msg_unpack(data, len, &out), over ? -EBADMSG : 0);
			free(data);
			memset(text, 'x', sizeof(text));
		}
	}
}

/* Any schema is reported, whatever follows it; svc.c decides which peer may use it. */
static void schema_is_reported_whatever_follows_it(void **state)
{
	const struct svc_msg ping = { .fm = { .type = FM_MSG_PING } };
	struct svc_msg out;
	uint8_t *data;
	size_t len;

	(void)state;
	assert_int_equal(svc_msg_pack(&ping, 300, &data, &len), 0);
	assert_int_equal(svc_msg_unpack(data, len, &out), 0);
	assert_int_equal(out.schema, 300);
	free(data);
	assert_int_equal(svc_msg_pack(&ping, 7, &data, &len), 0);
	data[2] = 0xf8;		/* field 2047, which no schema has yet */
	data[3] = 0x7f;
	assert_int_equal(svc_msg_unpack(data, len - 2, &out), -EBADMSG);
	assert_int_equal(out.schema, 7);
	free(data);
}

/* A message that an earlier release does not know is sent to no such peer: each has its schema. */
static void each_message_has_schema_that_introduced_it(void **state)
{
	(void)state;
	for (unsigned int type = FM_MSG_HELLO; type < FM_MSG_TYPES; type++) {
		struct svc_msg m = { .fm = { .type = (uint8_t)type } };

		assert_int_equal(svc_msg_since(&m), type <= FM_MSG_LEAD ? 5 :
				 type <= FM_MSG_KEPT ? 6 : 7);
	}
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(svc_msg_since(&all[i]), 5);
}

/* Names and events appear in logs and on terminals: only printable ASCII may pass. */
static void texts_are_printable_ascii(void **state)
{
	static const char *const bad[] = { "a\033[2J", "a\nb", "\177", "\200", "a\xff\xfe" };
	struct svc_msg auth = all[1], event = all[5], out;

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(auth.auth.name, bad[i]);
		assert_int_equal(packed(&auth, &out), -EBADMSG);
		event = all[5];
		strcpy(event.event.node, bad[i]);
		assert_int_equal(packed(&event, &out), -EBADMSG);
		event = all[5];
		strcpy(event.event.kind, bad[i]);
		assert_int_equal(packed(&event, &out), -EBADMSG);
		event = all[5];
		strcpy(event.event.text, bad[i]);
		assert_int_equal(packed(&event, &out), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(unpacked_own_message_equals_packed_one),
		cmocka_unit_test(altered_own_message_is_refused_or_packs_again),
		cmocka_unit_test(own_message_beyond_limits_is_refused),
		cmocka_unit_test(text_one_byte_too_long_is_refused),
		cmocka_unit_test(texts_are_printable_ascii),
		cmocka_unit_test(schema_is_reported_whatever_follows_it),
		cmocka_unit_test(each_message_has_schema_that_introduced_it),
	};

	return cmocka_run_group_tests_name("codec_own", t, NULL, NULL);
}

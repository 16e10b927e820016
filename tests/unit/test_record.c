// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a manager as lines of a recording: reading returns each event unchanged, and refuses
 * all other lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/record.h"
#include "tests/unit/random.h"

/*
 * Fills memory with different bytes, so that a member which was left out or exchanged is noticed.
 */
static void fill(void *to, size_t len, uint64_t *r)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = (uint8_t)random_next(r);
}

static struct torus_link link_of(uint64_t *r)
{
	struct torus_link l = {
		.port = (uint8_t)random_below(r, TORUS_MAX_PORTS),
		.state = (uint8_t)random_below(r, TORUS_LINK_STATES),
		.old_state = (uint8_t)random_below(r, TORUS_LINK_STATES),
		.reason = (uint8_t)random_below(r, TORUS_REASONS),
		.admin = random_below(r, 2), .carrier = random_below(r, 2), .closed = random_below(r, 2),
		.lower = "veth0", .session = (uint32_t)random_next(r), .seq = (uint16_t)random_next(r),
		.peer_guid = random_next(r), .peer_port = (uint8_t)random_next(r),
		.retry = (uint8_t)random_below(r, TORUS_RETRIES),
		.retry_wanted = (uint8_t)random_below(r, TORUS_RETRIES),
	};

	return l;
}

static struct torus_park park_of(uint64_t *r)
{
	struct torus_park p;

	fill(&p, sizeof(p), r);
	return p;
}

static void assert_same_park(const struct torus_park *a, const struct torus_park *b)
{
	assert_int_equal(a->parked, b->parked);
	assert_int_equal(a->unresolved, b->unresolved);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->bytes_max, b->bytes_max);
	assert_int_equal(a->held, b->held);
	assert_int_equal(a->flow.version, b->flow.version);
	assert_int_equal(a->flow.epoch, b->flow.epoch);
	assert_memory_equal(a->flow.counter, b->flow.counter, sizeof(a->flow.counter));
}

/* Converts an event to a line of text and back. */
static struct record_event again(const struct record_event *e)
{
	struct record_event out;
	json_t *j = record_event_json(e), *line;
	char *text;

	assert_non_null(j);
	assert_true(record_is_event(j));
	text = json_dumps(j, JSON_COMPACT);
	json_decref(j);
	line = json_loads(text, 0, NULL);
	assert_non_null(line);
	assert_int_equal(record_event_parse(line, &out), 0);
	assert_int_equal(out.kind, e->kind);
	assert_int_equal(out.now, e->now);
	json_decref(line);
	free(text);
	return out;
}

static void recorded_begin_is_read_back_equal(void **state)
{
	uint64_t seed = random_seed(1), r = seed, rows[24];
	struct torus_link links[6];
	struct record_event e = { .kind = RECORD_BEGIN, .now = random_next(&r) }, b;
	struct fm_config *c = &e.begin.config;
	struct torus_device *d = &e.begin.dev;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 6; i++)
		links[i] = link_of(&r);
	fill(rows, sizeof(rows), &r);
	e.begin.park = park_of(&r);
	*c = (struct fm_config) {
		.fabric = "f", .name = "n", .address = "[fd00::1]:7117", .fanout = 3,
		.shape = { .ndims = 3, .size = { 2, 3, 4, 1, 1, 1 } }, .init_interval = random_next(&r),
		.quiet = random_next(&r), .resend = random_next(&r), .drain_max = random_next(&r),
		.resolve_max = random_next(&r), .member_max = random_next(&r), .keepalive = random_next(&r),
		.flap_limit = 7, .flap_half_life = random_next(&r), .hold_max = random_next(&r),
		.seed = random_next(&r),
	};
	*d = (struct torus_device) {
		.name = "torus0", .guid = random_next(&r), .epoch = (uint32_t)random_next(&r), .nports = 6,
		.bootstrap = true, .placed = true, .shape = c->shape, .node = 17,
		.version = random_next(&r), .relay_packets = (uint32_t)random_next(&r),
		.payload_max = (uint32_t)random_next(&r),
	};
	torus_node_coords(&d->shape, d->node, &d->coords);
	e.begin.links = links;
	e.begin.rows = rows;
	b = again(&e);
	assert_memory_equal(&b.begin.config, c, sizeof(*c));
	assert_memory_equal(&b.begin.dev, d, sizeof(*d));
	assert_memory_equal(b.begin.links, links, sizeof(links));
	assert_memory_equal(b.begin.rows, rows, sizeof(rows));
	assert_same_park(&b.begin.park, &e.begin.park);
	record_event_clear(&b);
	/* A NIC without a place has no rows, and a manager may have no shape. */
	d->placed = false;
	c->shape = (struct torus_shape) { .size = { 1, 1, 1, 1, 1, 1 } };
	b = again(&e);
	assert_null(b.begin.rows);
	assert_int_equal(b.begin.config.shape.ndims, 0);
	assert_false(b.begin.dev.placed);
	record_event_clear(&b);
}

static void recorded_events_are_read_back_equal(void **state)
{
	uint64_t seed = random_seed(2), r = seed;
	struct fm_msg msg = { .type = FM_MSG_REFUSE };
	struct record_event e = { .now = 1 }, b;
	uint8_t packet[TORUS_MGMT_MAX];

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	e.kind = RECORD_LINK;
	e.link = link_of(&r);
	b = again(&e);
	assert_memory_equal(&b.link, &e.link, sizeof(e.link));
	fill(packet, sizeof(packet), &r);
	e = (struct record_event) { .kind = RECORD_MGMT, .mgmt = { 11, packet, sizeof(packet) } };
	b = again(&e);
	assert_int_equal(b.mgmt.port, 11);
	assert_int_equal(b.mgmt.len, sizeof(packet));
	assert_memory_equal(b.mgmt.data, packet, sizeof(packet));
	record_event_clear(&b);
	e = (struct record_event) { .kind = RECORD_PARK, .now = UINT64_MAX, .park = park_of(&r) };
	b = again(&e);
	assert_same_park(&b.park, &e.park);
	e = (struct record_event) { .kind = RECORD_DONE, .done = { .tag = UINT32_MAX, .err = -110 } };
	b = again(&e);
	assert_int_equal(b.done.tag, UINT32_MAX);
	assert_int_equal(b.done.err, -110);
	assert_false(b.done.has_counts);
	e = (struct record_event) { .kind = RECORD_DONE, .done = { .tag = 1, .has_counts = true } };
	e.done.counts = (struct fm_counts) { park_of(&r), random_next(&r) };
	b = again(&e);
	assert_int_equal(b.done.err, 0);
	assert_true(b.done.has_counts);
	assert_same_park(&b.done.counts.park, &e.done.counts.park);
	assert_int_equal(b.done.counts.lost, e.done.counts.lost);
	for (unsigned int kind = RECORD_UP; kind <= RECORD_DOWN; kind++) {
		e = (struct record_event) { .kind = kind, .conn = 5 };
		assert_int_equal(again(&e).conn, 5);
	}
	strcpy(msg.refuse.text, "no");
	e = (struct record_event) { .kind = RECORD_MSG, .msg = { 9, &msg } };
	b = again(&e);
	assert_int_equal(b.msg.conn, 9);
	assert_int_equal(b.msg.msg->type, FM_MSG_REFUSE);
	assert_string_equal(b.msg.msg->refuse.text, "no");
	record_event_clear(&b);
	e = (struct record_event) {
		.kind = RECORD_EXCLUDE, .exclude = { .node = 77, .port = -1, .on = true },
	};
	b = again(&e);
	assert_int_equal(b.exclude.node, 77);
	assert_int_equal(b.exclude.port, -1);
	assert_true(b.exclude.on);
	assert_false(b.exclude.more);
	e.exclude.more = true;
	b = again(&e);
	assert_true(b.exclude.more);
	e = (struct record_event) { .kind = RECORD_STALLED, .stalled = { 11, true } };
	b = again(&e);
	assert_true(b.stalled.port == 11 && b.stalled.is);
	e = (struct record_event) {
		.kind = RECORD_JOB,
		.job = { .on = true, .job = { .how = FM_JOB_GROW, .nodes = 6, .uid = 7, .name = "j" },
			 .want = { .how = FM_JOB_GROW, .at = 5, .nodes = 6, .links = 12,
				   .margin = 65535, .rate = 1u << 31 } },
	};
	b = again(&e);
	assert_int_equal(b.job.job.nodes, 6);
	assert_memory_equal(&b.job.want, &e.job.want, sizeof(b.job.want));
	record_event_clear(&b);
	e = (struct record_event) { .kind = RECORD_MOVE, .move = 78 };
	assert_int_equal(again(&e).move, 78);
	e = (struct record_event) { .kind = RECORD_CLOCK, .wall = 99999999999 };
	assert_int_equal(again(&e).wall, 99999999999);
	e = (struct record_event) { .kind = RECORD_ARBITER,
				    .arbiter = { 1ULL << 63, FM_REFUSED, 79, "not \"quorate\"" } };
	b = again(&e);
	assert_true(b.arbiter.epoch == 1ULL << 63 && b.arbiter.verdict == FM_REFUSED && b.arbiter.high == 79);
	assert_string_equal(b.arbiter.why, "not \"quorate\"");
	e = (struct record_event) { .kind = RECORD_KEPT, .kept = { 1ULL << 63, 80, true } };
	b = again(&e);
	assert_true(b.kept.epoch == 1ULL << 63 && b.kept.version == 80 && b.kept.ok);
	for (unsigned int kind = RECORD_TIMER; kind <= RECORD_END; kind += RECORD_END - RECORD_TIMER) {
		e = (struct record_event) { .kind = kind, .now = 3 };
		again(&e);
	}
}

static void malformed_event_is_refused(void **state)
{
	static const char *const bad[] = {
		"{}", "{\"event\":\"timer\"}", "{\"event\":\"nap\",\"now\":1}", "{\"event\":3,\"now\":1}",
		"{\"event\":\"timer\",\"now\":\"1\"}", "{\"event\":\"up\",\"now\":1}",
		"{\"event\":\"link\",\"now\":1}", "{\"event\":\"link\",\"now\":1,\"link\":{\"port\":1}}",
		"{\"event\":\"mgmt\",\"now\":1,\"port\":12,\"data\":\"\"}",
		"{\"event\":\"mgmt\",\"now\":1,\"port\":1,\"data\":\"abc\"}",
		"{\"event\":\"mgmt\",\"now\":1,\"port\":1,\"data\":\"xy\"}",
		"{\"event\":\"mgmt\",\"now\":1,\"port\":1}",
		"{\"event\":\"park\",\"now\":1,\"park\":{}}",
		"{\"event\":\"msg\",\"now\":1,\"conn\":1}",
		"{\"event\":\"msg\",\"now\":1,\"conn\":1,\"data\":\"ff\"}",
		"{\"event\":\"exclude\",\"now\":1,\"node\":-1,\"port\":0,\"on\":true}",
		"{\"event\":\"exclude\",\"now\":1,\"node\":1,\"port\":0}",
		"{\"event\":\"arbiter\",\"now\":1,\"epoch\":1,\"verdict\":3,\"high\":0,\"why\":\"\"}",
		"{\"event\":\"arbiter\",\"now\":1,\"epoch\":1,\"verdict\":1,\"high\":0}",
		"{\"event\":\"kept\",\"now\":1,\"epoch\":1,\"version\":1}",
		"{\"event\":\"move\",\"now\":1}", "{\"event\":\"move\",\"now\":1,\"node\":-1}",
		"{\"event\":\"done\",\"now\":1}", "{\"event\":\"done\",\"now\":1,\"tag\":1}",
		"{\"event\":\"done\",\"now\":1,\"tag\":-1,\"err\":0}",
		"{\"event\":\"done\",\"now\":1,\"tag\":1,\"err\":1}",
		"{\"event\":\"done\",\"now\":1,\"tag\":1,\"err\":-4096}",
		"{\"event\":\"done\",\"now\":1,\"tag\":1,\"err\":0,\"park\":{},\"lost\":1}",
		"{\"event\":\"begin\",\"now\":1,\"format\":4}",
		"{\"event\":\"begin\",\"now\":1,\"format\":4,\"config\":{},\"device\":{\"ports\":0},\"links\":[]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *line = json_loads(bad[i], 0, NULL);
		struct record_event e;

		assert_non_null(line);
		if (record_event_parse(line, &e) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		json_decref(line);
	}
}

/* A recording of an older fabricd gets another error than a file that is none. */
static void recording_of_other_format_has_own_error(void **state)
{
	static const char *const other[] = {
		"{\"event\":\"begin\",\"now\":1}", "{\"event\":\"begin\",\"now\":1,\"format\":2}",
		"{\"event\":\"begin\",\"now\":1,\"format\":3}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		json_t *line = json_loads(other[i], 0, NULL);
		struct record_event e;

		assert_int_equal(record_event_parse(line, &e), -EPROTO);
		json_decref(line);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_begin_is_read_back_equal),
		cmocka_unit_test(recorded_events_are_read_back_equal),
		cmocka_unit_test(malformed_event_is_refused),
		cmocka_unit_test(recording_of_other_format_has_own_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

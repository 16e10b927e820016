// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a node judges a link anew, and on which reports a root acts: a link that is included was
 * repaired, and errors that were counted or reported before are no reason to take it out of
 * service again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/errors.h"
#include "daemon/fabricd.h"
#include "daemon/nic.h"
#include "daemon/record.h"

#define BAD_BITS 100000000ULL	/* bits of a reading: an error in each million of them */

static struct {
	uint64_t version;
	const char *why;	/* why port 0 is excluded; NULL: it is not */
	unsigned int orders;	/* orders that the root gave */
	uint64_t now;
	char event[FM_TEXT_MAX];	/* the last one */
	bool changed;		/* what errors_read() returned last */
} a;

static struct fabricd d;

/* --- what errors.c asks ------------------------------------------------------------------- */

const struct torus_shape *fm_shape(const struct fm *fm)
{
	static const struct torus_shape shape = { 2, { 4, 4 } };

	(void)fm;
	return &shape;
}

uint32_t fm_own(const struct fm *fm)
{
	(void)fm;
	return 5;
}

uint64_t fm_version(const struct fm *fm)
{
	(void)fm;
	return a.version;
}

uint64_t fm_version_epoch(const struct fm *fm)
{
	(void)fm;
	return 1;
}

const char *fm_excluded(const struct fm *fm, uint32_t node, unsigned int port)
{
	(void)fm;
	return node == 5 && port == 0 ? a.why : NULL;
}

bool fm_exclusion_given(const struct fm *fm, uint32_t node, unsigned int port)
{
	(void)fm;
	(void)node;
	(void)port;
	return false;
}

bool fm_is_root(const struct fm *fm)
{
	(void)fm;
	return true;
}

const struct fm_order *fm_order_given(const struct fm *fm, uint32_t i)
{
	(void)fm;
	(void)i;
	return NULL;
}

int fm_exclude_severs(const struct fm *fm, const struct fm_target *end, uint32_t n,
		      struct fm_severed *out)
{
	(void)fm;
	(void)end;
	(void)n;
	memset(out, 0, sizeof(*out));
	return 0;
}

const struct fm_entry *fm_node(const struct fm *fm, uint32_t node)
{
	(void)fm;
	(void)node;
	return NULL;
}

uint32_t fm_node_by_guid(const struct fm *fm, uint64_t guid)
{
	(void)fm;
	(void)guid;
	return TORUS_NO_NODE;
}

int machine_event(struct fabricd *f, const struct record_event *e)
{
	(void)f;
	assert_int_equal(e->kind, RECORD_EXCLUDE);
	assert_int_equal(e->exclude.node, 5);
	assert_int_equal(e->exclude.port, 0);
	a.orders++;
	return 0;
}

void fabricd_event(struct fabricd *f, double wall, const char *node, enum fm_level level,
		   const char *kind, const char *text)
{
	(void)f;
	(void)wall;
	(void)node;
	(void)level;
	assert_string_equal(kind, "errors");
	snprintf(a.event, sizeof(a.event), "%s", text);
}

uint64_t loop_now(void)
{
	return a.now;
}

double loop_wall(void)
{
	return 1e9;
}

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *arg), void *arg)
{
	(void)l;
	(void)fn;
	(void)arg;
	return NULL;
}

void loop_timer_free(struct loop_timer *t)
{
	(void)t;
}

void loop_timer_set(struct loop_timer *t, uint64_t at)
{
	(void)t;
	(void)at;
}

void nic_links_get(struct nic *nic)
{
	(void)nic;
}

/* --- tests -------------------------------------------------------------------------------- */

static void begin(void)
{
	memset(&a, 0, sizeof(a));
	memset(&d, 0, sizeof(d));
	a.now = SEC;
	a.version = 1;
	d.fm = (struct fm *)&a;
	d.config.out_of_service = 5;
	quality_rules_default(&d.config.quality);
	d.errors.kept = json_object();
	assert_false(errors_table(&d));
}

static void end(void)
{
	json_decref(d.errors.kept);
}

/* Reads the link twice a second for 5 s, with this many errors each time. */
static void reads(unsigned int errors)
{
	static struct torus_link l = { .port = 0, .state = TORUS_LINK_UP, .session = 7 };

	for (unsigned int i = 0; i < 10; i++) {
		a.now += SEC / 2;
		l.counter[TORUS_PC_RX_FLITS] += BAD_BITS / 128;
		l.counter[TORUS_PC_CRC_ERRORS] += errors;
		errors_read(&d, &l, 1);
	}
}

static void excludes(const char *why)
{
	a.why = why;
	a.version++;
}

/* A link that was excluded and included is judged anew, also if no reading came in between. */
static void included_link_is_judged_anew(void **state)
{
	(void)state;
	begin();
	reads(100);
	assert_int_equal(d.errors.port[0].level, QUALITY_FAIL);
	excludes("admin");
	assert_false(errors_table(&d));
	assert_int_equal(d.errors.port[0].level, QUALITY_FAIL);
	assert_non_null(strstr(a.event, "1,1:+x ('') receives badly from "));
	excludes(NULL);
	assert_true(errors_table(&d));
	assert_non_null(strstr(a.event, "over: 1,1:+x ('') receives from "));
	assert_int_equal(d.errors.port[0].level, QUALITY_GOOD);
	assert_false(errors_table(&d));
	reads(0);
	assert_int_equal(d.errors.port[0].level, QUALITY_GOOD);
	/*
	 * A port that was not repaired is bad again; a link that is lost and comes back is no
	 * repair.
	 */
	reads(100);
	assert_int_equal(d.errors.port[0].level, QUALITY_FAIL);
	excludes("fault");
	assert_false(errors_table(&d));
	excludes(NULL);
	assert_false(errors_table(&d));
	assert_int_equal(d.errors.port[0].level, QUALITY_FAIL);
	end();
}

/* Reads two links @n times a second apart; their round trips are @trip ns and 1 ms. */
static void read_trips(unsigned int n, uint64_t trip, uint32_t session)
{
	struct torus_link l[2] = { { .port = 0, .state = TORUS_LINK_UP, .session = session },
				   { .port = 1, .state = TORUS_LINK_UP, .session = 7 } };

	for (unsigned int i = 0; i < n; i++) {
		a.now += SEC;
		l[0].gauge[TORUS_PG_ROUND_TRIP] = trip + i;
		l[1].gauge[TORUS_PG_ROUND_TRIP] = MS + i;
		a.changed = errors_read(&d, l, 2);
	}
}

static void slow_cable_is_reported_until_it_is_good_or_new(void **state)
{
	static const struct torus_link up = { .port = 0, .state = TORUS_LINK_UP };

	(void)state;
	begin();
	d.config.round_trip_max = 3 * MS;
	read_trips(3, 20 * MS, 7);
	assert_false(errors_bad(&d, &up));
	assert_string_equal(a.event, "");
	read_trips(1, 20 * MS, 7);
	assert_true(a.changed && errors_bad(&d, &up));
	assert_non_null(strstr(a.event, "1,1:+x ('') has a slow cable to "));
	assert_non_null(strstr(a.event, ": the round trip takes 20 ms, elsewhere at most 1 ms: replace it"));
	read_trips(1, 2 * MS, 7);
	assert_true(a.changed && !errors_bad(&d, &up));
	assert_non_null(strstr(a.event, "over: 1,1:+x ('') has a slow cable to "));
	assert_non_null(strstr(a.event, " no more: the round trip takes 2 ms"));
	/* A new session may mean a new cable. */
	read_trips(4, 20 * MS, 7);
	assert_true(errors_bad(&d, &up));
	read_trips(1, 0, 8);
	assert_true(a.changed && !errors_bad(&d, &up));
	assert_non_null(strstr(a.event, "over: 1,1:+x ('') has a slow cable to "));
	assert_non_null(strstr(a.event, ": the link was restarted and is judged anew"));
	/* Without a limit no link is slow. */
	d.config.round_trip_max = 0;
	read_trips(5, 20 * MS, 8);
	assert_false(errors_bad(&d, &up));
	end();
}

/* Reports end when their NIC is gone, because the next one counts from the beginning. */
static void reports_end_when_nic_is_gone(void **state)
{
	(void)state;
	begin();
	reads(100);
	assert_int_equal(d.errors.port[0].level, QUALITY_FAIL);
	errors_gone(&d);
	assert_int_equal(d.errors.port[0].level, QUALITY_GOOD);
	assert_non_null(strstr(a.event, "over: 1,1:+x ('') receives from "));
	assert_non_null(strstr(a.event, ": the NIC is gone"));
	a.event[0] = '\0';
	errors_gone(&d);
	assert_string_equal(a.event, "");
	end();
}

static void takes(const char *excluded)
{
	json_t *links = json_pack("[{s:s, s:s?, s:{s:s, s:f}}]", "port", "+x", "excluded", excluded,
				  "quality", "level", "fail", "ber", 1e-5);

	errors_take(&d, 5, links);
	json_decref(links);
}

/*
 * A late report of a node, made before it knew that the link is included, does not exclude the link
 * again.
 */
static void report_from_before_include_does_not_exclude(void **state)
{
	(void)state;
	begin();
	takes("admin");
	assert_int_equal(a.orders, 0);
	takes(NULL);
	assert_int_equal(a.orders, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(included_link_is_judged_anew),
		cmocka_unit_test(slow_cable_is_reported_until_it_is_good_or_new),
		cmocka_unit_test(reports_end_when_nic_is_gone),
		cmocka_unit_test(report_from_before_include_does_not_exclude),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The node that was followed asked without success, by itself: which root this node follows then.
 * Stubs in this test stand for the functions of the manager that the file calls.
 */
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"

#define OWN	5
#define ASKED	9
#define LED	7

static struct fm fm;
static unsigned int adrift, asked, back;

uint64_t fm_nic_root(const struct fm *f, uint64_t *epoch)
{
	(void)f;
	*epoch = 0;
	return 0;
}

uint64_t fm_candidate_wait(const struct fm *f)
{
	(void)f;
	return 0;
}

void fm_candidate_asked(struct fm *f)
{
	(void)f;
}

void fm_candidate_adrift(struct fm *f)
{
	(void)f;
	adrift++;
}

void fm_candidate_back(struct fm *f)
{
	assert_true(f->root_asks);
	back++;
}

struct fm_conn *fm_conn_of_role(const struct fm *f, enum fm_conn_role role)
{
	(void)f;
	(void)role;
	return NULL;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)level;
	(void)kind;
	(void)fmt;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)kind;
	(void)key;
	(void)fmt;
}

void fm_problem_limit(struct fm *f, const char *kind, uint64_t key, uint64_t until)
{
	(void)f;
	(void)kind;
	(void)key;
	(void)until;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	(void)kind;
	(void)key;
}

void fm_ports_spread(struct fm *f)
{
	(void)f;
}

void fm_ports_ask(struct fm *f)
{
	(void)f;
	asked++;
}

uint32_t fm_table_find(const struct fm *f, uint64_t guid)
{
	(void)f;
	(void)guid;
	return TORUS_NO_NODE;
}

void fm_try(struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
}

const char *fm_table_name(const struct fm *f, uint64_t guid, char *buf)
{
	(void)f;
	(void)guid;
	return strcpy(buf, "?");
}

struct fm_conn *fm_uplink_conn(const struct fm *f)
{
	(void)f;
	return NULL;
}

void fm_uplink_ask(struct fm *f)
{
	(void)f;
}

void fm_uplink_hurry(struct fm *f)
{
	(void)f;
}

void fm_uplink_leave(struct fm *f)
{
	(void)f;
}

uint64_t fm_uplink_backoff(const struct fm *f)
{
	(void)f;
	return 0;
}

/*
 * Begins with a node that follows ASKED, which asks to be root, and that was led by @led before (0:
 * by no root).
 */
static void follows(uint64_t led)
{
	memset(&fm, 0, sizeof(fm));
	fm.now = 50 * SEC;
	fm.guid = OWN;
	fm.have_root = fm.root_asks = true;
	fm.root_guid = ASKED;
	fm.rootless = 3;
	strcpy(fm.root_address, "asked:1");
	fm.led.guid = led;
	strcpy(fm.led.address, "led:1");
	adrift = asked = back = 0;
}

static void node_led_by_none_has_no_root_after_turning_back(void **state)
{
	(void)state;
	follows(0);
	fm.root_lost = true;
	fm_follow_back(&fm);
	assert_true(!fm.have_root && !fm.root_asks && !fm.root_lost);
	assert_int_equal(fm.rootless, fm.now);
	assert_true(adrift == 1 && asked == 1 && !back);
}

static void node_turns_back_to_root_that_led_it(void **state)
{
	(void)state;
	follows(LED);
	fm_follow_back(&fm);
	assert_true(fm.have_root && !fm.root_asks && fm.root_lost);
	assert_int_equal(fm.root_guid, LED);
	assert_string_equal(fm.root_address, "led:1");
	assert_true(adrift == 1 && !asked && back == 1);
}

/* A node that was root itself turns back from a root that asks: it has no root from now on. */
static void former_root_that_turns_back_has_no_root(void **state)
{
	(void)state;
	follows(OWN);
	fm_follow_back(&fm);
	assert_true(!fm.have_root && !fm.root_asks && !fm.root_lost);
	assert_int_equal(fm.rootless, fm.now);
	assert_true(adrift == 1 && back == 1);
}

/* A root that leads is followed on. */
static void root_that_leads_is_still_followed(void **state)
{
	(void)state;
	follows(LED);
	fm.root_asks = false;
	fm_follow_back(&fm);
	assert_true(fm.have_root && !fm.root_lost);
	assert_int_equal(fm.root_guid, ASKED);
	assert_int_equal(fm.rootless, 3);
	assert_true(!adrift && !asked && !back);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_led_by_none_has_no_root_after_turning_back),
		cmocka_unit_test(node_turns_back_to_root_that_led_it),
		cmocka_unit_test(former_root_that_turns_back_has_no_root),
		cmocka_unit_test(root_that_leads_is_still_followed),
	};

	return cmocka_run_group_tests_name("fm_follow_back", all, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes out of service, by themselves: when a node that is gone is a problem. Stubs in this test
 * stand for the functions of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/status.h"

#define NODES 6

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_record record;
static bool has_record;
static uint16_t admin[NODES + 1];
static char problem[200];
static unsigned int cleared;

bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t excluded)
{
	assert_ptr_equal(shape, &fm.table.shape);
	return excluded == 0xf;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	return has_record && record.node == node ? &record : NULL;
}

const char *fm_node_state_name(unsigned int state)
{
	return state == FM_NODE_DEAD ? "dead" : "silent";
}

void fm_problem_of(struct fm *f, uint32_t node, const char *kind, uint64_t key,
		   const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "node");
	assert_int_equal(node, record.node);
	assert_int_equal(key, 0x55);
	va_start(args, fmt);
	vsnprintf(problem, sizeof(problem), fmt, args);
	va_end(args);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "node");
	assert_int_equal(key, 0x55);
	cleared++;
}

static void begin(void)
{
	memset(admin, 0, sizeof(admin));
	assert_int_equal(torus_shape_parse("3x2", &fm.table.shape), 0);
	fm.table.nodes = NODES;
	fm.cfg.resend = 10 * MS;
	fm.cfg.member_max = 5000 * MS;
	root.admin = admin;
	record = (struct fm_record) { .guid = 0x55, .node = 4, .state = FM_NODE_DEAD, .name = "n4" };
	has_record = true;
	problem[0] = '\0';
	cleared = 0;
}

/* A node is out of service if all its cables are excluded; a node without a place is not. */
static void node_is_out_of_service_if_all_cables_are_excluded(void **state)
{
	(void)state;
	begin();
	for (uint32_t node = 0; node < NODES; node++) {
		assert_false(fm_service_is_out(&fm, node));
		admin[node] = 7;
		assert_false(fm_service_is_out(&fm, node));
		admin[node] = 0xf;
		assert_true(fm_service_is_out(&fm, node));
	}
	admin[NODES] = 0xf;
	assert_false(fm_service_is_out(&fm, NODES));
	assert_false(fm_service_is_out(&fm, TORUS_NO_NODE));
	root.admin = NULL;
	assert_false(fm_service_is_out(&fm, 0));
}

/* A node that goes is a problem, unless it is out of service; no recovery waits long for one. */
static void lost_node_is_problem_unless_out_of_service(void **state)
{
	(void)state;
	begin();
	assert_true(fm_service_gone(&fm, &record, ": why"));
	assert_string_equal(problem, "node 1,1 ('n4') is dead: why");
	assert_false(record.out);
	assert_int_equal(fm_service_grace(&fm, &record), 5000 * MS);
	problem[0] = '\0';
	admin[4] = 0xf;
	assert_false(fm_service_gone(&fm, &record, ": why"));
	assert_string_equal(problem, "");
	assert_true(record.out);
	assert_int_equal(fm_service_grace(&fm, &record), 40 * MS);
	record.node = NODES;	/* a place in a table that this root does not have */
	assert_true(fm_service_gone(&fm, &record, ""));
	assert_string_equal(problem, "node ? ('n4') is dead");
	record.node = TORUS_NO_NODE;
	record.state = FM_NODE_SILENT;
	assert_true(fm_service_gone(&fm, &record, ""));
	assert_string_equal(problem, "node ? ('n4') is silent");
	assert_false(record.out);
}

/* An order takes a node out of service, or back: the next state of the node follows. */
static void order_takes_node_out_of_service_and_back(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 16; k++) {
		bool was = k & 1, is = k & 2, up = k & 4;

		begin();
		has_record = !(k & 8);
		record.out = was;
		record.state = up ? FM_NODE_UP : FM_NODE_DEAD;
		admin[4] = is ? 0xf : 3;
		fm_service_look(&fm, 4);
		assert_int_equal(record.out, has_record ? is : was);
		assert_int_equal(cleared, has_record && is && !was);
		assert_string_equal(problem, has_record && was && !is && !up ?
				    "node 1,1 ('n4') is dead: it already was when it was included "
				    "again" : "");
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_is_out_of_service_if_all_cables_are_excluded),
		cmocka_unit_test(lost_node_is_problem_unless_out_of_service),
		cmocka_unit_test(order_takes_node_out_of_service_and_back),
	};

	return cmocka_run_group_tests_name("fm_service", all, NULL, NULL);
}

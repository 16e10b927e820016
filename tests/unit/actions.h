/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC that is slow or fails, and stubs for the functions of the manager that task.c calls: each
 * notes its call in @did, and returns what the test has set.
 */
#ifndef TESTS_ACTIONS_H
#define TESTS_ACTIONS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/wire/plan.h"

#define NODES	4
#define ADDRESS	"30.0.0.1:1"

static struct fm fm;
static struct fm_entry entry[NODES];
static uint32_t self, target;
static bool in_plan, in_force, slow_place, slow_rows, moves;
static int place_err, rows_err;
static uint16_t reopen;
static char did[2000], want[2000];

#define note(text, ...) snprintf((text) + strlen(text), sizeof(did) - strlen(text), __VA_ARGS__)

/* --- the NIC and the rest of the manager -------------------------------------------------- */

static void root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	(void)io;
	note(did, "%u: obey %u %u\n", tag, (unsigned int)epoch, (unsigned int)guid);
}

static void count(void *io, uint32_t tag, bool lost)
{
	(void)io;
	note(did, "%u: count %d\n", tag, lost);
}

static void release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	(void)io;
	assert_true(give_up);
	note(did, "%u: release %u\n", tag, (unsigned int)version);
}

static void park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	(void)io;
	note(did, "%u: replay %u %x\n", tag, (unsigned int)version, ports);
}

int fm_rows_place(struct fm *f, const struct torus_shape *shape, uint32_t node)
{
	assert_ptr_equal(shape, &f->table.shape);
	target = node;
	if (slow_place) {
		note(did, "%u: place %u\n", fm_nic_begin(f, FM_ACT_PLACE), node);
		return 0;
	}
	note(did, "place %u\n", node);
	if (!place_err)
		f->node = node;
	return place_err;
}

int fm_rows_apply(struct fm *f)
{
	if (slow_rows) {
		note(did, "%u: rows\n", fm_nic_begin(f, FM_ACT_ROWS));
		return 0;
	}
	note(did, "rows\n");
	in_force = !rows_err;
	return rows_err;
}

void fm_rows_placed(struct fm *f, int err)
{
	note(did, "placed %d\n", err);
	if (!err)
		f->node = target;
}

void fm_rows_written(struct fm *f, int err)
{
	(void)f;
	note(did, "written %d\n", err);
	in_force = !err;
}

bool fm_rows_in_force(const struct fm *f)
{
	(void)f;
	return in_force;
}

void fm_rows_resolve(struct fm *f, bool orphans)
{
	(void)f;
	note(did, "resolve %d\n", orphans);
}

uint16_t fm_rows_reopen(const struct fm *f)
{
	(void)f;
	return reopen;
}

void fm_rows_released(struct fm *f)
{
	(void)f;
	note(did, "released\n");
}

void fm_ports_opened(struct fm *f, uint16_t ports)
{
	(void)f;
	note(did, "opened %x\n", ports);
}

void fm_ports_spread(struct fm *f)
{
	(void)f;
	note(did, "spread\n");
}

bool fm_wave_confirm(struct fm *f)
{
	assert_int_equal(f->ndims, f->shape.ndims);
	assert_memory_equal(f->size, f->shape.size, sizeof(f->size));
	f->have_position = true;
	return moves;
}

void fm_reports_lookup(struct fm *f)
{
	(void)f;
	note(did, "lookup\n");
}

void fm_reports_own(struct fm *f, struct fm_sums *out)
{
	*out = (struct fm_sums) { .parked = f->park.parked };
}

void fm_candidate_fit(struct fm *f)
{
	(void)f;
	note(did, "fit\n");
}

void fm_uplink_rejoin(struct fm *f)
{
	(void)f;
	note(did, "rejoin\n");
}

void fm_uplink_row_acked(struct fm *f, uint32_t serial)
{
	(void)f;
	note(did, "acked %u\n", serial);
}

bool fm_plan_has(const struct torus_plan *plan, const char *address)
{
	assert_int_equal(plan->len4, 8);
	assert_string_equal(address, ADDRESS);
	return in_plan;
}

uint32_t fm_table_self(const struct fm *f)
{
	(void)f;
	return self;
}

bool fm_table_counts(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP;
}

bool fm_table_takes(const struct fm *f, uint32_t node, uint64_t guid, uint32_t epoch)
{
	(void)f;
	return node < NODES && entry[node].guid == guid && entry[node].epoch == epoch &&
	       entry[node].state == FM_NODE_UP;
}

uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch)
{
	return guid * 10 + epoch;
}

static void note_problem(char *text, const char *kind, uint64_t key, int err)
{
	note(text, "problem %s %u: %s\n", kind, (unsigned int)key, strerror(-err));
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	char text[FM_TEXT_MAX];
	va_list args;

	(void)f;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!strcmp(kind, "nic")) {
		note(did, "problem nic %u%s\n", (unsigned int)key, strrchr(text, ':'));
		return;
	}
	assert_non_null(strstr(text, ADDRESS));
	assert_non_null(strstr(text, "30.0.0.0/8"));
	note_problem(did, kind, key, -EADDRINUSE);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	note(did, "no problem %s %u\n", kind, (unsigned int)key);
}

#endif /* TESTS_ACTIONS_H */

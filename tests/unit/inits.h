/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stubs for the functions of the manager that bootstrap.c calls: each notes its call in @did, and
 * returns what the test has set.
 */
#ifndef TESTS_INITS_H
#define TESTS_INITS_H

#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/home.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/wire/init.h"

#define PORTS	5

/** struct facts - what the other parts of the manager answer */
struct facts {
	bool up[PORTS], has_init[PORTS], acknowledges[PORTS], due[PORTS];
	bool row_changes, problem_changes, up_after;
	bool refuses, tries, avoids, takes, takes_reached, knows, outdoes, squares, waves;
	uint64_t latest, home_at, try_at, ports_at;
};

static struct fm fm;
static struct facts facts;
static char did[4000], want[4000], reported[FM_TEXT_MAX];
static enum fm_port_problem row_problem;
static struct fm_init sent;
static unsigned int sent_at;

#define note(text, ...) snprintf((text) + strlen(text), sizeof(did) - strlen(text), __VA_ARGS__)

#define NOTES(name, ...)	\
void name(__VA_ARGS__)		\
{				\
	(void)f;		\
	note(did, #name "\n");	\
}

NOTES(fm_uplink_row, struct fm *f)
NOTES(fm_try_join, struct fm *f)
NOTES(fm_ports_ask, struct fm *f)
NOTES(fm_wave_squares, struct fm *f)
NOTES(fm_home_due, struct fm *f)
NOTES(fm_try_due, struct fm *f)

#define NOTES_PORT(name)			\
void name(struct fm *f, unsigned int p)		\
{						\
	(void)f;				\
	note(did, #name " %u\n", p);		\
}

NOTES_PORT(fm_task_port)
NOTES_PORT(fm_home_down)
NOTES_PORT(fm_wave_forget)
NOTES_PORT(fm_port_sent)

#define ANSWERS(type, name, value, ...)	\
type name(__VA_ARGS__)			\
{					\
	(void)f;			\
	return value;			\
}

ANSWERS(bool, fm_port_up, facts.up[p], const struct fm *f, unsigned int p)
ANSWERS(bool, fm_port_has_init, facts.has_init[p], const struct fm *f, unsigned int p)
ANSWERS(bool, fm_port_acknowledges, facts.acknowledges[p], const struct fm *f, unsigned int p)
ANSWERS(bool, fm_port_due, facts.due[p], const struct fm *f, unsigned int p)
ANSWERS(unsigned int, fm_ports_used, PORTS - 1, const struct fm *f)
ANSWERS(uint64_t, fm_ports_expiry, facts.ports_at, const struct fm *f)
ANSWERS(uint64_t, fm_home_expiry, facts.home_at, const struct fm *f)
ANSWERS(uint64_t, fm_try_expiry, facts.try_at, const struct fm *f)
ANSWERS(uint64_t, fm_nic_latest, facts.latest, const struct fm *f)
ANSWERS(uint64_t, fm_home_root, 0x99, const struct fm *f)
ANSWERS(unsigned int, fm_wave_doubt, 3, const struct fm *f)

bool fm_home_refuses(const struct fm *f, unsigned int p, const struct fm_init *init)
{
	(void)f;
	(void)p;
	(void)init;
	return facts.refuses;
}

bool fm_follow_tries(struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return facts.tries;
}

bool fm_follow_takes(struct fm *f, const struct fm_init *init, bool reached)
{
	(void)f;
	(void)init;
	return reached ? facts.takes_reached : facts.takes;
}

bool fm_follow_knows(const struct fm *f, uint64_t guid)
{
	(void)f;
	(void)guid;
	return facts.knows;
}

bool fm_follow_outdoes(const struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return facts.outdoes;
}

bool fm_try_avoids(struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return facts.avoids;
}

void fm_try(struct fm *f, const struct fm_init *init)
{
	(void)f;
	note(did, "try %x\n", (unsigned int)init->root_guid);
}

void fm_follow(struct fm *f, const struct fm_init *init)
{
	note(did, "follow %x\n", (unsigned int)init->root_guid);
	f->have_root = true;
	f->root_guid = init->root_guid;
}

void fm_home_note(struct fm *f, unsigned int p, const struct fm_init *init)
{
	(void)f;
	note(did, "home %u %x\n", p, (unsigned int)init->root_guid);
}

void fm_try_check(struct fm *f, unsigned int p, const struct fm_init *init)
{
	(void)f;
	note(did, "check %u%s\n", p, init ? " Init" : "");
}

bool fm_squares_store(struct fm *f, unsigned int p, const struct fm_init *init)
{
	(void)f;
	(void)init;
	note(did, "squares %u\n", p);
	return facts.squares;
}

void fm_squares_fill(const struct fm *f, struct fm_init *init)
{
	(void)f;
	init->nends = 1;
}

bool fm_wave_init(struct fm *f, unsigned int p, const struct fm_init *init)
{
	(void)f;
	(void)init;
	note(did, "wave %u\n", p);
	return facts.waves;
}

void fm_port_init(struct fm *f, unsigned int p, const struct fm_init *init, bool answers)
{
	(void)f;
	(void)init;
	note(did, "port %u%s\n", p, answers ? " answers" : "");
}

bool fm_port_problem(struct fm *f, unsigned int p, enum fm_port_problem problem)
{
	(void)f;
	(void)p;
	row_problem = problem;
	return facts.problem_changes;
}

bool fm_port_link(struct fm *f, const struct torus_link *l)
{
	(void)f;
	note(did, "link %u\n", l->port);
	facts.up[l->port] = facts.up_after;
	return facts.row_changes;
}

void fm_ports_begin(struct fm *f, const struct torus_link *links)
{
	(void)f;
	(void)links;
	note(did, "ports begin\n");
}

const char *fm_port_text(const struct fm *f, unsigned int p, char *buf)
{
	(void)f;
	snprintf(buf, TORUS_TEXT_MAX, "p%u", p);
	return buf;
}

const char *fm_table_name(const struct fm *f, uint64_t guid, char *buf)
{
	(void)f;
	snprintf(buf, FM_WHO_MAX, "<%x>", (unsigned int)guid);
	return buf;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	va_start(args, fmt);
	vsnprintf(reported, sizeof(reported), fmt, args);
	va_end(args);
	note(did, "set %s %u\n", kind, (unsigned int)key);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	note(did, "clear %s %u\n", kind, (unsigned int)key);
}

void fm_problem_limit(struct fm *f, const char *kind, uint64_t key, uint64_t until)
{
	note(did, "limit %s %u: %u s\n", kind, (unsigned int)key,
	     (unsigned int)((until - f->now) / SEC));
}

static void mgmt_send(void *io, unsigned int p, const void *data, size_t len)
{
	(void)io;
	sent_at = p;
	assert_int_equal(fm_init_get(data, len, &sent), 0);
	note(did, "send %u\n", p);
}

#endif /* TESTS_INITS_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creation and end of a machine (the manager of one node), and the dispatch of each event to the
 * parts of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/fm.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/status.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/grower.h"
#include "daemon/fm/node/home.h"
#include "daemon/fm/node/job_rows.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/tree.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/up.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/job.h"
#include "daemon/fm/wire/msg.h"
#include "daemon/fm/wire/plan.h"
#include "daemon/fm/root/plan.h"

/* Return: true if a table is in force that fm_keep() has not yet compared with the kept one. */
static bool has_table_to_keep(const struct fm *fm)
{
	return fm_keep_news(fm) && fm_in_force(fm, fm->table.version);
}

static void run_due(struct fm *fm)
{
	fm_tree_due(fm);
	fm_task_due(fm);
	fm_grower_due(fm);
	if (fm_candidate_due(fm) && fm_root_ask(fm))
		fm_candidate_memory(fm);
	if (fm->root)
		fm_root_due(fm);
	fm_bootstrap_due(fm);
	fm_keep_due(fm);
	if (has_table_to_keep(fm))
		fm_keep(fm);
	fm_problems_due(fm);
}

/*
 * Called at the beginning of each event, at @now. Sets fm->alarm, by which lag.c measures how late
 * the timer is handled: the host sets its timer after each event, so work that became due before
 * that event still waits for the timer.
 */
static void set_time(struct fm *fm, uint64_t now)
{
	uint64_t due = fm_expiry(fm);

	fm->alarm = due > fm->now ? due : earlier(fm->alarm, fm->now);
	fm->now = now;
	fm_lag_event(fm);
}

void fm_nic_gone(struct fm *fm, uint64_t now)
{
	set_time(fm, now);
	fm_member_gone(fm);
}

void fm_timer(struct fm *fm, uint64_t now)
{
	set_time(fm, now);
	if (fm_lag_note(fm))
		fm_conns_look(fm);
	run_due(fm);
}

uint64_t fm_expiry(const struct fm *fm)
{
	uint64_t at = earlier(fm_bootstrap_expiry(fm), fm_tree_expiry(fm));

	at = earlier(at, earlier(fm_task_expiry(fm), fm_problems_expiry(fm)));
	at = earlier(at, earlier(fm_candidate_expiry(fm), fm_keep_expiry(fm)));
	at = earlier(at, fm_grower_expiry(fm));
	if (has_table_to_keep(fm))
		at = fm->now;
	return fm->root ? earlier(at, fm_root_expiry(fm)) : at;
}

/* Takes over the place and the rows of a NIC that already has a place. Return: 0 or -ENOMEM. */
static int take_rows(struct fm *fm, const struct torus_device *dev, const uint64_t *rows)
{
	struct torus_plan plan = fm_plan_full(&dev->plan);

	fm->plans = dev->plan.len4;
	fm->plan = fm_plan_short(&plan);
	fm->placed = dev->placed;
	if (!dev->placed)
		return 0;
	fm->shape = dev->shape;
	fm->coords = dev->coords;
	fm->node = dev->node;
	fm->applied = dev->version;
	fm->nrows = torus_nodes(&dev->shape);
	if (fm->ops.rows_apply)
		return 0;
	fm->rows = calloc(fm->nrows, sizeof(*fm->rows));
	if (!fm->nrows || !fm->rows)
		return -ENOMEM;
	if (rows)
		memcpy(fm->rows, rows, fm->nrows * sizeof(*fm->rows));
	fm_rows_taken(fm);
	return 0;
}

/* Return: true if the host has given all operations that are required. */
static bool are_ops_complete(const struct fm_ops *o, bool arbiter)
{
	return o->mgmt_send && o->root_set && o->place_set && (o->rows_write || o->rows_apply) &&
	       o->release && o->count && o->park_resolve && o->park_replay && o->connect &&
	       o->send && o->close && o->keep && o->log && (o->arbitrate || !arbiter);
}

static bool parts_new(struct fm *fm, const struct torus_device *dev)
{
	return fm_conns_new(fm) && fm_problems_new(fm) && fm_ports_new(fm) && fm_keep_new(fm) &&
	       fm_squares_new(fm) && fm_wave_new(fm) &&
	       fm_nic_new(fm, dev->root_epoch, dev->root_guid) &&
	       fm_job_rows_new(fm) && fm_rows_new(fm, dev->placed ? dev->rows_epoch : 0) &&
	       fm_reports_new(fm) &&
	       fm_uplink_new(fm) && fm_candidate_new(fm) && fm_verdict_new(fm) &&
	       fm_follow_new(fm) && fm_try_new(fm) && fm_home_new(fm) && fm_task_new(fm) &&
	       fm_grower_new(fm) && fm_member_new(fm);
}

struct fm *fm_new(const struct fm_config *c, const struct fm_ops *ops, void *io,
		  const struct torus_device *dev, const struct torus_link *links,
		  const struct torus_park *park, const uint64_t *rows, uint64_t now)
{
	struct fm *fm = are_ops_complete(ops, c->arbiter) ? calloc(1, sizeof(*fm)) : NULL;

	if (!fm)
		return NULL;
	if (!parts_new(fm, dev)) {
		fm_free(fm);
		return NULL;
	}
	fm->cfg = *c;
	fm->cfg.plan = fm_plan_short(&c->plan);
	if (!fm->cfg.fanout)
		fm->cfg.fanout = 1;
	fm->ops = *ops;
	fm->io = io;
	fm->now = fm->rootless = now;
	fm->alarm = NEVER;
	fm->random = fm_mix(c->seed) ^ fm_mix(now + dev->guid);
	fm->guid = dev->guid;
	fm->epoch = dev->epoch;
	fm->relay_packets = dev->relay_packets;
	fm->bootstrap = dev->bootstrap;
	fm->up = &fm_up_parent;
	fm->nports = dev->nports < TORUS_MAX_PORTS ? dev->nports : TORUS_MAX_PORTS;
	if (park)
		fm->park = *park;
	if (c->kept)
		fm_keep_take(fm, c->kept);
	fm->cfg.kept = NULL;
	if (take_rows(fm, dev, rows)) {
		fm_free(fm);
		return NULL;
	}
	fm_home_begin(fm);
	fm_bootstrap_begin(fm, dev, links);
	fm_grower_begin(fm, links);
	fm_uplink_begin(fm);
	if (fm->bootstrap && fm_root_begin(fm)) {
		fm_free(fm);
		return NULL;
	}
	return fm;
}

void fm_free(struct fm *fm)
{
	if (!fm)
		return;
	fm_root_free(fm);
	fm_table_free(&fm->table);
	fm_member_free(fm);
	fm_grower_free(fm);
	fm_task_free(fm);
	fm_home_free(fm);
	fm_try_free(fm);
	fm_follow_free(fm);
	fm_verdict_free(fm);
	fm_candidate_free(fm);
	fm_uplink_free(fm);
	fm_reports_free(fm);
	fm_rows_free(fm);
	fm_job_rows_free(fm);
	fm_nic_free(fm);
	fm_keep_free(fm);
	fm_wave_free(fm);
	fm_squares_free(fm);
	fm_ports_free(fm);
	fm_problems_free(fm);
	fm_conns_free(fm);
	free(fm);
}

void *fm_io(const struct fm *fm)
{
	return fm->io;
}

void fm_link(struct fm *fm, const struct torus_link *link, uint64_t now)
{
	set_time(fm, now);
	fm_bootstrap_link(fm, link);
	fm_grower_link(fm, link);
}

void fm_stalled(struct fm *fm, unsigned int port, bool is, uint64_t now)
{
	set_time(fm, now);
	if (port < fm->nports && fm_port_stalled(fm, port, is))
		fm_uplink_row(fm);
}

void fm_mgmt(struct fm *fm, unsigned int port, const void *data, size_t len, uint64_t now)
{
	set_time(fm, now);
	if (!fm_grower_packet(fm, port, data, len))
		fm_bootstrap_init(fm, port, data, len);
}

void fm_park(struct fm *fm, const struct torus_park *park, uint64_t now)
{
	set_time(fm, now);
	fm->park = *park;
}

void fm_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts, uint64_t now)
{
	set_time(fm, now);
	fm_member_done(fm, tag, err, counts);
	if (fm->root)
		fm_claim_look(fm);
}

void fm_conn_up(struct fm *fm, int conn, uint64_t now)
{
	set_time(fm, now);
	fm_tree_up(fm, conn);
}

void fm_conn_down(struct fm *fm, int conn, uint64_t now)
{
	set_time(fm, now);
	fm_tree_down(fm, conn);
}

void fm_msg(struct fm *fm, int conn, const struct fm_msg *msg, uint64_t now)
{
	set_time(fm, now);
	fm_tree_msg(fm, conn, msg);
}

void fm_arbiter(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		const char *why, uint64_t now)
{
	set_time(fm, now);
	if (!fm_verdict_take(fm, epoch, verdict, high, why) || !fm->root)
		return;
	fm_claim_look(fm);
	fm_arbiter_answered(fm);
}

void fm_kept(struct fm *fm, uint64_t epoch, uint64_t version, bool ok, uint64_t now)
{
	set_time(fm, now);
	fm_keep_ended(fm, epoch, version, ok);
}

void fm_clock(struct fm *fm, uint64_t wall, uint64_t now)
{
	set_time(fm, now);
	fm->wall = wall;
	fm->wall_at = now;
}

bool fm_exclude_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
			const struct fm_order *order)
{
	return !fm_is_root(fm) || fm_admin_changes(fm, node, port, excluded, order);
}

int fm_exclude(struct fm *fm, uint32_t node, int port, bool excluded, uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_admin_exclude(fm, node, port, excluded, NULL) : -EPERM;
}

int fm_exclude_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_admin_exclude(fm, node, port, true, order) : -EPERM;
}

int fm_include_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_admin_exclude(fm, node, port, false, order) : -EPERM;
}

int fm_exclude_first(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order, uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_admin_mark(fm, node, port, excluded, order) : -EPERM;
}

void fm_plan(struct fm *fm, const struct torus_plan *plan, unsigned int given, uint64_t now)
{
	set_time(fm, now);
	fm->cfg.plan = fm_plan_short(plan);
	fm->cfg.plan_given = given;
	if (fm_is_root(fm))
		fm_plan_configured(fm);
}

int fm_job_start(struct fm *fm, const struct fm_job *job, const uint32_t *node, uint64_t now)
{
	int err;

	set_time(fm, now);
	err = fm_is_root(fm) ? fm_job_begin(fm, job, node) : -EPERM;
	if (!err)
		fm_grown_look(fm);
	return err;
}

int fm_job_grow(struct fm *fm, const struct fm_job *job, const struct fm_job_want *want,
		uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_grown_begin(fm, job, want) : -EPERM;
}

int fm_job_stop(struct fm *fm, const char *name, uint32_t uid, uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_job_end(fm, name, uid) : -EPERM;
}

int fm_root_move(struct fm *fm, uint32_t node, uint64_t now)
{
	set_time(fm, now);
	return fm_is_root(fm) ? fm_admin_move(fm, node) : -EPERM;
}

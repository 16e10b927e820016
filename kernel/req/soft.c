// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of a software NIC for commands. Each holds the lock for a bounded time: ROWS_BEGIN
 * copies a table of millions of rows in slices, and EYE_GET measures a copy of the receiver.
 */
#include "../core/plan.h"
#include "soft.h"

#define SLICE		8192	/* most rows that are copied while the lock is held; 64 KiB */
/* most calls of tn_nic_give_up(), enough for 65,536 packets that wait */
#define GIVE_UP_TURNS	256

static u64 lock_soft(struct tn_soft *s)
{
	s->shell->lock(s);
	return s->shell->now(s);
}

/* Unlocks after an operation that may have changed the NIC. Return: @err */
static int unlock_soft(struct tn_soft *s, int err)
{
	s->shell->unlock(s, true);
	return err;
}

/* Unlocks after an operation that only read. Return: @err */
static int unlock_read(struct tn_soft *s, int err)
{
	s->shell->unlock(s, false);
	return err;
}

/* --- device --------------------------------------------------------------------- */

static int soft_place(struct torus_hw *hw, const struct torus_shape *shape,
		      const struct torus_coords *at)
{
	struct tn_soft *s = tn_soft_of(hw);
	void *table = s->shell->table_new(tn_nic_table_size(shape)), *old = table;
	int err;

	if (!table)
		return -ENOMEM;
	lock_soft(s);
	if (s->shell->leave)
		s->shell->leave(s);
	err = tn_nic_set_shape(s->nic, shape, at, table);
	if (!err) {
		torus_host_flush(&s->host);
		old = s->table;
		s->table = table;
		s->shape = *shape;
		s->host.shape = &s->shape;
	}
	unlock_soft(s, err);
	s->shell->table_free(old);
	return err;
}

static void soft_plan(struct torus_hw *hw, const struct torus_plan *plan)
{
	struct tn_soft *s = tn_soft_of(hw);

	lock_soft(s);
	s->plan = *plan;
	s->host.plan = &s->plan;
	unlock_soft(s, 0);
}

static void soft_device_get(struct torus_hw *hw, struct torus_device *out)
{
	struct tn_soft *s = tn_soft_of(hw);

	out->relay_packets = s->params.relay_packets;
	out->payload_max = s->params.payload_max;
	out->uptime = lock_soft(s) - s->began;
	memcpy(out->counter, tn_nic_counters(s->nic), sizeof(out->counter));
	unlock_read(s, 0);
}

/* --- links ----------------------------------------------------------------------- */

static int soft_link_get(struct torus_hw *hw, unsigned int port, struct torus_link *out)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now = lock_soft(s);

	tn_soft_link(s, port, out, now);
	return unlock_read(s, 0);
}

static void set_u32(u32 *to, const struct nlattr *a)
{
	if (a)
		*to = (u32)torus_attr_number(a);
}

static void set_u16(u16 *to, const struct nlattr *a)
{
	if (a)
		*to = (u16)torus_attr_number(a);
}

static void set_soft_cable(struct tn_soft *s, unsigned int port, const struct nlattr *const *tb,
			   u64 now)
{
	struct tn_soft_port *p = &s->port[port];
	struct tn_cable c = p->serdes.cable;

	c.seed = p->fault.bits.seed;
	set_u32(&c.length, tb[TORUS_FAULT_CABLE]);
	set_u32(&c.loss, tb[TORUS_FAULT_LOSS]);
	set_u32(&c.crosstalk, tb[TORUS_FAULT_CROSSTALK]);
	set_u32(&c.drift, tb[TORUS_FAULT_DRIFT]);
	set_u32(&c.ageing, tb[TORUS_FAULT_AGEING]);
	set_u16(&c.aged, tb[TORUS_FAULT_AGED]);
	set_u16(&c.dead, tb[TORUS_FAULT_DEAD]);
	if (tb[TORUS_FAULT_TEMPERATURE])
		c.warmer = (s32)torus_attr_number(tb[TORUS_FAULT_TEMPERATURE]) - TORUS_CABLE_KELVIN;
	if (tn_cable_same(&c, &p->serdes.cable))
		return;
	tn_serdes_model_lay(&p->serdes, &c, now);
	tn_nic_cable(s->nic, port, now);
}

static void set_fault(struct tn_soft *s, unsigned int port, const struct nlattr *const *tb, u64 now)
{
	struct torus_host_fault *f = &s->port[port].fault;

	if (tb[TORUS_FAULT_SILENCE])
		f->silence = (u8)torus_attr_number(tb[TORUS_FAULT_SILENCE]);
	if (tb[TORUS_FAULT_LATENCY])
		f->latency = torus_attr_number(tb[TORUS_FAULT_LATENCY]);
	if (tb[TORUS_FAULT_SEED])
		f->bits.seed = torus_attr_number(tb[TORUS_FAULT_SEED]);
	if (tb[TORUS_FAULT_BER])
		f->bits.ber = torus_attr_number(tb[TORUS_FAULT_BER]);
	if (tb[TORUS_FAULT_BER] || tb[TORUS_FAULT_SEED])
		tn_fault_arm(&f->bits);
	if (tb[TORUS_FAULT_VB] || tb[TORUS_FAULT_SEED])
		tn_nic_marks(s->nic, port, tb[TORUS_FAULT_VB] ?
			     torus_attr_number(tb[TORUS_FAULT_VB]) :
			     tn_nic_marked(s->nic, port), f->bits.seed);
	set_soft_cable(s, port, tb, now);
}

static int soft_link_set(struct torus_hw *hw, unsigned int port,
			 const struct torus_link_order *order)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now = lock_soft(s);

	if (order->fault)
		set_fault(s, port, order->fault, now);
	if (order->retry >= 0)
		tn_nic_retry(s->nic, port, (unsigned int)order->retry, now);
	if (order->admin >= 0)
		tn_nic_admin(s->nic, port, order->admin, now);
	if (order->retrain)
		tn_nic_retrain(s->nic, port, now);
	return unlock_soft(s, 0);
}

static int soft_link_attach(struct torus_hw *hw, unsigned int port, const char *lower,
			    struct torus_refusal *why)
{
	struct tn_soft *s = tn_soft_of(hw);

	return s->shell->attach(s, port, lower, why);
}

/* Measures a copy of the receiver, so that packets wait for no part of the map. */
static int soft_eye_get(struct torus_hw *hw, unsigned int port, unsigned int lane,
			struct torus_eye *out)
{
	struct tn_soft *s = tn_soft_of(hw);
	struct tn_train *t = &s->eye;
	u64 now = lock_soft(s);

	*t = *tn_nic_train(s->nic, port);
	s->eye_serdes = s->port[port].serdes;
	unlock_read(s, 0);
	s->eye_serdes.serdes.ctx = &s->eye_serdes;
	t->serdes = &s->eye_serdes.serdes;
	out->swing = (u16)tn_train_eye_top(t, lane, now);
	out->mask_height = (u16)t->params.mask_height;
	out->mask_width = (u16)t->params.mask_width;
	for (unsigned int row = 0; row < TORUS_EYE_ROWS; row++) {
		tn_train_eye(t, lane, out->swing, row, out->map[row], now);
		s->shell->rest();
	}
	return 0;
}

static int soft_mgmt_send(struct torus_hw *hw, unsigned int port, const u8 *data, u32 len)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now = lock_soft(s);

	return unlock_soft(s, tn_nic_mgmt_send(s->nic, port, data, len, now));
}

/* --- rows --------------------------------------------------------------------------- */

static bool soft_rows(struct torus_hw *hw, u32 *n, u64 *version)
{
	struct tn_soft *s = tn_soft_of(hw);
	bool is_placed;

	lock_soft(s);
	is_placed = tn_nic_rows(s->nic, n, version);
	unlock_read(s, 0);
	return is_placed;
}

static int soft_rows_begin(struct torus_hw *hw, u64 version)
{
	struct tn_soft *s = tn_soft_of(hw);
	int err;

	lock_soft(s);
	err = tn_nic_rows_open(s->nic, version);
	if (!err)
		err = tn_nic_rows_copy(s->nic, version, SLICE);
	while (err > 0) {
		unlock_read(s, 0);
		s->shell->rest();
		lock_soft(s);
		err = tn_nic_rows_copy(s->nic, version, SLICE);
	}
	return unlock_read(s, err);
}

static int soft_rows_put(struct torus_hw *hw, u64 version, u32 first, const void *rows, u32 n)
{
	struct tn_soft *s = tn_soft_of(hw);

	lock_soft(s);
	return unlock_read(s, tn_nic_rows_put(s->nic, version, first, rows, n));
}

static int soft_rows_commit(struct torus_hw *hw, u64 version)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now = lock_soft(s);

	return unlock_soft(s, tn_nic_rows_commit(s->nic, version, now));
}

static int soft_rows_get(struct torus_hw *hw, u32 first, u32 n, void *to)
{
	struct tn_soft *s = tn_soft_of(hw);
	const u64 *rows;

	lock_soft(s);
	rows = tn_nic_rows_get(s->nic, first, n);
	if (rows)
		memcpy(to, rows, n * sizeof(*rows));
	return unlock_read(s, rows ? 0 : -ERANGE);
}

/* --- holds, parking --------------------------------------------------------------------- */

static int soft_hold(struct torus_hw *hw, const u32 *nodes, u32 n)
{
	struct tn_soft *s = tn_soft_of(hw);

	lock_soft(s);
	return unlock_soft(s, tn_nic_hold(s->nic, nodes, n));
}

/*
 * Gives up gaps in several turns, between which the lock is released. A packet that arrives between
 * two turns waits behind those with lower numbers, or is delivered if it is next, so the order of a
 * flow is the same as in one turn. The number of turns is limited, so a source that keeps sending
 * packets cannot prolong the command without limit.
 */
static void give_up_slices(struct tn_soft *s, u64 version)
{
	bool more = true;

	for (unsigned int i = 0; more && i < GIVE_UP_TURNS; i++) {
		u64 now = lock_soft(s);

		more = tn_nic_give_up(s->nic, version, now);
		unlock_soft(s, 0);
		s->shell->rest();
	}
}

static int soft_release(struct torus_hw *hw, u64 version, bool give_up)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now;

	if (give_up)
		give_up_slices(s, version);
	now = lock_soft(s);
	return unlock_soft(s, tn_nic_release(s->nic, version, give_up, now));
}

static int soft_flow_get(struct torus_hw *hw, struct torus_flow *out)
{
	struct tn_soft *s = tn_soft_of(hw);

	lock_soft(s);
	tn_soft_flow(s, out);
	return unlock_read(s, 0);
}

static int soft_park_get(struct torus_hw *hw, struct torus_park *out)
{
	struct tn_soft *s = tn_soft_of(hw);

	lock_soft(s);
	tn_soft_park(s, out);
	return unlock_read(s, 0);
}

static int soft_park_flows_get(struct torus_hw *hw, struct torus_park_flows *out)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now = lock_soft(s);

	tn_soft_park_flows(s, out, now);
	return unlock_read(s, 0);
}

static int soft_park_resolve(struct torus_hw *hw, unsigned int port, u32 session, u16 seq,
			     bool dead)
{
	struct tn_soft *s = tn_soft_of(hw);

	lock_soft(s);
	return unlock_soft(s, tn_nic_park_resolve(s->nic, port, session, seq, dead));
}

static int soft_park_replay(struct torus_hw *hw, u64 version, u32 ports)
{
	struct tn_soft *s = tn_soft_of(hw);
	u64 now = lock_soft(s);

	return unlock_soft(s, tn_nic_park_replay(s->nic, version, ports, now));
}

const struct torus_hw_ops tn_soft_ops = {
	.injects = true,
	.place = soft_place,
	.plan = soft_plan,
	.device_get = soft_device_get,
	.link_get = soft_link_get,
	.link_set = soft_link_set,
	.link_attach = soft_link_attach,
	.eye_get = soft_eye_get,
	.rows = soft_rows,
	.rows_begin = soft_rows_begin,
	.rows_put = soft_rows_put,
	.rows_commit = soft_rows_commit,
	.rows_get = soft_rows_get,
	.hold = soft_hold,
	.release = soft_release,
	.flow_get = soft_flow_get,
	.park_get = soft_park_get,
	.park_flows_get = soft_park_flows_get,
	.park_resolve = soft_park_resolve,
	.park_replay = soft_park_replay,
	.mgmt_send = soft_mgmt_send,
};

/* --- lifetime --------------------------------------------------------------------------- */

int tn_soft_init(struct tn_soft *s, void *mem, struct tn_nic_config *cfg, torus_host_lost lost,
		 torus_host_free forget, u64 now)
{
	int err;

	cfg->nports = s->hw.nports;
	cfg->guid = s->hw.guid;
	cfg->epoch = s->hw.epoch;
	cfg->params = s->params;
	err = tn_nic_init(mem, cfg, now);
	if (err)
		return err;
	s->nic = mem;
	s->began = now;
	s->hw.ops = &tn_soft_ops;
	s->hw.rows_gen = 1;
	s->hw.plan = tn_plan_default;
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++)
		tn_serdes_model_init(&s->port[i].serdes);
	for (unsigned int i = 0; i < s->hw.nports; i++)
		tn_nic_serdes(s->nic, i, &s->port[i].serdes.serdes);
	torus_host_init(&s->host, s->nic, cfg, lost, forget);
	return 0;
}

void tn_soft_flush(struct tn_soft *s)
{
	torus_host_flush(&s->host);
	tn_nic_flush(s->nic);
}

void tn_soft_note(struct tn_soft *s, const struct tn_event *ev)
{
	if (ev->type == TN_EV_PARK)
		s->park_event = true;
	else if (s->nevents < TN_SOFT_EVENTS)
		s->event[s->nevents++] = *ev;
	else
		s->events_lost = true;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/softnic.h"

struct softnic w;

static void on_lock(struct tn_soft *s)
{
	assert_ptr_equal(s, &w.s);
	assert_false(w.is_locked);
	w.is_locked = true;
	w.locks++;
	s->nic = w.l.nic;
}

static void on_unlock(struct tn_soft *s, bool changed)
{
	assert_true(w.is_locked);
	w.is_locked = false;
	w.changed = changed;
	s->nic = NULL;
}

static void on_rest(void)
{
	assert_false(w.is_locked);
	w.rests++;
	if (w.on_rest)
		w.on_rest();
}

static u64 on_now(struct tn_soft *s)
{
	assert_ptr_equal(s, &w.s);
	return w.l.now;
}

static void *on_table_new(size_t bytes)
{
	void *p;

	assert_false(w.is_locked);
	if (w.is_out)
		return NULL;
	w.tables++;
	p = aligned_alloc(64, (bytes + 63) & ~63ul);
	assert_non_null(p);
	return memset(p, 0, bytes);
}

static void on_table_free(void *table)
{
	assert_false(w.is_locked);
	w.tables -= !!table;
	free(table);
}

static int on_attach(struct tn_soft *s, unsigned int port, const char *lower,
		     struct torus_refusal *why)
{
	assert_ptr_equal(s, &w.s);
	assert_false(w.is_locked);
	w.attach_port = port;
	w.attach_lower = lower;
	return w.attach_error ? torus_refuse(why, w.attach_error, NULL, "for a reason") : 0;
}

static const struct tn_soft_shell shell = {
	.lock = on_lock, .unlock = on_unlock, .rest = on_rest, .now = on_now,
	.table_new = on_table_new, .table_free = on_table_free, .attach = on_attach,
};

static void on_lost(void *host, const u8 *ip, u32 len)
{
	(void)host;
	(void)ip;
	(void)len;
}

static void on_forget(void *host, struct torus_host_msg *msg)
{
	(void)host;
	(void)msg;
	w.forgot++;
}

void softnic_begin(void)
{
	memset(&w, 0, sizeof(w));
	lone_start(&w.l, "4x4", 0, NULL);
	w.s.shell = &shell;
	w.s.params = w.l.params;
	w.l.cfg.guid = w.l.cfg.epoch = 0;
	w.s.hw.nports = SOFTNIC_PORTS;
	w.s.hw.guid = LONE_GUID;
	w.s.hw.epoch = 7;
	assert_int_equal(tn_soft_init(&w.s, w.l.nic, &w.l.cfg, on_lost, on_forget, w.l.now), 0);
	tn_nic_serdes(w.l.nic, 0, NULL);
	tn_nic_serdes(w.l.nic, 1, NULL);
	w.s.nic = NULL;
}

void softnic_end(void)
{
	assert_false(w.is_locked);
	assert_int_equal(w.tables, !!w.s.table);
	w.s.nic = w.l.nic;
	tn_soft_flush(&w.s);
	assert_int_equal(w.l.mem.live, 0);
	free(w.s.table);
	lone_end(&w.l);
}

int softnic_did(int err, bool changes)
{
	assert_true(w.locks);
	assert_false(w.is_locked);
	assert_int_equal(w.changed, changes);
	w.locks = 0;
	return err;
}

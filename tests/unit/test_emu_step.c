// SPDX-License-Identifier: GPL-2.0-only
/* A turn of torusemu: no message of the host that the NIC has room for waits for the next event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/host/fault.h"
#include "lib/util/times.h"
#include "tools/torusemu/emu.h"
#include "tools/torusemu/loop.h"
#include "tools/torusemu/reply.h"

static struct emu emu;
static struct torus_host_msg waits;

/*
 * The NIC takes one message at a time, of those that are left. It is ready when the NIC has moved
 * it, and then it is sent.
 */
static unsigned int left, taken, ready, sent, turns;

void tn_nic_work(struct tn_nic *nic, u64 now)
{
	(void)nic;
	(void)now;
	ready += taken;
	taken = 0;
}

u32 tn_nic_tx_ports(const struct tn_nic *nic)
{
	(void)nic;
	return ready != 0;
}

void port_tx(struct port *port, u64 now)
{
	(void)port;
	(void)now;
	sent += ready;
	ready = 0;
}

bool msg_next(struct emu *e, u64 now)
{
	(void)e;
	(void)now;
	if (!left || taken)
		return false;
	left--;
	taken++;
	return true;
}

/* The NIC has no remote memory. */
bool rma_step(struct emu *e, u64 now)
{
	(void)e, (void)now;
	return false;
}

u64 rma_expiry(const struct emu *e)
{
	(void)e;
	return ~0ull;
}

void rma_leave(struct emu *e)
{
	(void)e;
}

void rma_close(struct emu *e)
{
	(void)e;
}

/* For the lanes of the host: there is room if nothing is in the NIC. */
unsigned int tn_nic_room(struct tn_nic *nic, u32 dst, unsigned int vc)
{
	(void)nic;
	(void)dst;
	(void)vc;
	return !taken;
}

u64 tn_nic_expiry(const struct tn_nic *nic)
{
	(void)nic;
	return ~0ull;
}

static u64 counters[TORUS_NC_COUNT];

u64 *tn_nic_counters(struct tn_nic *nic)
{
	(void)nic;
	return counters;
}

/* --- what a turn does not need here ------------------------------------------------------- */

void tn_nic_poll(struct tn_nic *nic, u64 now)
{
	(void)nic;
	(void)now;
}

size_t tn_nic_size(void)
{
	return 64;
}

int chassis_add(struct chassis *c, struct emu *e)
{
	(void)c;
	(void)e;
	return 0;
}

void chassis_del(struct chassis *c, struct emu *e)
{
	(void)c;
	(void)e;
}

void chassis_wake(struct chassis *c, struct emu *e)
{
	(void)c;
	(void)e;
}

u64 loop_now(void)
{
	return 1;
}

void msg_lost(void *e, const u8 *ip, u32 len)
{
	(void)e;
	(void)ip;
	(void)len;
}

void msg_forget(void *e, struct torus_host_msg *msg)
{
	(void)e;
	(void)msg;
}

void msg_deliver(struct emu *e, struct tn_pkt *pkt)
{
	(void)e;
	(void)pkt;
}

bool notify_mgmt(struct emu *e, unsigned int port, const u8 *data, unsigned int len)
{
	(void)e;
	(void)port;
	(void)data;
	(void)len;
	return true;
}

void notify_flush(struct emu *e, u64 now)
{
	(void)e;
	(void)now;
}

void port_init(struct port *port, struct emu *e, u8 num)
{
	(void)port;
	(void)e;
	(void)num;
}

void port_close(struct port *port)
{
	(void)port;
}

void port_look(struct port *port, u64 now)
{
	(void)port;
	(void)now;
}

void port_delayed(struct port *port, u64 now)
{
	(void)port;
	(void)now;
}

void tun_flush(struct emu *e)
{
	(void)e;
}

void tun_poll(struct emu *e, bool on)
{
	(void)e;
	(void)on;
	turns++;
}

int tn_soft_init(struct tn_soft *s, void *mem, struct tn_nic_config *cfg, torus_host_lost lost,
		 torus_host_free forget, u64 now)
{
	(void)s;
	(void)cfg;
	(void)lost;
	(void)forget;
	(void)now;
	s->nic = mem;
	return 0;
}

void tn_soft_flush(struct tn_soft *s)
{
	(void)s;
}

void tn_soft_note(struct tn_soft *s, const struct tn_event *ev)
{
	(void)s;
	(void)ev;
}

int torus_refuse(struct torus_refusal *why, int err, const struct nlattr *attr, const char *fmt,
		 ...)
{
	(void)why;
	(void)attr;
	(void)fmt;
	return err;
}

u64 torus_host_fault_expiry(const struct torus_host_fault *f)
{
	(void)f;
	return ~0ull;
}

/* --- tests ------------------------------------------------------------------------------- */

static void start(unsigned int n)
{
	memset(&emu, 0, sizeof(emu));
	emu.soft.hw.nports = 2;
	emu.look_at = ~0ull;
	left = n;
	taken = ready = sent = turns = 0;
}

/* All that a turn took of the host has left when it ends, however many there are. */
static void turn_sends_all_that_it_took(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 20; n++) {
		start(n);
		emu_step(&emu, 1);
		assert_int_equal(turns, 1);
		assert_int_equal(taken + ready, 0);
		assert_int_equal(sent + left, n);
		assert_int_equal(left, n < 4 ? 0 : n - 4);
	}
}

/* While a message waits for which the NIC has room, there is another turn at once. */
static void waiting_message_with_room_makes_another_turn(void **state)
{
	(void)state;
	start(0);
	waits = (struct torus_host_msg) { .bytes = 1, .dst = 1 };
	assert_true(emu_expiry(&emu) == ~0ull);
	taken = 1;
	torus_host_wait(&emu.soft.host, &waits, 1);
	assert_true(emu_expiry(&emu) > 1);
	taken = 0;
	assert_true(emu_expiry(&emu) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turn_sends_all_that_it_took),
		cmocka_unit_test(waiting_message_with_room_makes_another_turn),
	};

	return cmocka_run_group_tests_name("emu_step", tests, NULL, NULL);
}

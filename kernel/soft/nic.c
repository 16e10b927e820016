// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shell around the core: the lock, NAPI, the timer, packets, events.
 *
 * Packets move only in the NAPI poll. Frames, messages, timers and commands queue something and
 * schedule it. A round takes at most its budget of frames, and NAPI polls again while there is more
 * to do. A round collects what the core sends (frames for lower devices, messages for the host),
 * and hands it on after it has released the lock, still in the same poll.
 */
#include <linux/if_ether.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>

#include "nic.h"

#define MOVES_MAX	4	/* most times that a round takes messages of the host */
#define OFTEN_MAX	(500 * NSEC_PER_USEC)	/* longest time between two timers of a busy NIC */

/* --- callbacks of the core (struct tn_ops) ----------------------------------------- */

static struct tn_pkt *op_pkt_get(void *host, void *owner, const u8 *payload)
{
	return torus_pkt_of(owner, payload);
}

static struct tn_pkt *op_pkt_new(void *host, unsigned int nflits)
{
	return torus_pkt_alloc(nflits);
}

static void op_pkt_put(void *host, struct tn_pkt *pkt)
{
	torus_pkt_free(pkt);
}

static bool op_park(void *host, struct tn_pkt *pkt)
{
	return torus_park_take(host, pkt);
}

static u32 op_keep(void *host, struct tn_pkt *pkt)
{
	return torus_pkt_keep(pkt);
}

static bool op_deliver(void *host, struct tn_pkt *pkt)
{
	torus_msg_deliver(host, pkt);
	return true;
}

static bool op_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	struct torus_soft *s = host;

	return torus_event_mgmt(&s->dev, port, data, len);
}

static void op_event(void *host, const struct tn_event *ev)
{
	struct torus_soft *s = host;

	if (ev->type == TN_EV_LINK)
		torus_port_changed(s, ev->port, ev->state);
	tn_soft_note(&s->soft, ev);
}

static u32 op_random(void *host)
{
	return get_random_u32();
}

static const struct tn_ops nic_ops = {
	.pkt_get = op_pkt_get,
	.pkt_new = op_pkt_new,
	.pkt_put = op_pkt_put,
	.park = op_park,
	.keep = op_keep,
	.deliver = op_deliver,
	.mgmt = op_mgmt,
	.event = op_event,
	.random = op_random,
};

/* --- the lock ------------------------------------------------------------------------ */

static void send_link_event(struct torus_soft *s, const struct tn_event *ev)
{
	if (!torus_event_wanted(&s->dev, TORUS_GROUP_LINK))
		return;
	tn_soft_link_event(&s->soft, ev, &s->event.link, torus_now(s));
	torus_event_link(&s->dev, &s->event.link);
}

static void send_park_event(struct torus_soft *s)
{
	if (!torus_event_wanted(&s->dev, TORUS_GROUP_PARK))
		return;
	tn_soft_park(&s->soft, &s->event.park);
	torus_event_park(&s->dev, &s->event.park);
}

/* Reports the events that the core noted since the last call. */
static void send_events(struct torus_soft *s)
{
	struct tn_soft *soft = &s->soft;
	unsigned int i;

	lockdep_assert_held(&s->lock);
	for (i = 0; i < soft->nevents; i++)
		send_link_event(s, &soft->event[i]);
	soft->nevents = 0;
	if (soft->park_event)
		send_park_event(s);
	soft->park_event = false;
	if (soft->events_lost)
		torus_event_lost(&s->dev);
	soft->events_lost = false;
}

void torus_soft_lock(struct torus_soft *s) __acquires(&s->lock)
{
	spin_lock_bh(&s->lock);
	u64_stats_update_begin(&s->sync);
}

void torus_soft_unlock(struct torus_soft *s) __releases(&s->lock)
{
	send_events(s);
	napi_schedule(&s->napi);
	u64_stats_update_end(&s->sync);
	spin_unlock_bh(&s->lock);
}

void torus_soft_unlock_read(struct torus_soft *s) __releases(&s->lock)
{
	u64_stats_update_end(&s->sync);
	spin_unlock_bh(&s->lock);
}

void torus_nic_counters(struct torus_soft *s, u64 *to)
{
	unsigned int start;

	local_bh_disable();	/* on one processor of 32 bits, nothing else keeps NAPI away */
	do {
		start = u64_stats_fetch_begin(&s->sync);
		tn_nic_counters_read(s->soft.nic, to);
	} while (u64_stats_fetch_retry(&s->sync, start));
	local_bh_enable();
}

/* --- NAPI ------------------------------------------------------------------------------ */

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct torus_soft *s = container_of(timer, struct torus_soft, timer);

	napi_schedule(&s->napi);
	return HRTIMER_NORESTART;
}

/* Return: when the next timer of the NIC expires, ns; ~0 if none is running. */
static u64 next_expiry(struct torus_soft *s)
{
	u64 at = min3(tn_nic_expiry(s->soft.nic), torus_msg_expiry(s), torus_rma_expiry(s));
	unsigned int i;

	for (i = 0; i < s->soft.hw.nports; i++)
		at = min(at, torus_host_fault_expiry(&s->soft.port[i].fault));
	return at;
}

/*
 * Arms the timer for the next expiry, at the end of a round; the lock keeps two rounds from arming
 * it in the wrong order. A timer that would fire too early is not changed, because an early timer
 * does no harm and arming it costs more. For the same reason a NIC that is @busy does not ask all
 * its ports for their next expiry after every frame: its timer fires at least every half ack_delay,
 * and nothing is late by more than that.
 */
static void arm_timer(struct torus_soft *s, bool busy, u64 now)
{
	u64 often = min_t(u64, s->soft.params.ack_delay / 2, OFTEN_MAX), at;

	lockdep_assert_held(&s->lock);
	if (s->armed > now && s->armed - now <= often && !s->delays)
		return;
	at = next_expiry(s);
	if (busy)
		at = min(at, now + often);
	if (s->armed > now && s->armed <= at)
		return;
	s->armed = at;
	if (at != ~0ull)
		hrtimer_start(&s->timer, ns_to_ktime(at + s->clock.stood), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Makes one round: received frames, timers, messages, frames to send. Return: true if there is more
 * to do.
 */
static bool run_nic(struct torus_soft *s, struct sk_buff_head *rx, u64 now)
{
	bool more = false, pending = true;
	int i;

	lockdep_assert_held(&s->lock);
	/*
	 * First answer on the links: peers wait for acknowledgements and errors (E), and deliveries
	 * take long.
	 */
	if (!skb_queue_empty(rx) || now >= s->armed) {
		torus_ports_rx(s, rx, now);
		if (now >= s->armed)
			tn_nic_poll(s->soft.nic, now);
		torus_ports_tx(s, now);
	}
	for (i = 0; pending && i < MOVES_MAX; i++) {
		pending = torus_msg_xmit(s, now);
		torus_rma_step(s, now);
		tn_nic_work(s->soft.nic, now);
		more = torus_ports_tx(s, now);
		pending = (pending && torus_msg_pending(s)) || torus_rma_expiry(s) <= now;
	}
	send_events(s);
	return more || pending || tn_nic_due(s->soft.nic);
}

/*
 * Gives the messages @up to the host as a list, so that the stack looks up the route of several of
 * them once.
 */
static void give_messages(struct torus_soft *s, struct sk_buff_head *up)
{
	struct sk_buff *skb;
	LIST_HEAD(list);

	if (skb_queue_empty(up))
		return;
	torus_tx_answered(s);
	if (!netif_running(s->dev.netdev)) {
		__skb_queue_purge(up);
		return;
	}
	if (skb_queue_len(up) == 1) {
		netif_receive_skb(__skb_dequeue(up));
		return;
	}
	while ((skb = __skb_dequeue(up)))
		list_add_tail(&skb->list, &list);
	netif_receive_skb_list(&list);
}

/* Sends the frames @down, gives the messages @up to the host, and wakes its queues. */
static void hand_on(struct torus_soft *s, struct sk_buff_head *down, struct sk_buff_head *up)
{
	struct sk_buff *skb;

	lockdep_assert_not_held(&s->lock);
	while ((skb = __skb_dequeue(down)))
		dev_queue_xmit(skb);
	give_messages(s, up);
	torus_tx_wake(s);
}

static int torus_poll(struct napi_struct *napi, int budget)
{
	struct torus_soft *s = container_of(napi, struct torus_soft, napi);
	struct sk_buff_head rx, down, up;
	bool more;
	int done;
	u64 now;

	if (!budget)		/* the caller is netpoll, for which the NIC must not receive */
		return 0;
	__skb_queue_head_init(&rx);
	__skb_queue_head_init(&down);
	__skb_queue_head_init(&up);
	more = torus_ports_take(s, &rx, budget);
	done = skb_queue_len(&rx);

	spin_lock(&s->lock);
	u64_stats_update_begin(&s->sync);
	now = torus_host_clock_woke(&s->clock, ktime_get_ns(), s->armed);
	more |= run_nic(s, &rx, now);
	skb_queue_splice_init(&s->down, &down);
	skb_queue_splice_init(&s->up, &up);
	arm_timer(s, done || !skb_queue_empty(&down), now);
	u64_stats_update_end(&s->sync);
	spin_unlock(&s->lock);

	hand_on(s, &down, &up);
	if (more || done >= budget)
		return budget;
	napi_complete_done(napi, done);
	return done;
}

/* --- callbacks of commands (struct tn_soft_shell) ------------------------------------------ */

static struct torus_soft *shell_of(struct tn_soft *soft)
{
	return container_of(soft, struct torus_soft, soft);
}

static void shell_lock(struct tn_soft *soft) __acquires(&shell_of(soft)->lock)
{
	torus_soft_lock(shell_of(soft));
}

static void shell_unlock(struct tn_soft *soft, bool changed) __releases(&shell_of(soft)->lock)
{
	struct torus_soft *s = shell_of(soft);
	struct tn_soft_block *left = s->rma_left;

	s->rma_left = NULL;
	if (changed)
		torus_soft_unlock(s);
	else
		torus_soft_unlock_read(s);
	torus_rma_free_left(left);
}

static u64 shell_now(struct tn_soft *soft)
{
	return torus_now(shell_of(soft));
}

static void shell_rest(void)
{
	cond_resched();
}

static void *shell_table_new(size_t bytes)
{
	return kvzalloc(bytes, TORUS_GFP_LARGE);
}

static void shell_table_free(void *table)
{
	kvfree(table);
}

static int shell_attach(struct tn_soft *soft, unsigned int port, const char *lower,
			struct torus_refusal *why)
{
	struct torus_soft *s = shell_of(soft);

	if (*lower)
		return torus_port_attach(s, port, lower, why);
	torus_port_detach(s, port);
	return 0;
}

static void shell_leave(struct tn_soft *soft)
{
	torus_rma_leave(shell_of(soft));
}

static const struct tn_soft_shell shell = {
	.lock = shell_lock,
	.unlock = shell_unlock,
	.rest = shell_rest,
	.now = shell_now,
	.table_new = shell_table_new,
	.table_free = shell_table_free,
	.attach = shell_attach,
	.leave = shell_leave,
};

/* --- lifetime ----------------------------------------------------------------------------- */

static int make_core(struct torus_soft *s)
{
	struct tn_nic_config cfg = {
		.ops = &nic_ops,
		.host = s,
		.large_max = TORUS_LARGE_MAX,
		.small_max = TORUS_SMALL_MAX,
	};
	void *mem = kvzalloc(tn_nic_size(), GFP_KERNEL_ACCOUNT);
	int err = mem ? tn_soft_init(&s->soft, mem, &cfg, torus_msg_lost, torus_msg_forget,
				     ktime_get_ns()) : -ENOMEM;

	if (err)
		kvfree(mem);
	return err;
}

int torus_nic_init(struct torus_soft *s)
{
	unsigned int i;
	int err;

	ASSERT_RTNL();
	err = torus_park_init(s);
	if (err)
		return err;
	u64_stats_init(&s->sync);
	s->soft.shell = &shell;
	err = make_core(s);
	if (err) {
		torus_park_exit(s);
		return err;
	}
	for (i = 0; i < TORUS_MAX_PORTS; i++)
		torus_port_init(s, i);
	torus_tx_init(s);
	__skb_queue_head_init(&s->up);
	__skb_queue_head_init(&s->down);
	s->armed = ~0ull;
	hrtimer_setup(&s->timer, timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	netif_napi_add(s->dev.netdev, &s->napi, torus_poll);
	return 0;
}

void torus_nic_start(struct torus_soft *s)
{
	ASSERT_RTNL();
	napi_enable(&s->napi);
	s->started = true;
}

void torus_nic_stop(struct torus_soft *s)
{
	ASSERT_RTNL();
	if (s->started)
		napi_disable(&s->napi);
	s->started = false;
	hrtimer_cancel(&s->timer);
	torus_tx_stop(s);
	netif_napi_del(&s->napi);
}

void torus_nic_free(struct torus_soft *s)
{
	torus_soft_lock(s);
	torus_rma_leave(s);
	tn_soft_flush(&s->soft);
	__skb_queue_purge(&s->up);
	__skb_queue_purge(&s->down);
	torus_soft_unlock_read(s);
	torus_rma_free_left(s->rma_left);
	kvfree(s->rma);
	kvfree(s->soft.table);
	kvfree(s->soft.nic);
	torus_park_exit(s);
}

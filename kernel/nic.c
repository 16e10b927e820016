// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core's host: the lock, NAPI, the timer, packets, events.
 *
 * All that moves moves in the NAPI poll. Frames, messages, timers and commands
 * only leave something behind and schedule it. A round takes at most its budget
 * of frames, and comes again while it finds more to do. What the core gives up
 * during a round (frames for lower devices, messages for the host) is collected
 * and handed on after the lock is released, still in the same poll.
 */
#include <linux/if_ether.h>
#include <linux/random.h>

#include "torus.h"

#define MOVES_MAX	4	/* rounds of moving before looking at queues again */
#define OFTEN_MAX	(500 * NSEC_PER_USEC)

/* --- what the core asks (struct tn_ops) -------------------------------------------- */

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

static bool op_deliver(void *host, struct tn_pkt *pkt)
{
	torus_msg_deliver(host, pkt);
	return true;
}

static void op_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	torus_genl_mgmt(host, port, data, len);
}

/* The core may not be asked anything yet, so events wait until its call is over. */
static void op_event(void *host, const struct tn_event *ev)
{
	struct torus_dev *d = host;

	if (ev->type == TN_EV_PARK)
		d->park_event = true;
	else if (d->nevents < TORUS_EVENTS)
		d->event[d->nevents++] = *ev;
	else
		d->events_lost = true;
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
	.deliver = op_deliver,
	.mgmt = op_mgmt,
	.event = op_event,
	.random = op_random,
};

/* --- the lock ------------------------------------------------------------------------ */

/*
 * The host can send while the NIC has a place: with all links faulty packets are parked,
 * and a carrier that is lost would have the stack drop them.
 */
static void tell_carrier(struct torus_dev *d)
{
	bool up = d->placed && !d->gone;

	if (up == netif_carrier_ok(d->netdev))
		return;
	if (up)
		netif_carrier_on(d->netdev);
	else
		netif_carrier_off(d->netdev);
}

static void tell_events(struct torus_dev *d)
{
	unsigned int i;

	for (i = 0; i < d->nevents; i++)
		torus_genl_link_event(d, &d->event[i]);
	d->nevents = 0;
	if (d->park_event)
		torus_genl_park_event(d);
	d->park_event = false;
	if (d->events_lost)
		torus_genl_overrun(d);
	d->events_lost = false;
	tell_carrier(d);
}

void torus_dev_lock(struct torus_dev *d) __acquires(&d->lock)
{
	spin_lock_bh(&d->lock);
}

void torus_dev_unlock(struct torus_dev *d) __releases(&d->lock)
{
	tell_events(d);
	napi_schedule(&d->napi);
	spin_unlock_bh(&d->lock);
}

void torus_dev_unlock_read(struct torus_dev *d) __releases(&d->lock)
{
	spin_unlock_bh(&d->lock);
}

/* --- NAPI ------------------------------------------------------------------------------ */

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct torus_dev *d = container_of(timer, struct torus_dev, timer);

	napi_schedule(&d->napi);
	return HRTIMER_NORESTART;
}

static u64 expiry(const struct torus_dev *d, u64 now)
{
	u64 at = min(tn_nic_expiry(d->nic), torus_msg_expiry(d, now));
	unsigned int i;

	for (i = 0; i < d->nports; i++)
		at = min(at, torus_host_fault_expiry(&d->port[i].fault));
	return at;
}

/*
 * Under the lock, so that two rounds cannot arm it in the wrong order. One that
 * fires too early does no harm and is left alone: arming costs more. So does asking
 * all ports after every frame: a NIC that is @busy asks every so often, and nothing
 * that waits for a time is late by more than that.
 */
static void arm(struct torus_dev *d, bool busy, u64 now)
{
	u64 often = min_t(u64, d->params.ack_delay / 2, OFTEN_MAX), at;

	if (d->armed > now && d->armed - now <= often && !d->delays)
		return;
	at = expiry(d, now);
	if (busy)
		at = min(at, now + often);
	if (at == ~0ull || (d->armed > now && d->armed <= at))
		return;
	d->armed = at;
	hrtimer_start(&d->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/* Return: there is more to do. */
static bool work(struct torus_dev *d, struct sk_buff_head *rx, u64 now)
{
	bool more = false;
	int i;

	/* Answers first: the peer waits for E, and delivering takes its time. */
	if (!skb_queue_empty(rx) || now >= d->armed) {
		torus_ports_rx(d, rx, now);
		if (now >= d->armed)
			tn_nic_poll(d->nic, now);
		torus_ports_tx(d, now);
	}
	for (i = 0; i < MOVES_MAX; i++) {
		torus_msg_xmit(d, now);
		tn_nic_work(d->nic, now);
		more = torus_ports_tx(d, now);
		if (!torus_msg_pending(d))
			break;
	}
	tell_events(d);
	return more || torus_msg_pending(d);
}

static void hand_on(struct torus_dev *d, struct sk_buff_head *down, struct sk_buff_head *up)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(down)))
		dev_queue_xmit(skb);
	if (!skb_queue_empty(up))
		torus_tx_answered(d);
	while ((skb = __skb_dequeue(up))) {
		if (netif_running(d->netdev))
			netif_receive_skb(skb);
		else
			kfree_skb(skb);
	}
	if (netif_queue_stopped(d->netdev) && netif_running(d->netdev) &&
	    skb_queue_len_lockless(&d->txq) < TORUS_TXQ_MAX / 2)
		netif_wake_queue(d->netdev);
}

static int torus_poll(struct napi_struct *napi, int budget)
{
	struct torus_dev *d = container_of(napi, struct torus_dev, napi);
	struct sk_buff_head rx, down, up;
	bool more;
	int done;
	u64 now;

	if (!budget)		/* netpoll: nothing may be received */
		return 0;
	__skb_queue_head_init(&rx);
	__skb_queue_head_init(&down);
	__skb_queue_head_init(&up);
	more = torus_ports_take(d, &rx, budget);
	done = skb_queue_len(&rx);

	spin_lock(&d->lock);
	now = torus_now();
	more |= work(d, &rx, now);
	skb_queue_splice_init(&d->down, &down);
	skb_queue_splice_init(&d->up, &up);
	arm(d, done || !skb_queue_empty(&down), now);
	spin_unlock(&d->lock);

	hand_on(d, &down, &up);
	if (more || done >= budget)
		return budget;
	napi_complete_done(napi, done);
	return done;
}

/* --- lifetime ----------------------------------------------------------------------------- */

int torus_nic_init(struct torus_dev *d)
{
	struct tn_nic_config cfg = {
		.ops = &nic_ops,
		.host = d,
		.nports = d->nports,
		.large_max = TORUS_LARGE_MAX,
		.small_max = TORUS_SMALL_MAX,
		.guid = d->guid,
		.epoch = d->epoch,
		.params = d->params,
	};
	unsigned int i;
	int err;

	err = torus_park_init(d);
	if (err)
		return err;
	d->nic = kvzalloc(tn_nic_size(), GFP_KERNEL_ACCOUNT);
	err = d->nic ? tn_nic_init(d->nic, &cfg, torus_now()) : -ENOMEM;
	if (err) {
		kvfree(d->nic);
		d->nic = NULL;
		torus_park_exit(d);
		return err;
	}
	for (i = 0; i < TORUS_MAX_PORTS; i++)
		torus_port_init(d, i);
	for (i = 0; i < d->nports; i++)
		tn_nic_serdes(d->nic, i, &d->port[i].serdes.serdes);
	torus_host_init(&d->host, d->nic, &cfg, torus_msg_lost);
	torus_tx_init(d);
	__skb_queue_head_init(&d->up);
	__skb_queue_head_init(&d->down);
	d->armed = ~0ull;
	hrtimer_setup(&d->timer, timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	netif_napi_add(d->netdev, &d->napi, torus_poll);
	return 0;
}

void torus_nic_start(struct torus_dev *d)
{
	napi_enable(&d->napi);
	d->started = true;
}

/* Frames may come no more. */
void torus_nic_stop(struct torus_dev *d)
{
	if (d->started)
		napi_disable(&d->napi);
	d->started = false;
	hrtimer_cancel(&d->timer);
	torus_tx_stop(d);
	netif_napi_del(&d->napi);
}

void torus_nic_free(struct torus_dev *d)
{
	torus_dev_lock(d);
	torus_host_flush(&d->host);
	tn_nic_flush(d->nic);
	__skb_queue_purge(&d->up);
	__skb_queue_purge(&d->down);
	torus_dev_unlock_read(d);
	kvfree(d->table);
	kvfree(d->nic);
	torus_park_exit(d);
}

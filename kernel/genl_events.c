// SPDX-License-Identifier: GPL-2.0-only
/*
 * LINK_NTF, MGMT_NTF, PARK_NTF. These notifications are made when the event happens, with the NIC's
 * lock held, so they describe the state at that moment. A work of the NIC sends them later, in the
 * order of the events. If they were sent under the lock, a neighbour could keep the NIC writing to
 * sockets with its lock held for as long as it sends frames.
 *
 * Bounds. The number of waiting notifications is bounded: that of management packets for each port,
 * because the neighbour there decides how many come, and that of other events for the whole NIC. So
 * a neighbour who sends more than the work can pass on loses its own packets, which its NIC counts
 * (MGMT_DROPS), and neither those of other ports nor events of links. The listeners of a group get
 * ENOBUFS if an event of theirs did not fit or found no memory, as when their socket is full. Test:
 * flood_of_one_port_leaves_room_for_others() of kunit/show.c.
 *
 * Namespaces. An event goes to the namespace that the netdev was in when it happened, or nowhere
 * if the netdev has left it since.
 */
#include "genl.h"

#define MGMT_MAX	256	/* most packets of a port that wait; a link test sends 16 at once */
/* most events of links and the parking segment that wait: as many as two rounds can cause */
#define STATES_MAX	512
#define NO_PORT		TORUS_MAX_PORTS

/** struct note - skb->cb of a notification: its namespace (only for comparison), group and port */
struct note {
	const struct net *net;
	u8 group;
	u8 port;
};

static struct note *note_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct note) > sizeof(skb->cb));
	return (struct note *)skb->cb;
}

static struct net *net_of(struct torus_dev *d)
{
	return dev_net(d->netdev);
}

static void note_lost(struct torus_dev *d, unsigned int group)
{
	set_bit((int)group, &d->events.lost);
	queue_work(system_highpri_wq, &d->events.work);
}

/* Return: the counter of waiting events that has one limit with @note. */
static u32 *find_waiting_count(struct torus_events *e, const struct note *note)
{
	return note->port == NO_PORT ? &e->states : &e->mgmt[note->port];
}

/*
 * Begins a notification with @room for attributes, and sets @hdr to its header. Return: NULL if
 * there is no memory.
 */
static struct sk_buff *ntf_new(struct torus_dev *d, unsigned int group, unsigned int cmd,
			       size_t room, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(room, GFP_ATOMIC);

	if (!skb) {
		note_lost(d, group);
		return NULL;
	}
	*hdr = genlmsg_put(skb, 0, 0, &torus_family, 0, (u8)cmd);
	return skb;
}

/*
 * Queues the notification @skb for the work, unless its attributes could not be written (@err), or
 * too many notifications wait. Return: true if it will be sent.
 */
static bool ntf_queue(struct torus_dev *d, unsigned int group, unsigned int port,
		      struct sk_buff *skb, void *hdr, int err)
{
	u32 max = port == NO_PORT ? STATES_MAX : MGMT_MAX;
	struct torus_events *e = &d->events;
	struct note *note = note_of(skb);
	bool fits = false;

	*note = (struct note) { .net = net_of(d), .group = (u8)group, .port = (u8)port };
	if (!err) {
		genlmsg_end(skb, hdr);
		spin_lock_bh(&e->queue.lock);
		fits = *find_waiting_count(e, note) < max;
		if (fits) {
			++*find_waiting_count(e, note);
			__skb_queue_tail(&e->queue, skb);
		}
		spin_unlock_bh(&e->queue.lock);
	}
	if (fits) {
		queue_work(system_highpri_wq, &e->work);
		return true;
	}
	nlmsg_free(skb);
	note_lost(d, group);
	return false;
}

/* Sends a notification that waited for the work. */
static void send_note(struct torus_dev *d, struct sk_buff *skb)
{
	struct note note = *note_of(skb);
	struct net *net;

	memset(skb->cb, 0, sizeof(skb->cb));	/* netlink expects it to be zero in a new message */
	rcu_read_lock();	/* keeps the namespace from being freed */
	net = net_of(d);
	if (net == note.net)
		genlmsg_multicast_netns(&torus_family, net, skb, 0, note.group, GFP_ATOMIC);
	else
		nlmsg_free(skb);
	rcu_read_unlock();
}

static void report_lost(struct torus_dev *d)
{
	unsigned long lost = xchg(&d->events.lost, 0);
	unsigned int group;

	rcu_read_lock();
	for_each_set_bit(group, &lost, TORUS_GROUPS)
		genl_set_err(&torus_family, net_of(d), 0, group, -ENOBUFS);
	rcu_read_unlock();
}

static void send_waiting(struct work_struct *work)
{
	struct torus_dev *d = container_of(work, struct torus_dev, events.work);
	struct torus_events *e = &d->events;
	struct sk_buff *skb;

	for (;;) {
		spin_lock_bh(&e->queue.lock);
		skb = __skb_dequeue(&e->queue);
		if (skb)
			--*find_waiting_count(e, note_of(skb));
		spin_unlock_bh(&e->queue.lock);
		if (!skb)
			break;
		send_note(d, skb);
		cond_resched();
	}
	report_lost(d);
}

void torus_events_init(struct torus_dev *d)
{
	skb_queue_head_init(&d->events.queue);
	INIT_WORK(&d->events.work, send_waiting);
}

void torus_events_flush(struct torus_dev *d)
{
	flush_work(&d->events.work);
}

bool torus_event_wanted(struct torus_dev *d, unsigned int group)
{
	return genl_has_listeners(&torus_family, net_of(d), group);
}

static void notify_tree(struct torus_dev *d, unsigned int group, unsigned int cmd,
			const struct torus_tree *tree, const void *from)
{
	struct sk_buff *skb;
	void *hdr;

	if (!torus_event_wanted(d, group))
		return;
	skb = ntf_new(d, group, cmd, GENLMSG_DEFAULT_SIZE, &hdr);
	if (skb)
		ntf_queue(d, group, NO_PORT, skb, hdr, torus_put(skb, tree, NULL, from));
}

void torus_event_link(struct torus_dev *d, struct torus_link *link)
{
	link->ifindex = (u32)d->netdev->ifindex;
	notify_tree(d, TORUS_GROUP_LINK, TORUS_CMD_LINK_NTF, &torus_tree_link_ntf, link);
}

void torus_event_park(struct torus_dev *d, struct torus_park *park)
{
	park->flow.ifindex = (u32)d->netdev->ifindex;
	notify_tree(d, TORUS_GROUP_PARK, TORUS_CMD_PARK_NTF, &torus_tree_park_get, park);
}

bool torus_event_mgmt(struct torus_dev *d, unsigned int port, const u8 *data, unsigned int len)
{
	size_t room = nla_total_size(sizeof(u32)) + nla_total_size(sizeof(u8)) +
		      nla_total_size((int)min_t(unsigned int, len, TORUS_MGMT_MAX));
	struct sk_buff *skb;
	void *hdr;
	int err;

	if (!torus_event_wanted(d, TORUS_GROUP_MGMT))
		return true;
	skb = ntf_new(d, TORUS_GROUP_MGMT, TORUS_CMD_MGMT_NTF, room, &hdr);
	if (!skb)
		return false;
	err = nla_put_u32(skb, TORUS_A_IFINDEX, (u32)d->netdev->ifindex) ?:
	      nla_put_u8(skb, TORUS_A_PORT, (u8)port) ?:
	      nla_put(skb, TORUS_A_DATA, (int)len, data);
	return ntf_queue(d, TORUS_GROUP_MGMT, port, skb, hdr, err);
}

void torus_event_lost(struct torus_dev *d)
{
	for (unsigned int group = 0; group < TORUS_GROUPS; group++)
		note_lost(d, group);
}

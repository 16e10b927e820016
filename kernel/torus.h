/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * torus.ko above the seam: what every torus NIC has, whatever it is made of.
 *
 *	main.c     the module             device.c   the netdev: finding, naming, statistics
 *	genl*.c    the netlink family     ethtool.c  what ethtool asks
 *
 * Below it, a NIC does what struct torus_hw_ops (req/hw.h) says for commands, and struct
 * torus_net_ops for packets. soft/ is the software NIC; a driver of hardware would be another
 * folder. What happens at a NIC it tells by torus_event_*().
 *
 * Locking.
 *
 * torus_dev.ctl serialises commands: it is held around all calls of torus_hw_ops, which may sleep.
 * It is taken with RTNL held, never the other way round. torus_dev.label is a spinlock for the name
 * and the jumper, which `ip link` and whoever looks for a name read without ctl. Packets need
 * neither.
 *
 * Lifetime.
 *
 * A NIC lives as long as its net_device: from ndo_init to the destructor, which runs when the
 * last reference is gone. Who holds a reference to the device (torus_dev_get_*()) may use
 * everything here, even while the device is being unregistered: commands then find a NIC whose
 * ports are detached.
 */
#ifndef TORUS_KERNEL_H
#define TORUS_KERNEL_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <torus_uapi.h>

#include "req/request.h"

#define TORUS_DRIVER		"torus"

struct ethtool_coalesce;
struct torus_dev;

/**
 * struct torus_net_ops - what a NIC does for its netdev; other than in struct torus_hw_ops none may
 * be NULL, and only @init and @set_coalesce can refuse
 * @init: ndo_init; -errno
 * @uninit: ndo_uninit; RTNL
 * @free: of the destructor: nothing else is under way
 * @xmit: a message of the host, which is the NIC's now (transmit lock)
 * @stop: ndo_stop: messages that wait are dropped
 * @counters: TORUS_NC_COUNT of the node; any context that is no hard interrupt
 * @tx_waited: messages that waited to be sent with others
 * @rx_drops: frames of a port that came faster than they were taken
 * @get_coalesce, @set_coalesce: as of ethtool_ops
 */
struct torus_net_ops {
	int (*init)(struct torus_dev *d);
	void (*uninit)(struct torus_dev *d);
	void (*free)(struct torus_dev *d);
	void (*xmit)(struct torus_dev *d, struct sk_buff *skb);
	void (*stop)(struct torus_dev *d);
	void (*counters)(struct torus_dev *d, u64 *to);
	u64 (*tx_waited)(struct torus_dev *d);
	u64 (*rx_drops)(struct torus_dev *d, unsigned int port);
	void (*get_coalesce)(struct torus_dev *d, struct ethtool_coalesce *c);
	int (*set_coalesce)(struct torus_dev *d, const struct ethtool_coalesce *c,
			    struct netlink_ext_ack *extack);
};

/**
 * struct torus_dev - one NIC; netdev_priv() of its net_device begins with it
 * @hw: the NIC as commands see it (ctl; its name and jumper also @label)
 * @gone: being unregistered (ctl)
 */
struct torus_dev {
	struct net_device *netdev;
	const struct torus_net_ops *ops;
	struct torus_hw *hw;
	struct mutex ctl;
	spinlock_t label;
	bool gone;
};

/* --- device.c ---------------------------------------------------------------- */

/**
 * torus_netdev_setup() - make @dev a torus netdev, before it is registered
 * netdev_priv(@dev) is zero but for d->ops and d->hw, which are set
 */
void torus_netdev_setup(struct net_device *dev);

/**
 * torus_dev_get_by_index() - the torus device of this ifindex in @net
 * Any context that may take rcu_read_lock().
 * Return: the device, with a reference for torus_dev_put(), or NULL.
 */
struct torus_dev *torus_dev_get_by_index(struct net *net, int ifindex, netdevice_tracker *t);
/* The same by its name (the one of least ifindex, should two have it). */
struct torus_dev *torus_dev_get_by_name(struct net *net, const char *name,
					netdevice_tracker *t);
/*
 * The torus device of least ifindex above @ifindex: for dumps, which continue at
 * the ifindex they came to whatever happened in between; net->dev_base_seq tells
 * whether devices came or went.
 */
struct torus_dev *torus_dev_get_next(struct net *net, int ifindex, netdevice_tracker *t);
void torus_dev_put(struct torus_dev *d, netdevice_tracker *t);

/** torus_dev_is_called() - is this its name? */
bool torus_dev_is_called(struct torus_dev *d, const char *name);
/** torus_dev_lock() - hw is the caller's, with the ifindex and ifname of this moment; may sleep */
void torus_dev_lock(struct torus_dev *d);
void torus_dev_unlock(struct torus_dev *d);
/**
 * torus_dev_run() - have the NIC do what @r asks, locked; LINK_ATTACH needs RTNL
 * Return: 0 or a negative errno with the reason in @r->why; hw->reply is what it answers.
 */
int torus_dev_run(struct torus_dev *d, struct torus_req *r);

/* --- ethtool.c --------------------------------------------------------------------- */

extern const struct ethtool_ops torus_ethtool_ops;

/* --- genl.c ------------------------------------------------------------------------- */

int torus_genl_init(void);
void torus_genl_exit(void);

/* --- genl_events.c ------------------------------------------------------------------ */

/*
 * Sends events of a NIC to listeners. May be called with bottom halves off and a lock of the NIC
 * held, so it does not sleep and uses GFP_ATOMIC. Events are sent in the order of the calls. The
 * caller fills the structs, without the ifindex, which is set here.
 */

/** torus_event_wanted() - does anybody listen to @group? Else nothing need be filled */
bool torus_event_wanted(struct torus_dev *d, unsigned int group);
void torus_event_link(struct torus_dev *d, struct torus_link *link);
void torus_event_park(struct torus_dev *d, struct torus_park *park);
void torus_event_mgmt(struct torus_dev *d, unsigned int port, const u8 *data, unsigned int len);
/** torus_event_lost() - some were lost: subscribers are to read everything again (ENOBUFS) */
void torus_event_lost(struct torus_dev *d);

/* --- soft/ ------------------------------------------------------------------------- */

int torus_soft_register(void);
void torus_soft_unregister(void);

/* --- kunit/ ------------------------------------------------------------------------- */

#ifdef TORUS_KUNIT
void torus_kunit_init(void);
void torus_kunit_exit(void);
#else
static inline void torus_kunit_init(void)
{
}

static inline void torus_kunit_exit(void)
{
}
#endif

#endif /* TORUS_KERNEL_H */

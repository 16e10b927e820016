/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The upper part of torus.ko, which all kinds of torus NICs share.
 *
 *	main.c     the module             device.c   the netdev: finding, naming, statistics
 *	genl*.c    the netlink family     ethtool.c  the ethtool operations
 *	rma.c      /dev/torus             pin.c      memory of processes that the NIC uses
 *
 * Below it, a NIC implements struct torus_hw_ops (req/hw.h) for commands, and struct torus_net_ops
 * for packets. soft/ is the software NIC; a driver of hardware would be another folder. A NIC
 * reports events by torus_event_*().
 *
 * Locking.
 *
 * torus_dev.ctl serialises commands: it is held around all calls of torus_hw_ops, which may sleep.
 * It may be taken while RTNL is held, but RTNL is not taken under it. torus_dev.label is a spinlock
 * for the name and the bootstrap flag, which `ip link` and searches by name read without ctl, and
 * for the name of the netdev, which changes under RTNL.
 * Packets need neither. Anybody may send commands that only read, as many as they like. So senders
 * that may not command the NIC wait for torus_dev.turn first, and then for ctl: a manager waits for
 * one of them at most (manager_waits_for_one_unprivileged_reader_at_most() of kunit/seam.c).
 *
 * Lifetime.
 *
 * A NIC lives as long as its net_device: from ndo_init to the destructor, which runs when the
 * last reference is gone. The holder of a reference to the device (torus_dev_get_*()) may use
 * everything here, even while the device is being unregistered: commands then find a NIC whose
 * ports are detached. Tests: operations_of_nic_never_overlap() and
 * nic_is_removed_when_running_commands_have_ended() of kunit/seam.c.
 */
#ifndef TORUS_KERNEL_H
#define TORUS_KERNEL_H

#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <torus_uapi.h>

#include "req/request.h"

#define TORUS_DRIVER		"torus"
#define TORUS_USER_NICS_MAX	64	/* most NICs in all user namespaces of one user */
#define TORUS_NEEDS_OWNER \
	"needs CAP_NET_ADMIN in the user namespace in which the NIC was made"

struct ethtool_coalesce;
struct torus_dev;
struct torus_rma_file;
struct torus_rma_pin;

/**
 * struct torus_rma_ops - operations of a NIC for remote memory (rma.c), with the lock of the
 *	file; all may sleep. Those with a call return 0, or -errno with a text in it; without a
 *	text, -ENODEV: the NIC has lost its place since @bind
 * @bind: makes a context, f->context, for a process of f->user; returns 0 or -errno
 * @open: makes the rings of the context in memory for remap_vmalloc_range(), and sets f->rings; its
 *	caller holds torus_dev.ctl, too
 * @reserve: checks the call SHARE, before the memory is pinned, and counts the region
 * @unreserve: counts it no more, if @share did not make it
 * @prepare: allocates @bits and @space of @pin; without the lock, the NIC may be gone
 * @share: makes the reserved region of pinned memory; owns @pin if it returns 0
 * @call: executes UNSHARE, REGION_GET or WAIT_GET
 * @ring: the doorbell rang
 * @unbind: ends the context, if the NIC has not ended it
 */
struct torus_rma_ops {
	int (*bind)(struct torus_dev *d, struct torus_rma_file *f);
	int (*open)(struct torus_dev *d, struct torus_rma_file *f, struct torus_rma_call *call);
	int (*reserve)(struct torus_dev *d, struct torus_rma_file *f, struct torus_rma_call *call);
	int (*unreserve)(struct torus_dev *d, struct torus_rma_file *f,
			 struct torus_rma_call *call);
	int (*prepare)(struct torus_rma_pin *pin, const struct torus_rma_call *call);
	int (*share)(struct torus_dev *d, struct torus_rma_file *f, struct torus_rma_pin *pin,
		     struct torus_rma_call *call);
	int (*call)(struct torus_dev *d, struct torus_rma_file *f, struct torus_rma_call *call);
	void (*ring)(struct torus_dev *d, struct torus_rma_file *f);
	void (*unbind)(struct torus_dev *d, struct torus_rma_file *f);
};

/**
 * struct torus_net_ops - operations of a NIC for its netdev. Unlike those of struct torus_hw_ops,
 *	none may be NULL but the last three; @init, @set_coalesce and @add_slave can fail
 * @init: called by ndo_init, with RTNL; returns 0 or -errno
 * @uninit: called by ndo_uninit, with RTNL: no packet or event comes after it
 * @free: called by the destructor, when no other operation runs: frees what @init made
 * @xmit: sends a message of the host, and owns it from then on (transmit lock)
 * @select: returns the transmit queue of an IP packet that begins with these @n bytes; any context
 * @stop: called by ndo_stop, with RTNL: drops messages that wait
 * @counters: copies the TORUS_NC_COUNT counters of the node; not from hard interrupts
 * @tx_waited: returns the number of messages that waited in a batch
 * @rx_drops: returns how many received frames of a port were dropped because its queue was full
 * @get_coalesce: as in ethtool_ops, with RTNL
 * @set_coalesce: as in ethtool_ops, with RTNL; returns 0, or -errno with a text
 * @add_slave: binds a port to an Ethernet device, with RTNL; returns 0, or -errno with a text
 * @del_slave: unbinds the port of this device, with RTNL
 * @rma: operations for remote memory
 */
struct torus_net_ops {
	int (*init)(struct torus_dev *d);
	void (*uninit)(struct torus_dev *d);
	void (*free)(struct torus_dev *d);
	void (*xmit)(struct torus_dev *d, struct sk_buff *skb);
	u16 (*select)(struct torus_dev *d, const u8 *ip, unsigned int n);
	void (*stop)(struct torus_dev *d);
	void (*counters)(struct torus_dev *d, u64 *to);
	u64 (*tx_waited)(struct torus_dev *d);
	u64 (*rx_drops)(struct torus_dev *d, unsigned int port);
	void (*get_coalesce)(struct torus_dev *d, struct ethtool_coalesce *c);
	int (*set_coalesce)(struct torus_dev *d, const struct ethtool_coalesce *c,
			    struct netlink_ext_ack *extack);
	int (*add_slave)(struct torus_dev *d, struct net_device *lower, struct torus_refusal *why);
	void (*del_slave)(struct torus_dev *d, struct net_device *lower);
	const struct torus_rma_ops *rma;
};

/**
 * struct torus_events - notifications of a NIC that wait for the work that sends them
 *	(genl_events.c)
 * @queue: the messages; its lock protects @states and @mgmt, too
 * @work: sends them
 * @states: how many of the messages concern links and the parking segment
 * @mgmt: for each port, how many are management packets that it received
 * @lost: mask of groups whose listeners must be informed that events were lost (atomic)
 */
struct torus_events {
	struct sk_buff_head queue;
	struct work_struct work;
	u32 states;
	u32 mgmt[TORUS_MAX_PORTS];
	unsigned long lost;
};

/**
 * struct torus_dev - one NIC; netdev_priv() of its net_device begins with it
 * @netdev: net_device of the NIC, which has the reference count; constant
 * @ops: operations for packets; constant
 * @hw: the NIC as commands see it (@ctl; its name and bootstrap flag are written under both locks)
 * @ctl: serialises commands; see Locking
 * @turn: held by a sender that may not command the NIC; see Locking
 * @in_turn: the holder of @ctl holds @turn, too (@ctl)
 * @label: protects hw->name, hw->bootstrap and @ifname; see Locking
 * @ifname: name of the netdev
 * @gone: the device is being unregistered (written under RTNL and @ctl)
 * @owner: user namespace of the user who made it, with a reference; constant. Changes need
 *	CAP_NET_ADMIN in it, wherever the netdev has moved to
 * @events: notifications that wait to be sent
 * @all: in the list of all NICs (RTNL), from ndo_init to ndo_uninit
 * @rma_files: files of /dev/torus that are bound to this NIC (@ctl)
 */
struct torus_dev {
	struct net_device *netdev;
	const struct torus_net_ops *ops;
	struct torus_hw *hw;
	struct mutex ctl;
	struct mutex turn;
	bool in_turn;
	spinlock_t label;
	char ifname[IFNAMSIZ];
	bool gone;
	struct user_namespace *owner;
	struct torus_events events;
	struct list_head all;
	struct list_head rma_files;
};

/* --- device.c ---------------------------------------------------------------- */

/** torus_dev_init() - follow the names of netdevs that are made later. Return: 0 or -errno */
int torus_dev_init(void);
/** torus_dev_exit() - end this; no torus device is left */
void torus_dev_exit(void);

/**
 * torus_netdev_setup() - make @dev a torus netdev, before it is registered
 * The caller has set ops and hw of the struct torus_dev; all else in it is zero. It may set owner
 * before it registers @dev; else that is the user namespace of the netdev's namespace.
 */
void torus_netdev_setup(struct net_device *dev);

/**
 * torus_dev_may_add() - check the number of NICs of the user who made a user namespace; RTNL
 * @ns: user namespace that is to own another NIC
 * Packets are allocated in soft interrupts, so nobody is charged for them, and their number is
 * bounded only by the number of NICs. The NICs of all user namespaces that a user has made, also of
 * nested ones, are counted together; of those that root has made, each is counted alone, with
 * those nested in it.
 * Return: true if @ns may have one more; the initial user namespace always may.
 */
bool torus_dev_may_add(struct user_namespace *ns);
/**
 * torus_dev_get_by_index() - find the torus device with an ifindex
 * @net: network namespace of the device
 * @ifindex: interface index of the device
 * @t: tracks the reference
 * Process context; takes rcu_read_lock().
 * Return: the device, with a reference for torus_dev_put(), or NULL.
 */
struct torus_dev *torus_dev_get_by_index(struct net *net, int ifindex, netdevice_tracker *t);
/**
 * torus_dev_get_by_name() - as torus_dev_get_by_index(), by the name of the NIC; if several have
 * it, the one with the least ifindex
 */
struct torus_dev *torus_dev_get_by_name(struct net *net, const char *name,
					netdevice_tracker *t);
/**
 * torus_dev_get_next() - as torus_dev_get_by_index(), the device with the least ifindex above
 * @ifindex
 */
struct torus_dev *torus_dev_get_next(struct net *net, int ifindex, netdevice_tracker *t);
/**
 * torus_dev_list() - find devices of a namespace by one walk over all its netdevs
 * @net: the namespace
 * @after: the devices have higher interface indexes
 * @to: gets the least of these indexes, in order
 * @room: most devices, not 0
 * For dumps, which continue at an ifindex; net->dev_base_seq shows if devices were added or removed
 * between their parts. No references are taken, because a dump may have to wait for each device.
 * Return: the number of indexes in @to; less than @room: there are no others.
 */
unsigned int torus_dev_list(struct net *net, int after, int *to, unsigned int room);
/** torus_dev_put() - drop the reference that @t tracks */
void torus_dev_put(struct torus_dev *d, netdevice_tracker *t);

/** torus_dev_is_called() - Return: true if @name is the name of the NIC; takes @d->label */
bool torus_dev_is_called(struct torus_dev *d, const char *name);
/** torus_dev_lock() - take @d->ctl, and update ifindex and ifname in @d->hw; may sleep */
void torus_dev_lock(struct torus_dev *d);
/**
 * torus_dev_lock_sender() - as torus_dev_lock(), for a command of this process; without RTNL, or it
 * may set
 */
void torus_dev_lock_sender(struct torus_dev *d);
/** torus_dev_unlock() - release the locks of torus_dev_lock() or torus_dev_lock_sender() */
void torus_dev_unlock(struct torus_dev *d);
/**
 * torus_dev_run() - run a command
 * @d: the NIC, locked
 * @r: the command; LINK_ATTACH needs RTNL
 * Return: 0, with the answer in hw->reply, or a negative errno with the reason in @r->why.
 */
int torus_dev_run(struct torus_dev *d, struct torus_req *r);

/* --- ethtool.c --------------------------------------------------------------------- */

extern const struct ethtool_ops torus_ethtool_ops;

/* --- genl.c ------------------------------------------------------------------------- */

/** torus_genl_init() - register the netlink family. Return: 0 or -errno */
int torus_genl_init(void);
/** torus_genl_exit() - unregister the netlink family; waits for commands under way */
void torus_genl_exit(void);

/* --- genl_events.c ------------------------------------------------------------------ */

/*
 * Events of a NIC, for listeners in its namespace. The functions torus_event_*() may be called with
 * bottom halves off and a lock of the NIC held: they do not sleep, and allocate with GFP_ATOMIC. A
 * work sends the events, in the order of the calls.
 */

/** torus_events_init() - must be called before the other functions of genl_events.c */
void torus_events_init(struct torus_dev *d);
/** torus_events_flush() - wait until all events that have happened so far were sent; may sleep */
void torus_events_flush(struct torus_dev *d);
/**
 * torus_event_wanted() - Return: true if @group has a listener; otherwise the caller need not make
 * events
 */
bool torus_event_wanted(struct torus_dev *d, unsigned int group);
/** torus_event_link() - send LINK_NTF; sets the ifindex in @link, the caller has set all else */
void torus_event_link(struct torus_dev *d, struct torus_link *link);
/** torus_event_park() - send PARK_NTF; sets the ifindex in @park, the caller has set all else */
void torus_event_park(struct torus_dev *d, struct torus_park *park);
/**
 * torus_event_mgmt() - send MGMT_NTF: @len bytes @data of a packet that @port received
 * Return: false if it is lost, because too many of this port wait or there is no memory.
 */
bool torus_event_mgmt(struct torus_dev *d, unsigned int port, const u8 *data, unsigned int len);
/**
 * torus_event_lost() - send ENOBUFS to all listeners, because events were lost and they must read
 * the state again
 */
void torus_event_lost(struct torus_dev *d);

/* --- rma.c -------------------------------------------------------------------------- */

/**
 * struct torus_rma_file - an open file of /dev/torus, which is a context of remote memory
 * @refs: references: of the open file, and of torus_rma_gone() while it uses it
 * @lock: serialises the calls of this file, and the end of the NIC; taken before torus_dev.ctl. Its
 *	holder does not access memory of the process, which may take for ever
 * @dev: the NIC, from TORUS_RMA_BIND until it is removed; else NULL (@lock)
 * @in_dev: in the list dev->rma_files (torus_dev.ctl)
 * @user: number of the user who opened the file, in the initial user namespace; constant
 * @context: private to the NIC
 * @rings: head and rings, @bytes bytes, which the process may map; NULL before OPEN (@lock); freed
 *	with the file
 * @wait: processes that wait for @woken or @gone
 * @woken: a completion is there for a process that sleeps (atomic)
 * @gone: the NIC has lost its place, or was removed (atomic)
 */
struct torus_rma_file {
	refcount_t refs;
	struct mutex lock;
	struct torus_dev *dev;
	struct list_head in_dev;
	u32 user;
	void *context;
	void *rings;
	size_t bytes;
	wait_queue_head_t wait;
	bool woken;
	bool gone;
};

/** torus_rma_init() - make /dev/torus. Return: 0 or -errno */
int torus_rma_init(void);
/** torus_rma_exit() - remove /dev/torus, and wait until all memory of processes is given back */
void torus_rma_exit(void);
/** torus_rma_gone() - end the contexts of a NIC that is being removed; RTNL; may sleep */
void torus_rma_gone(struct torus_dev *d);
/** torus_rma_wake() - wake the process, for which a completion is there; does not sleep */
void torus_rma_wake(struct torus_rma_file *f);
/** torus_rma_hang_up() - note that the NIC has left this file; does not sleep */
void torus_rma_hang_up(struct torus_rma_file *f);

/* --- pin.c -------------------------------------------------------------------------- */

/**
 * struct torus_rma_pin - memory of a process that stays in place while the NIC uses it
 * @at: its address in the kernel
 * @bits, @space: further memory, of kvzalloc(), which is freed with it; or NULL
 * @pages: its @npages pages
 * @user: whose locked memory the pages count as, with a reference; NULL: they do not count
 * @given: in the list of memory to give back
 */
struct torus_rma_pin {
	u8 *at;
	void *bits;
	void *space;
	struct page **pages;
	unsigned long npages;
	struct user_struct *user;
	struct llist_node given;
};

/**
 * torus_rma_pin() - pin @bytes bytes at @memory of this process, at the beginning of a page
 * May sleep for ever, if the process wants that.
 * Return: 0; -ENOMEM also if RLIMIT_MEMLOCK is exceeded; -EOPNOTSUPP if it is of a file that is not
 * on tmpfs or hugetlbfs; -EFAULT, -EINVAL and others.
 */
int torus_rma_pin(u64 memory, u64 bytes, struct torus_rma_pin **pin);
/** torus_rma_unpin() - give memory back, soon; does not sleep */
void torus_rma_unpin(struct torus_rma_pin *pin);
/** torus_rma_unpin_all() - wait until it has been given back */
void torus_rma_unpin_all(void);

/* --- soft/ ------------------------------------------------------------------------- */

/** torus_soft_register() - register the rtnl link type of software NICs. Return: 0 or -errno */
int torus_soft_register(void);
/** torus_soft_unregister() - unregister it; this deletes all software NICs */
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

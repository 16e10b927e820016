/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtorus: a NIC, over generic netlink (torus.ko) or a Unix socket (torusemu). The messages are
 * those of <torus/uapi.h>, which also describes each command; this interface hides the transport.
 *
 * Functions return 0 or a negative errno; torus_error() then returns the text of the error, with
 * the text that the NIC has sent. A function waits for the answer of the NIC, at most as long as
 * torus_timeout_set() allows. A handle is not thread-safe; open one for each thread.
 */
#ifndef TORUS_TORUS_H
#define TORUS_TORUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/reply.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct torus_dev;

/**
 * torus_open() - open a NIC
 * @where: "unix:PATH"; "genl:NAME", the interface, name or index of a kernel NIC
 *	in the caller's network namespace, to which the handle then belongs; or
 *	NULL for $TORUS_DEVICE, or if that is not set the only NIC that exists
 * @devp: set to the handle, which the caller closes with torus_close()
 */
int torus_open(const char *where, struct torus_dev **devp);
/** torus_close() - close and free a handle; @dev may be NULL */
void torus_close(struct torus_dev *dev);

/** torus_timeout_set() - set the longest time to wait for an answer, ms; default 5000 */
int torus_timeout_set(struct torus_dev *dev, int timeout_ms);

/**
 * torus_error() - Return: text of the last error; with @dev NULL, text of the last error of
 * torus_open()
 */
const char *torus_error(const struct torus_dev *dev);

/**
 * torus_list() - call @fn with "unix:PATH" or "genl:INTERFACE" for every NIC of this namespace
 * @fn: called for each NIC, until it returns nonzero
 * @arg: argument of @fn
 * Unix sockets are the files *.nic in $TORUS_RUNDIR (default /run/torus).
 * Return: the first nonzero value of @fn, or 0, or a negative errno.
 */
int torus_list(int (*fn)(const char *where, void *arg), void *arg);

/** torus_device_get() - get the NIC's identity, place and counters */
int torus_device_get(struct torus_dev *dev, struct torus_device *out);
/** torus_place_set() - set shape and coordinates; all rows become invalid */
int torus_place_set(struct torus_dev *dev, const struct torus_shape *shape,
		    const struct torus_coords *coords);
/**
 * torus_place_plan_set() - like torus_place_set(), and set the address plan, by which the NIC finds
 *	the node of an IP packet
 * @plan: the address plan; NULL: the plan stays as it is, or becomes the default plan if the place
 *	is new. If only the plan changes, the rows stay valid and no packets are lost
 * Return: 0; -EINVAL also if the plan does not hold the shape, or if the NIC knows only the default
 * plan.
 */
int torus_place_plan_set(struct torus_dev *dev, const struct torus_shape *shape,
			 const struct torus_coords *coords, const struct torus_plan *plan);
/**
 * torus_root_set() - make the NIC obey a root from now on
 * @dev: the NIC
 * @epoch: epoch of the root, not 0. Each root has a greater epoch than the roots before it, and the
 *	NIC refuses orders of roots with smaller epochs
 * @guid: GUID of the root; the NIC obeys one root in each epoch
 * Later calls of torus_place_set(), torus_place_plan_set(), torus_rows_begin(),
 * torus_rows_commit(), torus_release() and
 * torus_park_replay() with @dev are orders of this root. When another handle sets a place without a
 * root, that is a placement by hand, and the NIC obeys no root after it.
 * Return: 0; -ESTALE if the NIC obeys a root of a later epoch, or another one of this epoch.
 */
int torus_root_set(struct torus_dev *dev, uint64_t epoch, uint64_t guid);
/** torus_bootstrap_set() - set the bootstrap flag */
int torus_bootstrap_set(struct torus_dev *dev, bool on);
/** torus_name_set() - rename the NIC: 1 to TORUS_NAME_MAX bytes */
int torus_name_set(struct torus_dev *dev, const char *name);

/** torus_link_get() - get one port and its link */
int torus_link_get(struct torus_dev *dev, unsigned int port, struct torus_link *out);
/**
 * torus_links_get() - get all ports; *@n: before the call number of entries of @out, after it
 * number of ports
 */
int torus_links_get(struct torus_dev *dev, struct torus_link *out, unsigned int *n);
/** torus_admin_set() - take a port up or down */
int torus_admin_set(struct torus_dev *dev, unsigned int port, bool up);
/** torus_retrain() - make the link of a port train again */
int torus_retrain(struct torus_dev *dev, unsigned int port);
/** torus_retry_set() - ask for a retry protocol; it is used from the next session of the link on */
int torus_retry_set(struct torus_dev *dev, unsigned int port, enum torus_retry protocol);
/** torus_fault_set() - inject faults at a port of a software NIC; all zero: no faults */
int torus_fault_set(struct torus_dev *dev, unsigned int port, const struct torus_fault *f);
/** torus_line_set() - model the cable of a port of a software NIC; torus_fault.seed varies lanes */
int torus_line_set(struct torus_dev *dev, unsigned int port, const struct torus_line *c);
/** torus_eye_get() - measure the eye of a lane */
int torus_eye_get(struct torus_dev *dev, unsigned int port, unsigned int lane,
		  struct torus_eye *out);
/** torus_attach() - bind a port to a lower device by name; "" unbinds it */
int torus_attach(struct torus_dev *dev, unsigned int port, const char *lower);

/** torus_rows_begin() - open a shadow table, a copy of the active rows; -ESTALE: an old version */
int torus_rows_begin(struct torus_dev *dev, uint64_t version);
/** torus_rows_put() - put rows @first to @first + @n - 1 into the shadow table */
int torus_rows_put(struct torus_dev *dev, uint64_t version, uint32_t first,
		   const uint64_t *rows, uint32_t n);
/**
 * torus_rows_put_list() - like torus_rows_put(), for any @n nodes, ids ascending, in few messages
 */
int torus_rows_put_list(struct torus_dev *dev, uint64_t version, const uint32_t *node,
			const uint64_t *rows, uint32_t n);
/** torus_rows_commit() - make the shadow table the active one, in one step */
int torus_rows_commit(struct torus_dev *dev, uint64_t version);
/**
 * torus_rows_get() - get active rows from @first on; *@n: before the call number of entries of
 * @rows, after it number of rows read
 */
int torus_rows_get(struct torus_dev *dev, uint32_t first, uint64_t *rows, uint32_t *n,
		   uint64_t *version);
/** torus_hold() - hold new packets to @n nodes */
int torus_hold(struct torus_dev *dev, const uint32_t *nodes, uint32_t n);
/** torus_release() - release all holds if @version is active; @give_up: count gaps as lost */
int torus_release(struct torus_dev *dev, uint64_t version, bool give_up);

/** torus_flow_get() - get the counters that the root adds up in a recovery */
int torus_flow_get(struct torus_dev *dev, struct torus_flow *out);
/** torus_park_get() - get the state of the parking segment */
int torus_park_get(struct torus_dev *dev, struct torus_park *out);
/** torus_park_flows_get() - get the flows of parked packets; -EOPNOTSUPP: the NIC cannot */
int torus_park_flows_get(struct torus_dev *dev, struct torus_park_flows *out);
/**
 * torus_park_resolve() - resolve which packets of a dead link's RETRY buffer its peer accepted
 * @dev: the NIC
 * @port: port of the link
 * @session: session of the link when it died
 * @seq: the peer accepted all packets before this one; negative: the peer is dead
 */
int torus_park_resolve(struct torus_dev *dev, unsigned int port, uint32_t session, int seq);
/** torus_park_replay() - reopen the ports in the mask @ports, and replay parked packets */
int torus_park_replay(struct torus_dev *dev, uint64_t version, uint16_t ports);

/** torus_mgmt_send() - send a management packet, 1 to TORUS_MGMT_MAX bytes, to the neighbour */
int torus_mgmt_send(struct torus_dev *dev, unsigned int port, const void *data, size_t len);

/**
 * struct torus_event - one notification
 * @group: kind of the notification
 * @link: the link and its state, if @group is TORUS_GROUP_LINK
 * @park: the parking segment, if @group is TORUS_GROUP_PARK
 * @port: the port that received the packet, if @group is TORUS_GROUP_MGMT
 * @data: the packet, if @group is TORUS_GROUP_MGMT; valid during the callback
 * @len: number of bytes of @data
 */
struct torus_event {
	enum torus_group group;
	struct torus_link link;
	struct torus_park park;
	unsigned int port;
	const void *data;
	size_t len;
};

/** torus_events_open() - subscribe to @groups, a mask, on a connection of its own */
int torus_events_open(struct torus_dev *dev, uint32_t groups);
/** torus_events_fd() - Return: descriptor, readable when events wait; -1 if not subscribed */
int torus_events_fd(const struct torus_dev *dev);
/**
 * torus_events_read() - call @fn for every event that waits, without blocking
 * @dev: the NIC
 * @fn: called for each event
 * @arg: argument of @fn
 * Return: 0; -ENOBUFS if events of links or the parking segment were lost: read everything again
 * (torusemu also says so of management packets, whose loss the kernel's NICs only count);
 * -ENODEV if the NIC went away; another negative errno.
 */
int torus_events_read(struct torus_dev *dev,
		      void (*fn)(const struct torus_event *ev, void *arg), void *arg);

/* Return: the name of a state, reason or protocol; NULL if the number has none. */
const char *torus_link_state_name(unsigned int state);
const char *torus_lane_name(unsigned int state);
const char *torus_link_reason_name(unsigned int reason);
const char *torus_retry_name(unsigned int protocol);
/**
 * torus_differs_name() - Return: the name of the parameter that keeps a link from coming up; NULL
 * if it is not known
 */
const char *torus_differs_name(unsigned int differs);
/**
 * torus_differs_text() - write the value of that parameter into @buf (TORUS_TEXT_MAX bytes).
 * Return: @buf
 */
const char *torus_differs_text(unsigned int differs, uint32_t value, char *buf);
/** torus_retry_parse() - find a retry protocol by name. Return: 0 or -EINVAL */
int torus_retry_parse(const char *text, enum torus_retry *out);

/**
 * struct torus_counter_desc - description of a counter, from the lists in <torus/uapi.h>
 * @name: name of the counter, and its key in JSON
 * @unit: "packets", "ns" and so on
 * @help: short description
 */
struct torus_counter_desc {
	const char *name;
	const char *unit;
	const char *help;
};

extern const struct torus_counter_desc torus_port_counters[TORUS_PC_COUNT];
extern const struct torus_counter_desc torus_port_gauges[TORUS_PG_COUNT];
extern const struct torus_counter_desc torus_node_counters[TORUS_NC_COUNT];
extern const struct torus_counter_desc torus_flow_counters[TORUS_FC_COUNT];

#ifdef __cplusplus
}
#endif
#endif /* TORUS_TORUS_H */

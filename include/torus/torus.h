/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtorus: one NIC, over generic netlink (torus.ko) or a Unix socket
 * (torusemu). The messages are those of <torus/uapi.h>; this hides which
 * transport carries them.
 *
 * Functions return 0 or a negative errno; torus_error() then has the text,
 * with what the NIC itself said. A handle is not thread-safe; make one for
 * each thread.
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
 *	NULL for $TORUS_DEVICE or else the only one there is
 */
int torus_open(const char *where, struct torus_dev **devp);
void torus_close(struct torus_dev *dev);

/** torus_timeout_set() - how long to wait for an answer; 5000 ms unless set */
int torus_timeout_set(struct torus_dev *dev, int timeout_ms);

/** torus_error() - text of the last error; of torus_open() too if @dev is NULL */
const char *torus_error(const struct torus_dev *dev);

/**
 * torus_list() - call @fn with "unix:PATH" or "genl:INTERFACE" for every NIC here
 * Unix sockets are looked for in $TORUS_RUNDIR (default /run/torus): *.nic
 * Return: the first nonzero value of @fn, or 0, or a negative errno.
 */
int torus_list(int (*fn)(const char *where, void *arg), void *arg);

int torus_device_get(struct torus_dev *dev, struct torus_device *out);
int torus_place_set(struct torus_dev *dev, const struct torus_shape *shape,
		    const struct torus_coords *coords);
/**
 * torus_root_set() - the NIC obeys this root from now on
 * @epoch: not 0. It only rises, so of two roots the former can do nothing to the NIC any more
 * @guid: of the root; the NIC obeys one in each epoch
 * Places, rows, releases and replays that @dev is told of later are by order of this root. A place
 * that another handle sets without a root is one by hand: the NIC obeys none after it.
 * Return: 0, -ESTALE: the NIC obeys a later one, or another of this epoch.
 */
int torus_root_set(struct torus_dev *dev, uint64_t epoch, uint64_t guid);
int torus_bootstrap_set(struct torus_dev *dev, bool on);
int torus_name_set(struct torus_dev *dev, const char *name);

int torus_link_get(struct torus_dev *dev, unsigned int port, struct torus_link *out);
/** torus_links_get() - all ports; @n: in room, out how many */
int torus_links_get(struct torus_dev *dev, struct torus_link *out, unsigned int *n);
int torus_admin_set(struct torus_dev *dev, unsigned int port, bool up);
int torus_retrain(struct torus_dev *dev, unsigned int port);
/** torus_retry_set() - ask for a retry protocol, from the next session on */
int torus_retry_set(struct torus_dev *dev, unsigned int port, enum torus_retry protocol);
int torus_fault_set(struct torus_dev *dev, unsigned int port, const struct torus_fault *f);
/** torus_line_set() - of software NICs; differences between lanes: torus_fault.seed */
int torus_line_set(struct torus_dev *dev, unsigned int port, const struct torus_line *c);
int torus_eye_get(struct torus_dev *dev, unsigned int port, unsigned int lane,
		  struct torus_eye *out);
/** torus_attach() - bind a port to a lower device; "" detaches */
int torus_attach(struct torus_dev *dev, unsigned int port, const char *lower);

int torus_rows_begin(struct torus_dev *dev, uint64_t version);
int torus_rows_put(struct torus_dev *dev, uint64_t version, uint32_t first,
		   const uint64_t *rows, uint32_t n);
/** torus_rows_put_list() - rows of any @n nodes, ids ascending, in few messages */
int torus_rows_put_list(struct torus_dev *dev, uint64_t version, const uint32_t *node,
			const uint64_t *rows, uint32_t n);
int torus_rows_commit(struct torus_dev *dev, uint64_t version);
/** torus_rows_get() - @n rows from @first; short if the table ends */
int torus_rows_get(struct torus_dev *dev, uint32_t first, uint64_t *rows, uint32_t *n,
		   uint64_t *version);
int torus_hold(struct torus_dev *dev, const uint32_t *nodes, uint32_t n);
int torus_release(struct torus_dev *dev, uint64_t version, bool give_up);

int torus_flow_get(struct torus_dev *dev, struct torus_flow *out);
int torus_park_get(struct torus_dev *dev, struct torus_park *out);
/** torus_park_flows_get() - whose packets are parked; -EOPNOTSUPP: the NIC cannot tell */
int torus_park_flows_get(struct torus_dev *dev, struct torus_park_flows *out);
/** torus_park_resolve() - @seq < 0: the peer is dead */
int torus_park_resolve(struct torus_dev *dev, unsigned int port, uint32_t session, int seq);
int torus_park_replay(struct torus_dev *dev, uint64_t version, uint16_t ports);

int torus_mgmt_send(struct torus_dev *dev, unsigned int port, const void *data, size_t len);

/** struct torus_event - one notification */
struct torus_event {
	enum torus_group group;
	struct torus_link link;		/* TORUS_GROUP_LINK */
	struct torus_park park;		/* TORUS_GROUP_PARK */
	unsigned int port;		/* TORUS_GROUP_MGMT */
	const void *data;		/* valid in the callback */
	size_t len;
};

/** torus_events_open() - subscribe on a connection of its own; @groups: mask */
int torus_events_open(struct torus_dev *dev, uint32_t groups);
/** torus_events_fd() - readable when torus_events_read() has something */
int torus_events_fd(const struct torus_dev *dev);
/**
 * torus_events_read() - call @fn for every event waiting, without blocking
 * Return: 0; -ENOBUFS events were lost: read everything again; -ENODEV the NIC
 * went away; another negative errno.
 */
int torus_events_read(struct torus_dev *dev,
		      void (*fn)(const struct torus_event *ev, void *arg), void *arg);

/* Names of states, reasons, counters; NULL past the end. */
const char *torus_link_state_name(unsigned int state);
const char *torus_lane_name(unsigned int state);
const char *torus_link_reason_name(unsigned int reason);
const char *torus_retry_name(unsigned int protocol);
/** torus_retry_parse() - Return: 0 or -EINVAL: no such protocol */
int torus_retry_parse(const char *text, enum torus_retry *out);

/** struct torus_counter_desc - one counter, from the ABI header's lists */
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

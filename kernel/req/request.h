/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each command means, for the driver and torusemu. They bring a request that
 * torus_check_request() has found good, and put what it answers into a message.
 */
#ifndef TORUS_REQ_REQUEST_H
#define TORUS_REQ_REQUEST_H

#include "hw.h"
#include "tree.h"

/**
 * struct torus_req - one request for one NIC
 * @tb: its attributes by number; of one that repeats, any
 * @attrs: all of them
 * @from: number of the socket that it came by, not 0
 * @why: reason of a failure
 * @tree: how hw->reply is to be put into the answer; NULL: there is none but an acknowledgement
 * @without: attributes of it to be left out; may be NULL
 */
struct torus_req {
	unsigned int cmd;
	const struct nlattr *const *tb;
	struct torus_span attrs;
	u64 from;
	struct torus_refusal why;
	const struct torus_tree *tree;
	const struct torus_attrs *without;
};

/**
 * torus_req_run() - do what @r asks
 * A request that fails has changed nothing, except that of several ROWS those before the bad one
 * are in the shadow table, and that DEVICE_SET may have given the NIC its place.
 * Return: 0, or a negative errno with the reason in @r->why.
 */
int torus_req_run(struct torus_hw *hw, struct torus_req *r);

/**
 * torus_req_label() - the rest of DEVICE_SET after torus_req_run(): name and jumper
 * A function of its own, which cannot fail or sleep, for who reads these without the NIC's mutex.
 */
void torus_req_label(struct torus_hw *hw, const struct torus_req *r);

/**
 * struct torus_parts - a dump of a NIC, its ports or its rows that is made part by part
 * @next: port or row to go on with
 * @end: where to end
 */
struct torus_parts {
	u32 next, end;
};

/** torus_req_dump() - begin a dump. Return: 0, or a negative errno with the reason in @r->why */
int torus_req_dump(struct torus_hw *hw, struct torus_req *r, struct torus_parts *p);

/**
 * torus_req_part() - the next message of a dump of @cmd: DEVICE_GET, LINK_GET or ROWS_GET
 * @to, @room: where its attributes go, aligned to 4 bytes
 * Whether rows changed between two parts hw->rows_gen tells.
 * Return: its bytes; 0: that was all; -EMSGSIZE: it does not fit; or another negative errno.
 */
int torus_req_part(struct torus_hw *hw, unsigned int cmd, struct torus_parts *p, void *to,
		   size_t room);

/* --- among the files of commands ------------------------------------------------------- */

/** torus_req_port() - PORT, which must be one of the NIC's. Return: 0 or -EINVAL */
int torus_req_port(const struct torus_hw *hw, struct torus_req *r, unsigned int *port);
/** torus_req_placed() - -ENODEV if the NIC has no place */
int torus_req_placed(const struct torus_hw *hw, struct torus_req *r);
/** torus_req_answer() - hw->reply is to be put by @tree. Return: @err */
int torus_req_answer(struct torus_req *r, const struct torus_tree *tree, int err);

/**
 * torus_req_fence() - is it by order of the root that the NIC obeys, or of a later one? -ESTALE: no
 */
int torus_req_fence(const struct torus_hw *hw, struct torus_req *r);
/** torus_req_obey() - @r was done: the NIC obeys the root that it names */
void torus_req_obey(struct torus_hw *hw, const struct torus_req *r);

static inline u64 torus_req_version(const struct torus_req *r)
{
	return torus_attr_number(r->tb[TORUS_A_VERSION]);
}

/** torus_req_version_error() - text for an error of a NIC that was told a version. Return: @err */
int torus_req_version_error(struct torus_hw *hw, struct torus_req *r, int err);

int torus_req_device_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_device_place(struct torus_hw *hw, struct torus_req *r);
/** torus_req_link_read() - a port into hw->reply.link; Return: 0 or a negative errno */
int torus_req_link_read(struct torus_hw *hw, unsigned int port);
/** torus_req_link_without() - attributes that a port of this NIC does not have; NULL: it has all */
const struct torus_attrs *torus_req_link_without(const struct torus_hw *hw);
int torus_req_link_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_link_set(struct torus_hw *hw, struct torus_req *r);
int torus_req_link_attach(struct torus_hw *hw, struct torus_req *r);
int torus_req_eye_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_mgmt_send(struct torus_hw *hw, struct torus_req *r);
int torus_req_rows_begin(struct torus_hw *hw, struct torus_req *r);
int torus_req_rows_put(struct torus_hw *hw, struct torus_req *r);
int torus_req_rows_commit(struct torus_hw *hw, struct torus_req *r);
int torus_req_rows_dump(struct torus_hw *hw, struct torus_req *r, struct torus_parts *p);
int torus_req_rows_part(struct torus_hw *hw, struct torus_parts *p, void *to, size_t room);
int torus_req_hold(struct torus_hw *hw, struct torus_req *r);
int torus_req_release(struct torus_hw *hw, struct torus_req *r);
int torus_req_flow_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_park_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_park_flows_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_park_resolve(struct torus_hw *hw, struct torus_req *r);
int torus_req_park_replay(struct torus_hw *hw, struct torus_req *r);

#endif /* TORUS_REQ_REQUEST_H */

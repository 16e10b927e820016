/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes commands, for the driver and torusemu. The caller passes a request that
 * torus_check_request() has accepted, and sends the answer.
 */
#ifndef TORUS_REQ_REQUEST_H
#define TORUS_REQ_REQUEST_H

#include "hw.h"
#include "tree.h"

/**
 * struct torus_req - one request for one NIC
 * @tb: attributes of the request by number, one of each
 * @attrs: all its attributes
 * @from: number of the socket that sent it, not 0
 * @why: set to the reason of a failure
 * @tree: set to the layout of the answer in hw->reply; NULL: the answer is an acknowledgement
 * @without: set to the attributes of @tree that the answer omits; may be NULL
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
 * torus_req_run() - execute the request @r
 * A request that fails has changed nothing, with two exceptions: if one of several ROWS is wrong,
 * those before it are in the shadow table; and DEVICE_SET may have set the NIC's place.
 * Return: 0, or a negative errno with the reason in @r->why.
 */
int torus_req_run(struct torus_hw *hw, struct torus_req *r);

/**
 * torus_req_label() - set name and bootstrap flag, after torus_req_run() of a DEVICE_SET
 * The driver reads both without the NIC's mutex, so it calls this under another lock. It cannot
 * fail and does not sleep.
 */
void torus_req_label(struct torus_hw *hw, const struct torus_req *r);

/**
 * struct torus_parts - progress of a dump of a NIC, its ports or its rows
 * @next: the port or row that the next message begins with
 * @end: the port or row before which the dump ends
 */
struct torus_parts {
	u32 next, end;
};

/** torus_req_dump() - begin a dump. Return: 0, or a negative errno with the reason in @r->why */
int torus_req_dump(struct torus_hw *hw, struct torus_req *r, struct torus_parts *p);

/**
 * torus_req_part() - write the next message of a dump of @cmd: DEVICE_GET, LINK_GET or ROWS_GET
 * @to, @room: buffer for its attributes, aligned to 4 bytes
 *	If hw->rows_gen differs between two parts, rows have changed in between.
 * Return: the bytes written; 0 if the dump is complete; -EMSGSIZE if @room is too small; or another
 * negative errno.
 */
int torus_req_part(struct torus_hw *hw, unsigned int cmd, struct torus_parts *p, void *to,
		   size_t room);

/* --- used by the files request_*.c ------------------------------------------------------ */

/** torus_req_port() - read PORT. Return: 0; -EINVAL if the NIC has no such port */
int torus_req_port(const struct torus_hw *hw, struct torus_req *r, unsigned int *port);
/** torus_req_placed() - Return: 0; -ENODEV if the NIC has no place in a torus */
int torus_req_placed(const struct torus_hw *hw, struct torus_req *r);
/** torus_req_answer() - answer with hw->reply, in the layout of @tree. Return: @err */
int torus_req_answer(struct torus_req *r, const struct torus_tree *tree, int err);

/**
 * torus_req_fence() - check that @r is an order of the root that the NIC obeys or of a later one
 * Return: 0; -ESTALE if it is neither.
 */
int torus_req_fence(const struct torus_hw *hw, struct torus_req *r);
/** torus_req_obey() - record, after @r was executed, that the NIC obeys the root that @r names */
void torus_req_obey(struct torus_hw *hw, const struct torus_req *r);

static inline u64 torus_req_version(const struct torus_req *r)
{
	return torus_attr_number(r->tb[TORUS_A_VERSION]);
}

/** torus_req_version_error() - set the text of an error that concerns VERSION. Return: @err */
int torus_req_version_error(struct torus_hw *hw, struct torus_req *r, int err);

int torus_req_device_get(struct torus_hw *hw, struct torus_req *r);
int torus_req_device_place(struct torus_hw *hw, struct torus_req *r);
/** torus_req_link_read() - read a port into hw->reply.link; Return: 0 or a negative errno */
int torus_req_link_read(struct torus_hw *hw, unsigned int port);
/**
 * torus_req_link_without() - Return: the attributes that the ports of this NIC do not have; NULL if
 * they have all
 */
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

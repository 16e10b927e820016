/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Remote memory: a process writes, reads and changes words of another node's memory; the NICs
 * execute these operations. The initiator (rma_initiator.h) turns operations into requests; the
 * owner of the memory (rma_owner.h) executes them and replies. Requests travel on VCD0, replies on
 * VCD1, never on VCA. A flow is (source, destination, service, VC); flow.h delivers each of its
 * packets at most once and in order, and reports a gap as lost.
 *
 * Exactly once. A request is one packet, and above the links nothing is ever sent again. So an
 * operation is executed at most once. Operations from one node to another are numbered, beginning
 * with a random number. The owner knows the number that comes next, and refuses any other one with
 * GAP. So the operations that it has executed are a prefix of those issued, even if a node between
 * them has died with packets inside: no operation overtakes a lost one. After a GAP the initiator
 * ends all open operations from the missing number on as not executed, and sends a RESET with the
 * number of the next operation. All these requests are in one flow, so when the RESET arrives the
 * owner has refused all operations before it. A NIC that starts sends a RESET, too. An owner that
 * has restarted has no record of it, refuses with GAP, and reports its epoch. An operation that was
 * open at that time ends as "unknown", because the owner may have executed it before its restart.
 *
 * Order. The owner executes requests as they arrive. So if an initiator issues puts and then a put
 * with NOTIFY or an atomic operation on a flag, a process that reads the new flag also reads the
 * data of the puts. Only a request that waits for a full/empty bit or a comparison is executed
 * later; the requests after it in its flow do not wait for it.
 *
 * Acknowledgement. PUT, SEND and AMO without a result are posted: one ACK acknowledges all of them
 * before it that were not refused. A refusal is a separate reply, and may be lost like others; so
 * ACK and STATUS contain the number of posted operations that were refused. If the initiator has
 * received fewer refusals, the operations that the ACK or STATUS covers end as unknown.
 *
 * No deadlock of requests and replies. A reply is always consumed when it arrives, because the
 * initiator reserves a slot for it before it sends the request. An owner accepts a request only if
 * it has memory for one reply; otherwise the request stays in its input buffer. So VCD0 waits for
 * VCD1, and VCD1 only for links and bubbles, as all packets do. A request that waits for its
 * condition reserves no memory for a reply. When a word has changed, its waiters are executed one
 * after the other, each when there is memory for its reply; until the last one is done the owner
 * accepts no request (tn_rma_owner_poll()).
 *
 * Bounded end. Each operation ends exactly once: as done; as refused, with a reason; as
 * unreachable, if its packet has come back; as lost, if it certainly was not and will not be
 * executed; or as unknown. If a node sends no reply for rma_time, or refuses a posted operation
 * while others are open, the initiator sends it a QUERY; the answer STATUS contains which
 * operations the node has executed and how many wait. All replies that were sent before the STATUS
 * have then arrived, so a missing reply is lost, and its operation ends as unknown. If
 * TN_RMA_QUERIES queries are not answered, all open operations end as unknown. The same happens
 * when a recovery ends and leaves no row to the node (rma_nic.h). A request that waits stays open
 * as long as STATUS reports it, or until it is cancelled. The time rma_time does not run while the
 * host holds packets for that node (a recovery).
 *
 * Forgery. A reply is accepted only if it comes from the node to which the request was sent, with
 * the number and slot of an open operation of its kind. Other replies are counted and dropped; an
 * acknowledgement of an operation that was never issued ends all operations with that node as
 * unknown. The NIC, not the process, writes job and endpoint into a request. The first number is
 * random, so that a reply to this NIC from before its restart does not match a present operation.
 * The NICs of a fabric trust each other with data (flow.h).
 */
#ifndef TN_RMA_H
#define TN_RMA_H

#include "rma_wire.h"

enum tn_rma_way { TN_RMA_REQUESTS, TN_RMA_REPLIES };	/* VCD0, VCD1 */

/*
 * Owner and initiator keep what they know of other nodes in pieces of TN_RMA_PIECE nodes. A piece
 * exists from the first time that one of its nodes is used.
 */
#define TN_RMA_PIECE	64

/**
 * struct tn_rma_net - functions that send messages
 * @room: Return: memory for the payload of one packet, the same until @send is called; NULL: there
 *	is none now
 * @send: send a packet with the first @bytes of that memory
 * @extend: make the pieces of @node, which do not exist. Return: false if there is no memory
 */
struct tn_rma_net {
	u8 *(*room)(void *host, enum tn_rma_way way, u32 dst);
	void (*send)(void *host, enum tn_rma_way way, u32 dst, u32 bytes);
	bool (*extend)(void *host, u32 node);
};

#endif /* TN_RMA_H */

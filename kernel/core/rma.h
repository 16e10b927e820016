/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Remote memory: a process writes, reads and changes words of another node's memory, and the NICs
 * execute it. The initiator (rma_initiator.h) turns operations into requests; the owner of the
 * memory (rma_owner.h) executes them and replies. Requests travel on VCD0, replies on VCD1, never
 * on VCA. A flow is (source, destination, service, VC); flow.h delivers each of its packets at most
 * once and in order, and reports a gap as lost.
 *
 * Exactly once. A request is written into one packet, and above the links nothing is ever sent
 * again. So an operation is executed at most once. Operations from one node to another are
 * numbered, the first number is random. The owner knows the number that comes next, and refuses
 * any other one with GAP. So those that it has executed are a prefix of those issued, even if a
 * node between them has died with packets inside: nothing overtakes what was lost. The initiator
 * then ends all that are open from the missing number on, as not executed, and sends a RESET with
 * the number of the next operation. They are in one flow, so at the RESET the owner has refused all
 * before it. A NIC begins with a RESET, too; an owner that has restarted has forgotten it, refuses
 * with GAP, and says its epoch. An operation that was open then ends as "unknown", because the old
 * NIC may have executed it.
 *
 * Order. The owner executes requests as they arrive: puts, then a put with NOTIFY or an atomic
 * operation, are seen in this order by whoever reads the flag first. Only a request that waits for
 * a full/empty bit or a comparison is executed later, and later requests of its flow go on.
 *
 * Acknowledgement. PUT, SEND and AMO without a result are posted: one ACK covers all before it, but
 * those that were refused. A refusal is a reply of its own, and may be lost like others; so ACK and
 * STATUS say how many posted operations were refused. If the initiator has heard of fewer, those
 * that they cover end as unknown.
 *
 * No deadlock of requests and replies. A reply is consumed when it arrives, whatever else happens:
 * the initiator has a slot for it since before it sent the request. An owner takes a request only
 * with memory for one reply in reserve, and else leaves it in its input buffer. So VCD0 waits for
 * VCD1, and VCD1 for nothing but links and bubbles, as all packets do. A request that waits holds
 * no such memory. When a word has changed, one waiter after the other is executed, each with memory
 * for its reply; until the last one the owner takes no request (tn_rma_owner_poll()).
 *
 * Bounded end. Each operation ends exactly once: as done; as refused, with a reason; as
 * unreachable, when its packet has come back; as lost, if it certainly was not and will not be
 * executed; or as unknown. After rma_time without a reply of a node the initiator sends it a QUERY,
 * and at once if it refused a posted operation while others are open; STATUS tells which operations
 * it has executed and how many wait. All replies before have then arrived, so one that is missing
 * is lost, and its operation ends as unknown. If TN_RMA_QUERIES of them are not answered, all that
 * are open end as unknown. So they do when a recovery ends that leaves no row to the node
 * (rma_nic.h). A request that waits lasts as long as the owner says so, or until it is cancelled.
 * Time does not run while the host holds packets for that node (a recovery).
 *
 * Forgery. A reply counts only if it comes from the node that was asked, with the number and slot
 * of an open operation of its kind. Others are counted and dropped; an acknowledgement of what was
 * never issued ends all operations with that node as unknown. The NIC writes job and endpoint, not
 * the process. The first number is random, so that a reply to the same NIC before its restart does
 * not fit an operation of now. The NICs of a fabric trust each other with data (flow.h).
 */
#ifndef TN_RMA_H
#define TN_RMA_H

#include "rma_wire.h"

enum tn_rma_way { TN_RMA_REQUESTS, TN_RMA_REPLIES };	/* VCD0, VCD1 */

/**
 * struct tn_rma_net - functions that send messages
 * @room: Return: memory for the payload of one packet, the same until @send is called; NULL: there
 *	is none now
 * @send: send a packet with the first @bytes of that memory
 */
struct tn_rma_net {
	u8 *(*room)(void *host, enum tn_rma_way way, u32 dst);
	void (*send)(void *host, enum tn_rma_way way, u32 dst, u32 bytes);
};

#endif /* TN_RMA_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other end of a cable: a NIC of the core in user space, on an Ethernet device. It is an honest
 * peer as long as peer_send() sends nothing else.
 */
#ifndef TESTS_VM_FRAMEFUZZ_H
#define TESTS_VM_FRAMEFUZZ_H

#include "kernel/core/nic_impl.h"

#define PEER_FRAME_MAX 65535	/* bytes of an Ethernet frame's payload */

/**
 * peer_open() - on a wire that wire_open() makes
 * Return: false if there is no such way.
 */
bool peer_open(const char *way, const char *ifname);
/**
 * peer_begin() - a NIC that was just switched on and knows no session
 * @retry: enum torus_retry, the protocol that it asks for
 * @patient: its link survives a moment in which the machine stands still
 */
void peer_begin(unsigned int retry, bool patient);
/** peer_run() - does the work of a NIC for @ms; 0: only what is due now */
void peer_run(int ms);
/** peer_up() - runs until the link is up. Return: false if it is not up after @ms */
bool peer_up(int ms);
/**
 * peer_exchange() - send @n management packets. Return: false if some are unacknowledged after @ms
 */
bool peer_exchange(unsigned int n, int ms);
/** peer_send() - sends any bytes unchanged, which no NIC need have made */
void peer_send(const u8 *bytes, size_t len);

/** peer_link() - the link as the honest end sees it: its seed, nonces, counters */
struct tn_link *peer_link(void);
/** peer_expected() - the TSEQ that the other end last said it expects; the caller counts it up */
u16 *peer_expected(void);
/** peer_received() - the last frame that came. Return: how many bytes */
size_t peer_received(const u8 **frame);

/*
 * The wire, an Ethernet device. Frames lie in the kernel by the way that they came:
 *
 *	packet	from a packet socket: in one piece or a few, all of them the kernel's
 *	ring	all in pages; the sender writes over its own as soon as it may, when veth has
 *		copied them (of devices that do not: kernel/kunit/frame.c)
 *	tap	in pieces, cut anywhere
 */
/** wire_open() - ends the program if this fails. Return: false if there is no such @way */
bool wire_open(const char *way, const char *ifname);
/** wire_send() - sends a frame with @bytes as payload, or nothing if the kernel has no room */
void wire_send(const u8 *bytes, size_t len);
/** wire_recv() - receives the payload of a frame. Return: how many bytes; 0: there is none */
size_t wire_recv(u8 *bytes, size_t size);
/** wire_wait() - waits for a frame, at most @ms */
void wire_wait(int ms);

#endif /* TESTS_VM_FRAMEFUZZ_H */

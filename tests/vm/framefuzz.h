/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other end of a cable: a NIC of the core in user space, over an Ethernet device.
 * It is an honest peer for as long as nothing else is sent by peer_send().
 */
#ifndef TESTS_VM_FRAMEFUZZ_H
#define TESTS_VM_FRAMEFUZZ_H

#include "kernel/core/nic_impl.h"

#define PEER_FRAME_MAX 65535	/* bytes of an Ethernet frame's payload */

/**
 * peer_open() - at a wire as wire_open() makes it
 * Return: false: there is no such way.
 */
bool peer_open(const char *way, const char *ifname);
/**
 * peer_begin() - a NIC that was just switched on, and knows of no session
 * @retry: enum torus_retry, what it asks for
 * @patient: its link outlasts a moment in which the machine stands still
 */
void peer_begin(unsigned int retry, bool patient);
/** peer_run() - does what a NIC does for @ms; 0: only what there is to do now */
void peer_run(int ms);
/** peer_up() - runs until the link is up. Return: false if it is not after @ms */
bool peer_up(int ms);
/** peer_talk() - @n management packets. Return: false if not all are acknowledged after @ms */
bool peer_talk(unsigned int n, int ms);
/** peer_send() - bytes that no NIC need have made, as they are */
void peer_send(const u8 *bytes, size_t len);

/** peer_link() - the link as the honest end sees it: its seed, nonces, counts */
struct tn_link *peer_link(void);
/** peer_expected() - TSEQ that the other end said it expects; counted on by the caller */
u16 *peer_expected(void);
/** peer_heard() - the last frame that came. Return: its bytes */
size_t peer_heard(const u8 **frame);

/*
 * The wire, an Ethernet device. Frames lie in the kernel by the way that they came:
 *
 *	packet	from a packet socket: in one piece or a few, all of them the kernel's
 *	ring	all in pages; the sender writes over its own as soon as it may, when veth has
 *		copied them (of devices that do not: kernel/kunit/frame.c)
 *	tap	in pieces, cut anywhere
 */
/** wire_open() - ends the program if that cannot be. Return: false: there is no such @way */
bool wire_open(const char *way, const char *ifname);
/** wire_send() - a frame with @bytes as payload, or nothing if the kernel has no room */
void wire_send(const u8 *bytes, size_t len);
/** wire_recv() - the payload of a frame. Return: bytes; 0: there is none */
size_t wire_recv(u8 *bytes, size_t size);
/** wire_wait() - until there is a frame, @ms at most */
void wire_wait(int ms);

#endif /* TESTS_VM_FRAMEFUZZ_H */

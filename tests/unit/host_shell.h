/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A shell around the host side of a NIC (kernel/host): counted memory, and a stand-in for the NIC.
 */
#ifndef TEST_HOST_SHELL_H
#define TEST_HOST_SHELL_H

#include "kernel/host/host.h"

#define HOST_PAYLOAD_MAX 4096	/* of the NIC's parameters, and what a packet then has */
#define HOST_NODES 1024

/**
 * struct host_shell - around @host
 * @counter: the NIC's
 * @packets: that exist
 * @is_out: there is no memory
 * @kept: how often a packet was to be kept; @each: bytes that it then holds, 0: its flits
 * @random: the last random number
 * @full: the NIC has no room, by node and VC
 * @takes: how many packets it takes before it refuses one with @refusal
 * @sent: packets that it took, and where they went last
 * @reported: IP packets that cannot arrive: how many, and the last
 * @forgot: messages that waited and were dropped: how many, and the last
 */
struct host_shell {
	struct torus_host host;
	u64 counter[TORUS_NC_COUNT];
	unsigned int packets;
	bool is_out;
	u32 kept, each, random;
	bool full[HOST_NODES][TORUS_VCS];
	unsigned int takes;
	int refusal;
	struct tn_queue sent;
	u32 dst;
	unsigned int vc;
	unsigned int reported;
	const u8 *reported_ip;
	u32 reported_len;
	unsigned int forgot;
	struct torus_host_msg *last_forgot;
};

extern struct host_shell shell;

/** host_start() - begins anew, with nothing left of earlier tests */
void host_start(void);
/** host_end() - checks that no memory is left in use */
void host_end(void);
/** host_packet() - makes a packet with @bytes of payload */
struct tn_pkt *host_packet(u32 bytes);
/** host_free() - frees packets of the test */
void host_free(struct tn_queue *q);

#endif /* TEST_HOST_SHELL_H */

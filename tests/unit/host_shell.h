/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is around the host side of a NIC (kernel/host): memory that is counted, and a NIC that
 * is not there, of which these are the counters.
 */
#ifndef TEST_HOST_SHELL_H
#define TEST_HOST_SHELL_H

#include "kernel/host/host.h"

/**
 * struct host_shell - around @host
 * @counter: the NIC's
 * @packets: that exist
 * @blocks: of memory that exist
 * @is_out: there is no memory
 */
struct host_shell {
	struct torus_host host;
	u64 counter[TORUS_NC_COUNT];
	unsigned int packets;
	unsigned int blocks;
	bool is_out;
};

extern struct host_shell shell;

/** host_start() - all as new */
void host_start(void);
/** host_end() - no memory is left in use */
void host_end(void);
/** host_packet() - a packet with @bytes of payload */
struct tn_pkt *host_packet(u32 bytes);
/** host_free() - packets of the test's */
void host_free(struct tn_queue *q);

#endif /* TEST_HOST_SHELL_H */

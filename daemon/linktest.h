/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of links, without I/O and clock: packets to a neighbour's manager and their echoes.
 *
 * Why management packets. They go over one cable, port to port, and neither over VCs nor through
 * rows, holds and the parking segment; so a test disturbs no flow, moves no route, and works on a
 * link that is excluded. All NICs (torusemu, torus.ko, hardware) and all wire versions have
 * management packets. A pattern generator in the NIC would measure the line without the retry
 * protocol and without two managers in the round trip, but would need another wire version, and a
 * peer without it could not be tested. Instead, the receivers' counters of both ends show what the
 * retry protocol repaired, and the far manager reports how long it kept a packet. This time is
 * subtracted from the round trip.
 *
 * Why they are not sealed (seal.h). The seal handles one packet at a time, and repeats the last
 * packet. Both managers get a token of 64 random bits over the service network, which is encrypted,
 * and a packet without it is dropped. A manager echoes only packets of the test that it was asked
 * to echo, and only for the time asked. It ignores all other test packets silently, so the last
 * echoes do not look like an attack.
 *
 * Bounds. A sender takes at most 1/LINKTEST_SHARE of the link's rate, headers included, and has at
 * most LINKTEST_WINDOW packets outstanding, for which the RETRY buffer, and the manager's queue of
 * events, have room. The other end echoes no more than twice that rate. The NIC gets test packets
 * only when no action of the manager waits (nicq.h), so actions of a recovery go first.
 *
 * A packet, little endian: 0 "tTST", 4 version (1), 5 kind (1), 6 length (2), 8 token (8),
 * 16 number (4), 20 how long the far manager kept it, ns (4), 24 when it was sent, by the sender's
 * clock (8), 32 a pattern made from token and number.
 */
#ifndef LINKTEST_H
#define LINKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

#define LINKTEST_SIZE_MIN	64
#define LINKTEST_SHARE		20	/* a test takes 1/20 of the rate, 5 %, or less */
#define LINKTEST_WINDOW		16
#define LINKTEST_AROUND		70	/* bytes around a packet on the wire: flits, and
					 * Ethernet's */
#define LINKTEST_MBPS		1000	/* rate of a link whose rate is not known */
#define LINKTEST_TEXT_MAX	96

struct linktest;

/**
 * struct linktest_packet - a packet for the NIC
 * @arrived: for an echo, when the packet that it answers arrived; 0: this packet is no echo
 */
struct linktest_packet {
	uint64_t arrived;
	uint16_t len;
	uint8_t data[TORUS_MGMT_MAX];
};

/**
 * struct linktest_ops - callbacks to the owner
 * @send: send @n packets on @port, each after linktest_stamp(), then call linktest_sent(). The
 *	packets are valid during the call. Return: false if the owner is busy; then linktest_due()
 *	tries again
 */
struct linktest_ops {
	bool (*send)(void *arg, unsigned int port, const struct linktest_packet *p, unsigned int n);
};

/**
 * struct linktest_plan - a test
 * @token: not 0
 * @packets: number of packets to send; 0: as many as fit into @ns
 * @rate: packets a second that the user asks for, before it is bounded
 * @size: bytes of a packet, LINKTEST_SIZE_MIN to TORUS_MGMT_MAX
 * @mbps: rate of the link; 0: not known
 */
struct linktest_plan {
	uint64_t token, packets, ns;
	uint32_t rate, size, mbps;
};

enum linktest_role { LINKTEST_SENDER, LINKTEST_ECHO, LINKTEST_ROLES };
enum linktest_state { LINKTEST_NONE, LINKTEST_RUNS, LINKTEST_DONE, LINKTEST_FAILED };

/**
 * struct linktest_result - result of a test so far; an echo sets only the first four members
 * @why: the reason as text, if the test has failed
 * @received: number of echoes that the sender received, or of packets that the echo received
 * @wrong: of these packets, how many had another pattern than was sent
 * @elapsed: duration so far, ns
 * @sent: packets that were sent; @lost: of these, packets without an echo
 * @bytes: bytes on the wire of the packets that were sent
 * @rate: packets a second, after it was bounded
 * @rtt_min, @rtt_median, @rtt_max: ns, without the time in the far manager; 0: no echo arrived
 */
struct linktest_result {
	enum linktest_state state;
	char why[LINKTEST_TEXT_MAX];
	uint64_t received, wrong, elapsed;
	uint64_t sent, lost, bytes;
	double rate;
	uint64_t rtt_min, rtt_median, rtt_max;
};

/** linktest_new() - allocate the state of all ports. Return: NULL if out of memory */
struct linktest *linktest_new(const struct linktest_ops *ops, void *arg);
void linktest_free(struct linktest *t);

/**
 * linktest_begin() - send or echo at @port, as @plan says
 * Return: 0; -EINVAL if the plan is bad; -EBUSY if another test has that role; -ENOMEM.
 */
int linktest_begin(struct linktest *t, unsigned int port, enum linktest_role role,
		   const struct linktest_plan *plan, uint64_t now);
/** linktest_end() - end the test of @token at @port, and forget its result */
void linktest_end(struct linktest *t, unsigned int port, uint64_t token);
/** linktest_fail() - end the test of that role at @port, if there is one, and mark it as failed */
void linktest_fail(struct linktest *t, unsigned int port, enum linktest_role role,
		   const char *why, uint64_t now);
/**
 * linktest_result() - get the result so far. A sender whose result is not asked for during 10 s
 * ends.
 * Return: false if there is no test of @token at @port.
 */
bool linktest_result(struct linktest *t, unsigned int port, enum linktest_role role,
		     uint64_t token, uint64_t now, struct linktest_result *out);

/** linktest_receive() - handle a management packet. Return: false if it is no test packet */
bool linktest_receive(struct linktest *t, unsigned int port, const void *data, size_t len,
		      uint64_t now);
/** linktest_stamp() - write the time into a packet that is sent now; needs no lock */
void linktest_stamp(struct linktest_packet *p, uint64_t now);
/**
 * linktest_sent() - called by the owner: of the @n packets of linktest_ops.send(), it has sent the
 * first @done
 * @err: 0, -EAGAIN: the NIC's queue is full, or another negative errno; @why: its text
 */
void linktest_sent(struct linktest *t, unsigned int port, const struct linktest_packet *p,
		   unsigned int n, unsigned int done, int err, const char *why, uint64_t now);

/**
 * linktest_due() - do the work whose time has come; linktest_expiry() - Return: the next such time,
 * UINT64_MAX: never
 */
void linktest_due(struct linktest *t, uint64_t now);
uint64_t linktest_expiry(const struct linktest *t);

#endif /* LINKTEST_H */

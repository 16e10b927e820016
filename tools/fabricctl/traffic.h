/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic that checks itself. Every record carries its number and a CRC-32C, so
 * the receiver knows what was lost, doubled, reordered or corrupted.
 *
 * UDP: a datagram is a record. At most TRAFFIC_WINDOW are unacknowledged, less
 * than any queue on the way holds: what is missing was lost in the fabric. TCP:
 * a stream of records; what the fabric loses shows as retransmissions, but not
 * all of these are losses: a pause makes the sender try again what was only late,
 * which the receiver then reports as needless.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_WINDOW 64
#define TRAFFIC_MAX 60000	/* bytes of a record */
#define TRAFFIC_RATE_MAX 1000000	/* records a second that can be asked for */
#define TRAFFIC_PATIENCE_S 60	/* without progress, and the flow has stalled */
#define RECORD_END UINT64_MAX	/* number of the record that says how many there were */

/** struct record - head of each record, host order: both ends are this machine */
struct record {
	uint32_t crc;		/* of all that follows */
	uint32_t size;		/* of the record */
	uint64_t number;
	uint64_t last;		/* of the end record: how many there were before it */
};

/** struct flow - what one flow did; shared by its processes */
struct flow {
	const char *protocol;
	bool any_order;		/* records may overtake each other */
	uint64_t sent;
	uint64_t received;	/* each number once */
	uint64_t doubled;
	uint64_t reordered;
	uint64_t corrupt;
	uint64_t bytes;
	uint64_t retransmits;	/* TCP */
	uint64_t needless;	/* of these: the receiver had it already (DSACK) */
	double gap_max_ms;	/* longest time that nothing arrived */
	double seconds;
	int err;		/* negative errno of either side, or 0 */
};

/** record_fill() - number, pattern and CRC into @buf of @size bytes */
void record_fill(void *buf, uint32_t size, uint64_t number, uint64_t last);
/** record_good() - is what arrived what was sent? */
int record_good(const void *buf, uint32_t size);

double traffic_now(void);

/**
 * struct load - what a flow sends
 * @seconds: how long
 * @size: bytes of a record
 * @rate: records a second; 0: as many as it can
 */
struct load {
	double seconds;
	uint32_t size;
	uint64_t rate;
};

/**
 * traffic_pace() - wait until the next record may be sent
 * @start: when the flow began, by traffic_now()
 * @sent: records so far
 *
 * What a pause of the fabric has delayed may be sent at once. Waits a millisecond or more, so that
 * a process that sends slowly sleeps most of the time. Return: false: the flow's time is over.
 */
bool traffic_pace(const struct load *load, double start, uint64_t sent);

/* Each runs in a process of its own until its end; results go into @f. */
void traffic_udp_send(int fd, const struct load *load, struct flow *f);
void traffic_udp_receive(int fd, struct flow *f);
void traffic_tcp_send(int fd, const struct load *load, struct flow *f);
void traffic_tcp_receive(int fd, struct flow *f);

#endif /* TRAFFIC_H */

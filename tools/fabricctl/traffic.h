/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic that checks itself. Every record contains its number and a CRC-32C, by which the receiver
 * detects lost, duplicated, reordered and corrupted records.
 *
 * UDP: a datagram is a record. At most TRAFFIC_WINDOW are unacknowledged, less than any queue on
 * the path holds, so missing ones were lost in the fabric. TCP: a stream of records; losses in the
 * fabric appear as retransmissions. Not all retransmissions are losses: after a pause the sender
 * repeats data that was only late, which the receiver then reports as needless.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_WINDOW 64
#define TRAFFIC_MAX 60000	/* most bytes of a record */
#define TRAFFIC_RATE_MAX 1000000	/* highest rate that can be requested, records a second */
#define TRAFFIC_PATIENCE_S 60	/* time without progress after which a flow counts as stalled */
#define RECORD_END UINT64_MAX	/* number of the end record, which contains the number of records
				 * sent */

/** struct record - head of each record, host order: both ends are this machine */
struct record {
	uint32_t crc;		/* CRC of the bytes after this member */
	uint32_t size;		/* bytes of the record */
	uint64_t number;
	uint64_t last;		/* in the end record: number of records before it */
};

/** struct flow - counts of one flow, shared by its processes */
struct flow {
	const char *protocol;
	bool any_order;		/* records may overtake each other */
	uint64_t sent;
	uint64_t received;	/* records received, each number counted once */
	uint64_t duplicates;
	uint64_t reordered;
	uint64_t corrupt;
	uint64_t bytes;
	uint64_t retransmits;	/* TCP retransmissions */
	uint64_t needless;	/* retransmissions of data that the receiver had already (DSACK) */
	double gap_max_ms;	/* longest time that nothing arrived */
	double seconds;
	int err;		/* negative errno of either side, or 0 */
};

/** record_fill() - write number, pattern and CRC into @buf of @size bytes */
void record_fill(void *buf, uint32_t size, uint64_t number, uint64_t last);
/** record_good() - Return: 1 if a received record is undamaged */
int record_good(const void *buf, uint32_t size);

double traffic_now(void);

/**
 * struct load - parameters of a flow
 * @seconds: duration
 * @size: bytes of a record
 * @rate: records a second; 0: as many as possible
 */
struct load {
	double seconds;
	uint32_t size;
	uint64_t rate;
};

/**
 * traffic_pace() - wait until the next record may be sent
 * @start: when the flow began, by traffic_now()
 * @sent: number of records sent so far
 *
 * Records that were delayed by a pause of the fabric may be sent at once. A wait takes a
 * millisecond or more, so that a slow sender sleeps most of the time. Return: false if the time is
 * over.
 */
bool traffic_pace(const struct load *load, double start, uint64_t sent);

/*
 * Each of these functions runs in a process of its own until the end of the flow; results go into
 * @f.
 */
void traffic_udp_send(int fd, const struct load *load, struct flow *f);
void traffic_udp_receive(int fd, struct flow *f);
void traffic_tcp_send(int fd, const struct load *load, struct flow *f);
void traffic_tcp_receive(int fd, struct flow *f);

#endif /* TRAFFIC_H */

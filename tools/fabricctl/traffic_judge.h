/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Judges a flow by the records that arrive, without sockets and clocks.
 */
#ifndef TRAFFIC_JUDGE_H
#define TRAFFIC_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "traffic.h"

/* Numbers back that are remembered: where any order is allowed, one may be late by many. */
#define JUDGE_SEEN (1 << 18)

/**
 * struct judge - the receiving end of a flow; all 0 but @f at first
 * @f: what it counts
 * @next: one past the highest number seen
 * @seen: a bit for each of the last numbers
 * @ended: the sender has said how many records there are: @total
 * @heard: when the last record came, in seconds
 * @latest: the same, or when the sender had said how many there were, if that was later
 */
struct judge {
	struct flow *f;
	uint64_t next;
	uint64_t seen[JUDGE_SEEN / 64];
	bool ended;
	uint64_t total;
	double heard, latest;
};

/** judge_datagram() - count a datagram of @size bytes that came at @now */
void judge_datagram(struct judge *j, const void *buf, uint32_t size, double now);
/** judge_stream() - count a record of a stream, of the size that its head says */
void judge_stream(struct judge *j, const void *buf, double now);
/** judge_has_all() - has every record of the flow come? */
bool judge_has_all(const struct judge *j);

/** flow_lost() - records that were sent and never came, whole or corrupt */
uint64_t flow_lost(const struct flow *f);
/** flow_is_disordered() - did records overtake each other that may not? */
bool flow_is_disordered(const struct flow *f);
/** flow_is_clean() - did each record come once, whole, and in order if that is promised? */
bool flow_is_clean(const struct flow *f);

#endif /* TRAFFIC_JUDGE_H */

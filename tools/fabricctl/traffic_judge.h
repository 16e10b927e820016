/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evaluates a flow by the records that arrive, without sockets and clocks.
 */
#ifndef TRAFFIC_JUDGE_H
#define TRAFFIC_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "traffic.h"

/*
 * Number of the last records that are remembered: where records may overtake each other, a record
 * may arrive after many later ones.
 */
#define JUDGE_SEEN (1 << 18)

/**
 * struct judge - the receiving end of a flow; all 0 but @f at first
 * @f: the counts
 * @next: one more than the highest number seen
 * @seen: a bit for each of the last numbers
 * @ended: the end record came, with the number of records, @total
 * @last_at: when the last record came, in seconds
 * @latest: when the last record or the end record came, in seconds
 */
struct judge {
	struct flow *f;
	uint64_t next;
	uint64_t seen[JUDGE_SEEN / 64];
	bool ended;
	uint64_t total;
	double last_at, latest;
};

/** judge_datagram() - count a datagram of @size bytes that arrived at @now */
void judge_datagram(struct judge *j, const void *buf, uint32_t size, double now);
/** judge_stream() - count a record of a stream, whose size is in its head */
void judge_stream(struct judge *j, const void *buf, double now);
/** judge_has_all() - Return: true if all records of the flow have come */
bool judge_has_all(const struct judge *j);

/** flow_lost() - Return: number of records that were sent and never came, not even corrupted */
uint64_t flow_lost(const struct flow *f);
/** flow_is_disordered() - Return: true if records overtook each other where order is promised */
bool flow_is_disordered(const struct flow *f);
/** flow_is_clean() - Return: true if each record came once, undamaged, and in the promised order */
bool flow_is_clean(const struct flow *f);

#endif /* TRAFFIC_JUDGE_H */

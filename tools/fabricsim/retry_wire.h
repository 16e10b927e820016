/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two ends of a link on a wire that is exact to the byte: the production retry
 * (kernel/core/retry*.c) decides what is sent, answered and sent again; this
 * counts what it costs. A unit is what gets a sequence number and a CRC: a packet,
 * or a micro-packet. Time is counted in bytes of the line. Both directions are
 * saturated, or one is.
 */
#ifndef RETRY_WIRE_H
#define RETRY_WIRE_H

#include <stdbool.h>
#include <stdint.h>

enum wire_what { WIRE_SENT, WIRE_CAME, WIRE_TIMER };
enum wire_fate { WIRE_WHOLE, WIRE_DAMAGED, WIRE_LOST };
/** enum wire_verdict - how the receiver treated a unit; WIRE_HEARD: it was only an answer */
enum wire_verdict { WIRE_HEARD, WIRE_TAKEN, WIRE_AHEAD, WIRE_BEHIND };

/**
 * struct wire_event - a frame was sent or received, or a sender's timer expired
 * @end: 0 or 1: the end that sent or received it, or whose timer it is
 * @answer: it is an answer alone; else it carries @unit, sent @copy times before
 * @says: the answer in it: the number expected next, modulo the protocol's range;
 *	-1: none
 * @nak: the answer is a NAK: the unit with this number is damaged or missing
 * @fate, @verdict: if it was received
 * @back: @end begins a replay from its oldest unit
 */
struct wire_event {
	uint64_t at, unit;
	enum wire_what what;
	unsigned int end, copy;
	bool answer;
	int says;
	bool nak;
	enum wire_fate fate;
	enum wire_verdict verdict;
	bool back;
};

/**
 * struct wire_watch - an observer of a run, which may lose frames
 * @fate: Return: the fate of a frame that is sent
 * @tell: called for each event, in the order of time
 */
struct wire_watch {
	enum wire_fate (*fate)(void *arg, const struct wire_event *sent);
	void (*tell)(void *arg, const struct wire_event *ev);
	void *arg;
};

/**
 * struct wire_plan - one run
 * @protocol: enum torus_retry
 * @payload: bytes of a unit's payload
 * @overhead: bytes of a unit besides
 * @answer: bytes of an answer that travels alone (a DLLP, an empty packet)
 * @delay: bytes that fit on the line one way
 * @window: RETRY buffer, units
 * @coalesce: ACK/NAK: good units for each ACK
 * @timeout: without progress for so long the sender goes back; in bytes of time
 * @ber: bit error rate, of both directions
 * @units: to be delivered each way
 * @one_way: the other direction carries answers alone
 * @in_sequence: an answer that rides on a unit which is not taken does not count, as in the paper's
 *	fig. 6; else all intact answers do, as in the NIC (retry.h)
 * @watch: NULL: nobody looks
 * @hit: instead of @ber: the transmissions of unit @hit_unit that are damaged
 */
struct wire_plan {
	unsigned int protocol;
	unsigned int payload, overhead, answer;
	uint64_t delay;
	unsigned int window, coalesce;
	uint64_t timeout;
	double ber;
	uint64_t units;
	bool one_way, in_sequence;
	const struct wire_watch *watch;
	unsigned int hit;
	uint64_t hit_unit;
	uint64_t seed;
};

/**
 * struct wire_cost - what it took
 * @payload: bytes delivered, both ways
 * @flow: bytes on the wire, both ways
 * @time: until the last unit was acknowledged
 * @sent: units put onto the wire; @answers: answers that travelled alone
 * @backs: times that a sender went back; @timeouts: of these, by its timer
 * @ended: false if it made no progress any more
 */
struct wire_cost {
	uint64_t payload, flow, time;
	uint64_t sent, answers, backs, timeouts;
	bool ended;
};

/** wire_window_max() - units that may be outstanding under @protocol */
unsigned int wire_window_max(unsigned int protocol);

/**
 * line_waste() - units that follow a damaged one before the sender goes back
 *
 * The line there and back, the answer, and half a unit that is under way when it arrives.
 * If the other direction is saturated the answer waits for half a unit there, and is a
 * unit long where it rides on one. A mean: on one line the two directions keep their phase.
 */
double line_waste(const struct wire_plan *plan);

/** wire_run() - Return: the cost; the same plan always costs the same */
struct wire_cost wire_run(const struct wire_plan *plan);

#endif /* RETRY_WIRE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two ends of a link on a wire that is exact to the byte: the production retry
 * (kernel/core/retry*.c) decides which frames are sent, answered and sent again; this file counts
 * the bytes. A unit has a sequence number and a CRC: it is a packet, or a micro-packet. Time is
 * counted in bytes of the line. Either both directions are saturated, or only one.
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
 * @answer: the frame contains only an answer; else it contains @unit, which was sent @copy times
 *	before
 * @says: answer in the frame: the number expected next, modulo the protocol's range; -1: no answer
 * @nak: the answer is a NAK: the unit with this number is damaged or missing
 * @fate, @verdict: valid if the frame was received
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
 * @overhead: bytes of a unit besides its payload
 * @answer: bytes of an answer that travels alone (a DLLP, an empty packet)
 * @delay: delay of the line in one direction, as the number of bytes sent in that time
 * @window: size of the RETRY buffer, units
 * @coalesce: for ACK/NAK, number of good units for each ACK
 * @timeout: the sender goes back after this time without progress, as the number of bytes sent in
 *	that time
 * @ber: bit error rate, of both directions
 * @units: number of units to be delivered in each direction
 * @one_way: the other direction carries only answers
 * @in_sequence: an answer in a unit that the receiver does not accept does not count, as in the
 *	paper's fig. 6; else all intact answers do, as in the NIC (retry.h)
 * @watch: observer of the run, or NULL
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
 * struct wire_cost - cost of a run
 * @payload: bytes delivered in both directions
 * @flow: bytes on the wire in both directions
 * @time: time until the last unit was acknowledged
 * @sent: units sent; @answers: answers sent in frames of their own
 * @backs: how often a sender went back; @timeouts: how often because of its timer
 * @ended: false if the run made no progress any more
 */
struct wire_cost {
	uint64_t payload, flow, time;
	uint64_t sent, answers, backs, timeouts;
	bool ended;
};

/** wire_window_max() - Return: most units that may be outstanding under @protocol */
unsigned int wire_window_max(unsigned int protocol);

/**
 * line_waste() - Return: number of units that the sender sends after a damaged one before it goes
 * back
 *
 * It follows from the delay of the line in both directions, the length of the answer, and half a
 * unit that is being sent when the answer arrives. If the other direction is saturated, the answer
 * waits for half a unit there, and is as long as a unit if a unit carries it. The result is a mean:
 * on one line, the phase between both directions stays the same.
 */
double line_waste(const struct wire_plan *plan);

/** wire_run() - Return: the cost; the same plan always costs the same */
struct wire_cost wire_run(const struct wire_plan *plan);

#endif /* RETRY_WIRE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Efficiency, payload / flow, of link retry, computed by formulas.
 *
 * Source: "Comparison of ACK/NAK and HIPPI link retry" (retry of packets against micro-packets),
 * section 5. paper_*() are the formulas of the paper; exact_*() count the bytes that go-back-N
 * sends. They differ where the paper is not exact:
 *   - k retries cost the paper k times four packets; but the packet that arrives
 *     is sent once: 1 + 3 k packets (k = 2: 14.2 %, not 12.4; k = 3: 9.9, not 8.2);
 *   - the paper averages efficiencies over the number of retries; payload over
 *     the mean flow is what a link sees;
 *   - it computes the probability that a packet is damaged from the length of its
 *     payload, without header and CRC;
 *   - for one DLLP a packet it writes 5120 / 5128, the flow of micro-packets, but
 *     its result, 99.12 %, is that of 4124 bytes, as here; it truncates, and does
 *     not round;
 *   - a damaged unit costs three packets or 50 micro-packets, whatever the delay of
 *     the line.
 */
#ifndef RETRY_FORMULA_H
#define RETRY_FORMULA_H

#include <stdbool.h>

/**
 * struct formula - a protocol and a line
 * @payload: bytes of a message
 * @unit, @overhead: payload and other bytes of the unit that is sent again: the whole message, or a
 *	micro-packet
 * @answer: bytes of the answer to each message, if it is sent in a frame of its own; 0: data
 *	packets carry answers
 * @ber: bit error rate
 * @waste: units that the sender sends after a damaged one before it goes back
 */
struct formula {
	double payload, unit, overhead, answer, ber, waste;
};

/**
 * paper_retries() - Return: efficiency for a message that needs @k retries, by the paper's formula
 */
double paper_retries(const struct formula *f, unsigned int k);
/** exact_retries() - Return: the same efficiency, from the counted bytes */
double exact_retries(const struct formula *f, unsigned int k);
/** paper_efficiency() - Return: mean efficiency over all messages, by the paper's formula */
double paper_efficiency(const struct formula *f);
/** exact_efficiency() - Return: payload divided by the mean flow */
double exact_efficiency(const struct formula *f);

/**
 * crossing() - find the bit error rate at which @a and @b are equally efficient
 * @of: paper_efficiency or exact_efficiency
 * Return: this rate, between 1e-9 and 2e-4, or NAN if one of them is better at all rates.
 */
double crossing(struct formula a, struct formula b, double (*of)(const struct formula *));

#endif /* RETRY_FORMULA_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Efficiency, payload / flow, of link retry on paper.
 *
 * Source: "Comparison of ACK/NAK and HIPPI link retry" (retry of packets against
 * micro-packets), section 5. paper_*() are its formulas as they stand; exact_*()
 * count what go-back-N puts onto the wire. They differ where the paper is loose:
 *   - k retries cost the paper k times four packets; but the packet that arrives
 *     is sent once: 1 + 3 k packets (k = 2: 14.2 %, not 12.4; k = 3: 9.9, not 8.2);
 *   - the paper averages efficiencies over the number of retries; payload over
 *     the mean flow is what a link sees;
 *   - it takes the chance that a packet is hit from its payload, without header
 *     and CRC;
 *   - for one DLLP a packet it writes 5120 / 5128, the flow of micro-packets, but
 *     its result, 99.12 %, is of 4124 bytes, as here; it cuts digits, not rounds;
 *   - a hit costs three packets or 50 micro-packets whatever the line's delay.
 */
#ifndef RETRY_FORMULA_H
#define RETRY_FORMULA_H

#include <stdbool.h>

/**
 * struct formula - a protocol and a line
 * @payload: bytes of a message
 * @unit, @overhead: payload and other bytes of what is sent again: the whole
 *	message, or a micro-packet
 * @answer: bytes of an answer for each message that travels alone; 0: rides along
 * @ber: bit error rate
 * @waste: units that follow a damaged one before the sender goes back
 */
struct formula {
	double payload, unit, overhead, answer, ber, waste;
};

/** paper_retries() - of a message that needs @k retries, as the paper has it */
double paper_retries(const struct formula *f, unsigned int k);
/** exact_retries() - the same, counted */
double exact_retries(const struct formula *f, unsigned int k);
/** paper_efficiency() - mean over all messages, as the paper has it */
double paper_efficiency(const struct formula *f);
/** exact_efficiency() - payload over mean flow */
double exact_efficiency(const struct formula *f);

/**
 * crossing() - bit error rate at which @a and @b are equally efficient
 * @of: paper_efficiency or exact_efficiency
 * Return: between 1e-9 and 2e-4, or NAN if one is better everywhere.
 */
double crossing(struct formula a, struct formula b, double (*of)(const struct formula *));

#endif /* RETRY_FORMULA_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The result of a test of a link, which is computed from the counts of its two ends. */
#ifndef TESTED_H
#define TESTED_H

#include <jansson.h>

/**
 * struct tested - answers of both ends about a test
 * @link: the link at the sending end, in the form of "links"
 * @send, @echo: the last answers of "test" of both ends
 * @mbps: rate of the link, as in the answer of "test"
 * @slow_us: from this round trip on the link is slow, as in the answer of "test"
 * @size: bytes of a packet
 */
struct tested {
	const json_t *link, *send, *echo, *mbps, *slow_us;
	uint64_t size;
};

/** tested_json() - Return: the result, with the verdict */
json_t *tested_json(const struct tested *t);
/** tested_show() - print the result for people */
void tested_show(const json_t *result);
/** tested_status() - Return: OK or PROBLEM, by the verdict */
int tested_status(const json_t *result);

#endif /* TESTED_H */

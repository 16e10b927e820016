/* SPDX-License-Identifier: GPL-2.0-only */
/* The result of a test of a link: made from what its two ends counted, judged, and shown. */
#ifndef TESTED_H
#define TESTED_H

#include <jansson.h>

/**
 * struct tested - what is known of a test
 * @link: the link at the end that sent, as of "links"
 * @send, @echo: the last answers of "test" of both ends
 * @mbps: rate of the link, as of "test"
 * @size: bytes of a packet
 */
struct tested {
	const json_t *link, *send, *echo, *mbps;
	uint64_t size;
};

/** tested_json() - Return: the result, with the verdict */
json_t *tested_json(const struct tested *t);
/** tested_show() - print it for people */
void tested_show(const json_t *result);
/** tested_status() - Return: OK or PROBLEM, by the verdict */
int tested_status(const json_t *result);

#endif /* TESTED_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Gathering of answers that nodes can give only after asking their NICs. */
#ifndef ANSWER_NIC_H
#define ANSWER_NIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct question;
struct request;

/** answer_add_counters() - add @n counters or gauges to an object */
void answer_add_counters(json_t *to, const struct torus_counter_desc *desc,
			 const uint64_t *value, unsigned int n);
/** flow_json() - Return: the counters that a recovery adds up */
json_t *flow_json(const struct torus_flow *flow);
/** park_json() - Return: the parking segment of this node's NIC, read by @q */
json_t *park_json(const struct question *q);
/** answer_one_end() - an @end for answer_gather(): answer with the object of the only node */
void answer_one_end(struct request *rq, json_t **by_node, uint32_t n);
/**
 * answer_gather_nodes() - gather answers from the node in the request. If the request names no
 * node, ask all nodes, but answer with an error if @needed
 */
void answer_gather_nodes(struct request *rq, bool needed,
			 void (*end)(struct request *rq, json_t **by_node, uint32_t n));

#endif /* ANSWER_NIC_H */

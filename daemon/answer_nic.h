/* SPDX-License-Identifier: GPL-2.0-only */
/* Gathering of answers for which nodes ask their NICs. */
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
/** answer_flat_end() - callback @end of answer_gather(): answer with the joined arrays of nodes */
void answer_flat_end(struct request *rq, json_t **by_node, uint32_t n);
/** answer_one_end() - callback @end of answer_gather(): answer with the object of the one node */
void answer_one_end(struct request *rq, json_t **by_node, uint32_t n);
/** answer_gather_nodes() - gather answers of one node, or of all unless @needed */
void answer_gather_nodes(struct request *rq, bool needed,
			 void (*end)(struct request *rq, json_t **by_node, uint32_t n));
/**
 * answer_gather_some() - gather answers of one node, of all, or, if the request has a "count", of
 * the nodes from "node" on
 * @max: items for which a reply has room
 * @each: items of a node in each dimension; 0: one item a node
 */
void answer_gather_some(struct request *rq, uint32_t max, unsigned int each,
			void (*end)(struct request *rq, json_t **by_node, uint32_t n));

#endif /* ANSWER_NIC_H */

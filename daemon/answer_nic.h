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
/**
 * answer_flat_end() - an @end for answer_gather(): answer with one array that joins the arrays of
 * all nodes
 */
void answer_flat_end(struct request *rq, json_t **by_node, uint32_t n);
/** answer_one_end() - an @end for answer_gather(): answer with the object of the only node */
void answer_one_end(struct request *rq, json_t **by_node, uint32_t n);
/**
 * answer_gather_nodes() - gather answers from the node in the request. If the request names no
 * node, ask all nodes, but answer with an error if @needed
 */
void answer_gather_nodes(struct request *rq, bool needed,
			 void (*end)(struct request *rq, json_t **by_node, uint32_t n));
/**
 * answer_gather_some() - gather answers of one node, of all, or, if the request has a "count", of
 * the nodes from "node" on
 * @max: most items in a reply
 * @each: number of items of a node in each dimension; 0: a node has one item
 */
void answer_gather_some(struct request *rq, uint32_t max, unsigned int each,
			void (*end)(struct request *rq, json_t **by_node, uint32_t n));

#endif /* ANSWER_NIC_H */

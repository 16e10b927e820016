/* SPDX-License-Identifier: GPL-2.0-only */
/* How a node becomes root: it asks to be root, claims an epoch, and leads. */
#ifndef FM_CLAIM_H
#define FM_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_hello;
struct fm_init;
struct fm_record;
struct fm_root;

/*
 * Allocates the state of claim.c for a new root, which neither asks nor leads yet. Return: false if
 * there is no memory.
 */
bool fm_claim_new(struct fm_root *r);
void fm_claim_free(struct fm_root *r);

/** fm_claim_begin() - begin to ask to be root, or, with @leads, lead at once as the first root */
void fm_claim_begin(struct fm *fm, bool leads);
/**
 * fm_claim_hello() - process the HELLO of @m
 * Return: true if @m may be welcomed; false if it was answered by CLAIM, or has to send HELLO
 * again.
 */
bool fm_claim_hello(struct fm *fm, struct fm_conn *c, struct fm_record *m,
		    const struct fm_hello *h);
bool fm_claim_leads(const struct fm *fm);
/**
 * fm_claim_anew() - ask all nodes again in an epoch above @epoch, which some node obeys or may obey
 * A root that leads stops leading after the present event, and asks.
 */
void fm_claim_anew(struct fm *fm, uint64_t epoch);
/**
 * fm_claim_again() - begin to ask again in a new struct fm_root, after fm_claim_anew()
 * @high: the next claim needs an epoch above this; @begun: time since which this node has asked
 */
void fm_claim_again(struct fm *fm, uint64_t high, uint64_t begun);
/**
 * fm_claim_count() - get the result of the last check of the claim: how many nodes took part
 * (@here), and how many would have been enough (@need)
 */
void fm_claim_count(const struct fm_root *r, uint32_t *here, uint32_t *need);
/** fm_claim_why() - Return: why this node leads, as text for people; called only if it leads */
const char *fm_claim_why(const struct fm_root *r);
/**
 * fm_claim_history() - examine an Init of a neighbour that may name a root which led before this
 * one
 */
void fm_claim_history(struct fm *fm, const struct fm_init *init);
/** fm_claim_yields() - Return: true if this root must give way to the root that the Init names */
bool fm_claim_yields(const struct fm *fm, const struct fm_init *init);
/** fm_claim_look() - check the claim soon, because something that decides on it may have changed */
void fm_claim_look(struct fm *fm);
void fm_claim_due(struct fm *fm);
uint64_t fm_claim_expiry(const struct fm *fm);

#endif /* FM_CLAIM_H */

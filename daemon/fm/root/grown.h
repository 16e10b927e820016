/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs that grow from one node, until they begin. */
#ifndef FM_GROWN_H
#define FM_GROWN_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_grown_msg;
struct fm_job;
struct fm_job_want;
struct fm_root;

/* Allocates the state of grown.c for a new root. Return: false if there is no memory. */
bool fm_grown_new(struct fm_root *r);
void fm_grown_free(struct fm_root *r);

/** fm_grown_begin() - see fm_job_grow() */
int fm_grown_begin(struct fm *fm, const struct fm_job *job, const struct fm_job_want *want);
/** fm_grown_take() - process GROWN of a node: it is a member, or the growth has ended */
void fm_grown_take(struct fm *fm, const struct fm_grown_msg *m);
/** fm_grown_look() - called when a job has begun: ends growths whose members now belong to it */
void fm_grown_look(struct fm *fm);
/** fm_grown_state() - see fm_job_growth() */
int fm_grown_state(const struct fm *fm, const char *name, char *why);
void fm_grown_due(struct fm *fm);
uint64_t fm_grown_expiry(const struct fm *fm);

#endif /* FM_GROWN_H */

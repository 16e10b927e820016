/* SPDX-License-Identifier: GPL-2.0-only */
/* The jobs of a table, and which cables belong to one. */
#ifndef FM_JOBS_H
#define FM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm_job_count;
struct fm_table;
struct torus_cable;

/** struct fm_jobs - @n jobs, by id */
struct fm_jobs {
	struct fm_job *of;
	uint32_t n, room;
};

/** fm_jobs_put() - add a job, whose id is free. Return: false if there is no memory */
bool fm_jobs_put(struct fm_jobs *s, const struct fm_job *j);
void fm_jobs_drop(struct fm_jobs *s, uint16_t id);
/** fm_jobs_find(), fm_jobs_named() - Return: the job; NULL if there is none */
const struct fm_job *fm_jobs_find(const struct fm_jobs *s, uint16_t id);
const struct fm_job *fm_jobs_named(const struct fm_jobs *s, const char *name);
/** fm_jobs_next() - Return: the lowest free id; 0 if there are FM_JOBS_MAX jobs */
uint16_t fm_jobs_next(const struct fm_jobs *s);
/** fm_jobs_set() - make @s the @n jobs @of; empty if there is no memory */
void fm_jobs_set(struct fm_jobs *s, const struct fm_job *of, uint32_t n);
void fm_jobs_free(struct fm_jobs *s);
bool fm_jobs_same(const struct fm_jobs *a, const struct fm_jobs *b);
/** fm_jobs_sum() - Return: a checksum of all jobs, which continues the checksum @sum */
uint64_t fm_jobs_sum(const struct fm_jobs *s, uint64_t sum);

/**
 * fm_jobs_close() - find the ports that the nodes of a job must not use for it
 * @member: by node id: whether it is one of them
 * @closed: set to a mask for each node: the ports that the table closes, and those that lead out of
 *	the job; all ports of other nodes
 */
void fm_jobs_close(const struct fm_table *t, const bool *member, uint16_t *closed);

/**
 * fm_jobs_count() - count the nodes of all jobs
 * @count: FM_JOBS_MAX + 1, by id (status.h)
 * Return: false if there is no memory.
 */
bool fm_jobs_count(const struct fm_table *t, struct fm_job_count *count);

/**
 * fm_jobs_severed() - find cables whose repair would join parts of a job that has fallen apart
 * @cable: gets the first @max: those between two parts; only if there are none, those that lead to
 *	nodes that are not up
 * Return: their number, also beyond @max; 0 also if there is no memory.
 */
uint32_t fm_jobs_severed(const struct fm_table *t, uint16_t id, struct torus_cable *cable,
			 uint32_t max);

#endif /* FM_JOBS_H */

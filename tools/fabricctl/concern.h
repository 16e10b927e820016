/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides which events concern a job: failures and returns of its nodes and of their cables. */
#ifndef CONCERN_H
#define CONCERN_H

#include <jansson.h>
#include <stdbool.h>

struct concern;

/**
 * concern_new() - prepare for the events of a job
 * @job, @members: as job_get() gets them; they are copied
 * Return: NULL if out of memory.
 */
struct concern *concern_new(const json_t *job, const json_t *members);
void concern_free(struct concern *c);
/** concern_of() - Return: those of @events that concern the job, a new array, in the same order */
json_t *concern_of(struct concern *c, const json_t *events);

#endif /* CONCERN_H */

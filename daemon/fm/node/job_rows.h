/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows inside the job to which this node belongs, and through relays to nodes of other jobs. */
#ifndef FM_JOB_ROWS_H
#define FM_JOB_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/** fm_job_rows_new() - allocate the state of job_rows.c. Return: false if there is no memory */
bool fm_job_rows_new(struct fm *fm);
void fm_job_rows_free(struct fm *fm);
/** fm_job_rows_forget() - forget the rows, because this node has another place */
void fm_job_rows_forget(struct fm *fm);
/**
 * fm_job_rows_update() - compute the rows that jobs change for the present table; those of the
 * whole fabric (fm.routes) must be those of this table
 * @changed: set to true if rows to any nodes may differ from before; else unchanged
 * Return: 0, -ENOMEM.
 */
int fm_job_rows_update(struct fm *fm, bool *changed);
/**
 * fm_job_row() - Return: the row to node @to by the present table: @row, the one of the whole
 * fabric, or the one inside the job if @to belongs to the job of this node, or one with another
 * relay if @to belongs to another job; 0 if a job that has fallen apart leaves no way
 */
uint64_t fm_job_row(const struct fm *fm, uint32_t to, uint64_t row);

#endif /* FM_JOB_ROWS_H */

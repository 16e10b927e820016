/* SPDX-License-Identifier: GPL-2.0-only */
/* Computes the rows of the NIC from the table, and writes them to it. */
#ifndef FM_ROWS_H
#define FM_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

struct fm;

/**
 * fm_rows_new() - allocate the state of rows.c; called by fm_new()
 * @epoch: epoch of the root by whose order the NIC took its present rows; 0: none
 * Return: false if there is no memory.
 */
bool fm_rows_new(struct fm *fm, uint64_t epoch);
void fm_rows_free(struct fm *fm);
/** fm_rows_epoch() - Return: epoch of the root by whose order the NIC took its present rows */
uint64_t fm_rows_epoch(const struct fm *fm);
/**
 * fm_rows_version() - Return: version of the rows that the NIC has, or may have after a failed
 * write
 */
uint64_t fm_rows_version(const struct fm *fm);
/**
 * fm_rows_place() - begin to give the NIC its place, unless it has that place already
 * Return: 0 or negative errno. An action that is begun ends with fm_rows_placed().
 */
int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node);
/**
 * fm_rows_placed() - process the end of FM_ACT_PLACE: if it succeeded, the NIC has its new place
 * and no rows
 */
void fm_rows_placed(struct fm *fm, int err);
/**
 * fm_rows_apply() - begin to put the table in force, unless it is in force
 * Return: 0 or negative errno. An action that is begun ends with fm_rows_written().
 */
int fm_rows_apply(struct fm *fm);
/** fm_rows_written() - process the end of FM_ACT_ROWS */
void fm_rows_written(struct fm *fm, int err);
/**
 * fm_rows_in_force() - Return: true if the NIC has the rows of the present table, of the same root
 */
bool fm_rows_in_force(const struct fm *fm);
/**
 * fm_rows_taken() - count the rows that lead through relays
 * Called once, when fm->rows were copied from the NIC.
 */
void fm_rows_taken(struct fm *fm);
/**
 * fm_rows_resolve() - resolve the packets that are parked at dead links; with @orphans also those
 * whose peer has not reported
 */
void fm_rows_resolve(struct fm *fm, bool orphans);
/** fm_rows_reopen() - Return: mask of ports that are closed in the NIC and healthy in the table */
uint16_t fm_rows_reopen(const struct fm *fm);
/** fm_rows_released() - process the success of FM_ACT_RELEASE: no row is on hold any more */
void fm_rows_released(struct fm *fm);

#endif /* FM_ROWS_H */

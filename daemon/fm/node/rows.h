/* SPDX-License-Identifier: GPL-2.0-only */
/* From the table to the rows of the NIC. */
#ifndef FM_ROWS_H
#define FM_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

struct fm;

/**
 * fm_rows_new() - memory for rows.c, by fm_new()
 * @epoch: of the root by whose order the NIC took its present rows; 0: none
 * Return: false: no memory.
 */
bool fm_rows_new(struct fm *fm, uint64_t epoch);
void fm_rows_free(struct fm *fm);
/** fm_rows_epoch() - Return: epoch of the root by whose order the NIC took its present rows */
uint64_t fm_rows_epoch(const struct fm *fm);
/** fm_rows_version() - Return: version that the NIC has, or may have after a failed write */
uint64_t fm_rows_version(const struct fm *fm);
/**
 * fm_rows_place() - begin to place the NIC, unless it has that place already
 * Return: 0 or negative errno. An action that is begun ends with fm_rows_placed().
 */
int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node);
/** fm_rows_placed() - FM_ACT_PLACE has ended: with success the NIC has its new place and no rows */
void fm_rows_placed(struct fm *fm, int err);
/**
 * fm_rows_apply() - begin to put the table in force, unless it is in force
 * Return: 0 or negative errno. An action that is begun ends with fm_rows_written().
 */
int fm_rows_apply(struct fm *fm);
/** fm_rows_written() - FM_ACT_ROWS has ended */
void fm_rows_written(struct fm *fm, int err);
/** fm_rows_in_force() - Return: true if the NIC has the present table, of the root that made it */
bool fm_rows_in_force(const struct fm *fm);
/** fm_rows_taken() - fm->rows were copied from the NIC, at the start: count those through relays */
void fm_rows_taken(struct fm *fm);
/** fm_rows_resolve() - resolve packets parked at dead links, with @orphans also the last ones */
void fm_rows_resolve(struct fm *fm, bool orphans);
/** fm_rows_reopen() - Return: mask of ports that are closed in the NIC and healthy in the table */
uint16_t fm_rows_reopen(const struct fm *fm);
/** fm_rows_released() - FM_ACT_RELEASE has ended: no row is on hold */
void fm_rows_released(struct fm *fm);

#endif /* FM_ROWS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* From the table to the rows of the NIC. */
#ifndef FM_ROWS_H
#define FM_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

struct fm;

/**
 * fm_rows_new() - @epoch: of the root by whose order the NIC took its rows; 0: none. Return: false:
 *	no memory
 */
bool fm_rows_new(struct fm *fm, uint64_t epoch);
void fm_rows_free(struct fm *fm);
/** fm_rows_epoch() - Return: that epoch, of the rows that the NIC has now */
uint64_t fm_rows_epoch(const struct fm *fm);
/**
 * fm_rows_version() - Return: the version that the NIC has in force, or may have after a failed
 *	write
 */
uint64_t fm_rows_version(const struct fm *fm);
/**
 * fm_rows_place() - begin to place the NIC, unless it is there
 * Return: 0 or negative errno; what is begun ends with fm_rows_placed().
 */
int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node);
void fm_rows_placed(struct fm *fm, int err);
/**
 * fm_rows_apply() - begin to put the table in force, unless it is
 * Return: 0 or negative errno; what is begun ends with fm_rows_written().
 */
int fm_rows_apply(struct fm *fm);
void fm_rows_written(struct fm *fm, int err);
/* Return: true if the NIC has the rows of the table at hand, by order of the root that made it. */
bool fm_rows_in_force(const struct fm *fm);
/* @rows are as in the NIC: what is known of them is counted. */
void fm_rows_taken(struct fm *fm);
void fm_rows_resolve(struct fm *fm, bool orphans);
uint16_t fm_rows_reopen(const struct fm *fm);
void fm_rows_released(struct fm *fm);

#endif /* FM_ROWS_H */

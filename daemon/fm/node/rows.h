/* SPDX-License-Identifier: GPL-2.0-only */
/* From the table to the rows of the NIC. */
#ifndef FM_ROWS_H
#define FM_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

struct fm;

int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node);
int fm_rows_apply(struct fm *fm);
/* @rows are as in the NIC: what is known of them is counted. */
void fm_rows_taken(struct fm *fm);
void fm_rows_free(struct fm *fm);
void fm_rows_resolve(struct fm *fm, bool orphans);
uint16_t fm_rows_reopen(const struct fm *fm);
void fm_rows_released(struct fm *fm);

#endif /* FM_ROWS_H */

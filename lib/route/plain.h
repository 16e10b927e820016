/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIB_ROUTE_PLAIN_H
#define LIB_ROUTE_PLAIN_H

#include "health.h"

/** lt_plain_rows() - compute all rows of node @from, at @at, as if no cable were excluded */
void lt_plain_rows(const struct torus_health *h, uint32_t from,
		   const struct torus_coords *at, uint64_t *rows);

#endif /* LIB_ROUTE_PLAIN_H */

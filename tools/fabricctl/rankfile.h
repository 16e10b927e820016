/* SPDX-License-Identifier: GPL-2.0-only */
/* Files by which launchers of parallel programs place ranks. */
#ifndef RANKFILE_H
#define RANKFILE_H

#include <stdio.h>

#include "slots.h"

/** rankfile_known() - Return: true if there is such a format */
bool rankfile_known(const char *format);
/** RANKFILE_FORMATS - the formats, for messages */
#define RANKFILE_FORMATS "openmpi, mpich, slurm or rubik"

/**
 * rankfile_write() - write the file of a placement
 * @place: for each rank, a slot
 * Return: OK, or CANNOT after an error: a node has no name that the launcher could use, or the
 * launcher cannot place ranks so.
 */
int rankfile_write(FILE *f, const char *format, const struct slots *s, const uint32_t *place,
		   uint32_t ranks);

/**
 * rankfile_read() - read a placement: each line has the coordinates of a rank's node, separated by
 * blanks
 * @place: gets for each rank a slot of that node
 * Return: OK, or CANNOT after an error.
 */
int rankfile_read(const char *file, const struct slots *s, uint32_t *place, uint32_t ranks);

#endif /* RANKFILE_H */

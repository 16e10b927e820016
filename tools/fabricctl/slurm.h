/* SPDX-License-Identifier: GPL-2.0-only */
/* Files by which Slurm knows the topology. */
#ifndef SLURM_H
#define SLURM_H

#include <stdbool.h>
#include <stdio.h>
#include <torus/topology.h>

/** slurm_is_name() - Return: true if @name can stand in a list of hosts of Slurm as it is */
bool slurm_is_name(const char *name);
/**
 * slurm_write_tree() - write topology.conf of topology/tree: the lines of the first dimension are
 * the lowest switches, the planes of the first two are those above them, and so on
 * @name: for each node its name; NULL: the node is left out, and switches without nodes too
 */
void slurm_write_tree(FILE *f, const struct torus_shape *shape, const char *const *name);
/**
 * slurm_write_torus3d() - write topology.yaml of topology/torus3d, which Slurm has since 26.05
 * A torus of Slurm has three dimensions. A shape with less gets dimensions of size 1; one with more
 * is written as several toruses, between which Slurm places no job.
 * @name: as above
 */
void slurm_write_torus3d(FILE *f, const struct torus_shape *shape, const char *const *name);

#endif /* SLURM_H */

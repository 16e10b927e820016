/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The torus under an MPI program: the names and arguments of the MPIX functions of Blue Gene, for
 * up to six dimensions. They are in libtorus-ompi (Open MPI) and libtorus-mpich (MPICH), which must
 * come before the MPI library: on the command line of the linker, or in LD_PRELOAD.
 *
 * These libraries also make MPI_Cart_create(), MPI_Dist_graph_create() and
 * MPI_Dist_graph_create_adjacent() reorder ranks if the program allows it: libtorus-mpi(7).
 *
 * All functions return an MPI error: MPI_ERR_TOPOLOGY if the places of processes are not known,
 * because a process did not find its fabric manager when MPI was initialized.
 */
#ifndef TORUS_MPIX_H
#define TORUS_MPIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIX_TORUS_MAX_DIMS 6

/**
 * struct MPIX_Hardware_t - where this process is
 * @prank: its rank in MPI_COMM_WORLD; @psize: number of processes
 * @ppn: number of processes on its node; @coreID: its number among them
 * @clockMHz: clock of the processor, @memSize: memory of the node in MB; 0: not known
 * @torus_dimension: number of dimensions
 * @Size: sizes of the torus; @Coords: coordinates of the node; @isTorus: 1 if the dimension is
 *	a ring, 0 if it has a single node
 */
typedef struct MPIX_Hardware_t {
	unsigned int prank;
	unsigned int psize;
	unsigned int ppn;
	unsigned int coreID;
	unsigned int clockMHz;
	unsigned int memSize;
	unsigned int torus_dimension;
	unsigned int Size[MPIX_TORUS_MAX_DIMS];
	unsigned int Coords[MPIX_TORUS_MAX_DIMS];
	unsigned int isTorus[MPIX_TORUS_MAX_DIMS];
} MPIX_Hardware_t;

/** MPIX_Torus_ndims() - get the number of dimensions of the torus */
int MPIX_Torus_ndims(int *numdim);

/**
 * MPIX_Rank2torus() - get the coordinates of a process
 * @rank: rank in MPI_COMM_WORLD
 * @coords: gets one entry for each dimension, and after them the number of the process on its node
 * Return: MPI_ERR_RANK if there is no such rank.
 */
int MPIX_Rank2torus(int rank, int *coords);

/**
 * MPIX_Torus2rank() - get the process at these coordinates
 * @coords: as MPIX_Rank2torus() sets them
 * @rank: gets the rank in MPI_COMM_WORLD
 * Return: MPI_ERR_TOPOLOGY if there is no process.
 */
int MPIX_Torus2rank(int *coords, int *rank);

/** MPIX_Hardware() - get where this process is */
int MPIX_Hardware(MPIX_Hardware_t *hw);

/**
 * MPIX_Cart_comm_create() - make a communicator whose Cartesian topology is the torus
 * @cart_comm: gets the communicator, of all processes: its dimensions are those of the box of nodes,
 *	and after them the processes of a node; a dimension is periodic if the box has its whole ring
 * All processes of MPI_COMM_WORLD call it.
 * Return: MPI_ERR_TOPOLOGY if the nodes are not a box, or have unlike numbers of processes.
 */
int MPIX_Cart_comm_create(MPI_Comm *cart_comm);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_MPIX_H */

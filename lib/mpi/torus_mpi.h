/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of this folder share. */
#ifndef TORUS_MPI_H
#define TORUS_MPI_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <torus/map.h>
#include <torus/topology.h>

/*
 * The function of the MPI library that a function here replaces. Both of its names, MPI_ and PMPI_,
 * are replaced, because the Fortran bindings of Open MPI call the latter.
 */
#define REAL(fn) ({ \
	static __typeof__(&fn) real_; \
	if (!real_) \
		real_ = (__typeof__(&fn))dlsym(RTLD_NEXT, #fn); \
	real_; \
})

/** struct mpi_places - where all processes of a communicator are */
struct mpi_places {
	struct torus_shape shape;
	uint32_t *node;
	int ranks;
};

/**
 * lt_mpi_places_get() - ask all processes of @comm
 * Return: an MPI error; MPI_ERR_TOPOLOGY if a process does not know where it is.
 */
int lt_mpi_places_get(MPI_Comm comm, struct mpi_places *out);
void lt_mpi_places_free(struct mpi_places *p);

/** lt_mpi_world_begin() - remember where all processes are; called when MPI has been initialized */
void lt_mpi_world_begin(void);
/** lt_mpi_world() - Return: the places of MPI_COMM_WORLD; NULL if they are not known */
const struct mpi_places *lt_mpi_world(void);

/**
 * lt_mpi_order() - make a communicator in which ranks are placed so that @traffic goes less far
 * @what: the caller, for messages
 * @ranks: number of ranks that exchange data, at most the size of @comm
 * @traffic: what rank 0 knows of it; other processes give none
 * @new_rank: gets the new rank of each old one, an array of the size of @comm; or NULL
 * @out: gets the communicator, with the size of @comm
 * Return: an MPI error; MPI_ERR_TOPOLOGY if the places of processes are not known, and then there
 * is no communicator.
 */
int lt_mpi_order(const char *what, MPI_Comm comm, int ranks, const struct torus_traffic *traffic,
	      size_t n, int *new_rank, MPI_Comm *out);

/** lt_mpi_reorders() - Return: false if the environment forbids reordering */
bool lt_mpi_reorders(void);

/** lt_mpi_traffic_begin() - begin to record the traffic if an environment variable asks for it */
void lt_mpi_traffic_begin(void);
/** lt_mpi_traffic_end() - write the recorded traffic; called before MPI ends */
void lt_mpi_traffic_end(void);

#endif /* TORUS_MPI_H */

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The functions of <torus/mpix.h>. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <torus/mpix.h>
#include "torus_mpi.h"

/* Return: how many processes before this one are on its node */
static int number_on_node(const struct mpi_places *w, int rank)
{
	int n = 0;

	for (int r = 0; r < rank; r++)
		n += w->node[r] == w->node[rank];
	return n;
}

static int count_on_node(const struct mpi_places *w, uint32_t node)
{
	int n = 0;

	for (int r = 0; r < w->ranks; r++)
		n += w->node[r] == node;
	return n;
}

int MPIX_Torus_ndims(int *numdim)
{
	const struct mpi_places *w = lt_mpi_world();

	if (!w)
		return MPI_ERR_TOPOLOGY;
	*numdim = (int)w->shape.ndims;
	return MPI_SUCCESS;
}

int MPIX_Rank2torus(int rank, int *coords)
{
	const struct mpi_places *w = lt_mpi_world();
	struct torus_coords at;

	if (!w)
		return MPI_ERR_TOPOLOGY;
	if (rank < 0 || rank >= w->ranks)
		return MPI_ERR_RANK;
	torus_node_coords(&w->shape, w->node[rank], &at);
	for (unsigned int d = 0; d < w->shape.ndims; d++)
		coords[d] = at.c[d];
	coords[w->shape.ndims] = number_on_node(w, rank);
	return MPI_SUCCESS;
}

int MPIX_Torus2rank(int *coords, int *rank)
{
	const struct mpi_places *w = lt_mpi_world();
	struct torus_coords at = { .c = { 0 } };
	uint32_t node;

	if (!w)
		return MPI_ERR_TOPOLOGY;
	for (unsigned int d = 0; d < w->shape.ndims; d++) {
		if (coords[d] < 0 || coords[d] >= w->shape.size[d])
			return MPI_ERR_TOPOLOGY;
		at.c[d] = (uint16_t)coords[d];
	}
	node = torus_node_id(&w->shape, &at);
	for (int r = 0, n = 0; r < w->ranks; r++)
		if (w->node[r] == node && n++ == coords[w->shape.ndims]) {
			*rank = r;
			return MPI_SUCCESS;
		}
	return MPI_ERR_TOPOLOGY;
}

int MPIX_Hardware(MPIX_Hardware_t *hw)
{
	const struct mpi_places *w = lt_mpi_world();
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct torus_coords at;
	int rank;

	if (!w)
		return MPI_ERR_TOPOLOGY;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	memset(hw, 0, sizeof(*hw));
	hw->prank = (unsigned int)rank;
	hw->psize = (unsigned int)w->ranks;
	hw->ppn = (unsigned int)count_on_node(w, w->node[rank]);
	hw->coreID = (unsigned int)number_on_node(w, rank);
	if (pages > 0 && page > 0)
		hw->memSize = (unsigned int)((unsigned long long)pages * (unsigned long)page >> 20);
	hw->torus_dimension = w->shape.ndims;
	torus_node_coords(&w->shape, w->node[rank], &at);
	for (unsigned int d = 0; d < w->shape.ndims; d++) {
		hw->Size[d] = w->shape.size[d];
		hw->Coords[d] = at.c[d];
		hw->isTorus[d] = w->shape.size[d] > 1;
	}
	return MPI_SUCCESS;
}

/**
 * struct mpi_box - the box of nodes of all processes
 * @dims, @periods: of the Cartesian topology; the last dimension is that of a node's processes
 * @first: its lowest coordinates
 */
struct mpi_box {
	int dims[TORUS_MAX_DIMS + 1], periods[TORUS_MAX_DIMS + 1];
	unsigned int first[TORUS_MAX_DIMS];
};

/*
 * Sets the range of a dimension's coordinates, which may begin at a high one and go on at 0.
 * Return: true if there is one range.
 */
static bool set_box_range(const struct mpi_places *w, unsigned int d, struct mpi_box *box)
{
	unsigned int size = w->shape.size[d], begins = 0, n = 0;
	bool *used = calloc(size, sizeof(*used));

	if (!used)
		return false;
	for (int r = 0; r < w->ranks; r++) {
		struct torus_coords at;

		torus_node_coords(&w->shape, w->node[r], &at);
		used[at.c[d]] = true;
	}
	for (unsigned int c = 0; c < size; c++) {
		n += used[c];
		if (used[c] && !used[(c + size - 1) % size]) {
			box->first[d] = c;
			begins++;
		}
	}
	free(used);
	box->dims[d] = (int)n;
	box->periods[d] = n == size;
	return begins <= 1;
}

static bool set_box(const struct mpi_places *w, struct mpi_box *box)
{
	unsigned int dims = w->shape.ndims;
	long long product = 1;

	memset(box, 0, sizeof(*box));
	for (unsigned int d = 0; d < dims; d++) {
		if (!set_box_range(w, d, box))
			return false;
		product *= box->dims[d];
	}
	box->dims[dims] = count_on_node(w, w->node[0]);
	for (int r = 0; r < w->ranks; r++)
		if (count_on_node(w, w->node[r]) != box->dims[dims])
			return false;
	return product * box->dims[dims] == w->ranks;
}

/* Return: rank of a process in the box, of which the last dimension counts fastest */
static int rank_in_box(const struct mpi_places *w, const struct mpi_box *box, int rank)
{
	struct torus_coords at;
	int key = 0;

	torus_node_coords(&w->shape, w->node[rank], &at);
	for (unsigned int d = 0; d < w->shape.ndims; d++) {
		unsigned int size = w->shape.size[d];

		key = key * box->dims[d] + (int)((at.c[d] + size - box->first[d]) % size);
	}
	return key * box->dims[w->shape.ndims] + number_on_node(w, rank);
}

int MPIX_Cart_comm_create(MPI_Comm *cart_comm)
{
	const struct mpi_places *w = lt_mpi_world();
	struct mpi_box box;
	MPI_Comm sorted;
	int rank, err;

	*cart_comm = MPI_COMM_NULL;
	if (!w || !set_box(w, &box))
		return MPI_ERR_TOPOLOGY;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	err = PMPI_Comm_split(MPI_COMM_WORLD, 0, rank_in_box(w, &box, rank), &sorted);
	if (err)
		return err;
	err = REAL(PMPI_Cart_create)(sorted, (int)w->shape.ndims + 1, box.dims, box.periods, 0,
				     cart_comm);
	PMPI_Comm_free(&sorted);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * An MPI program in which ranks exchange data as neighbours in a periodic grid: mpi_halo SIZE... The
 * communicator is made in three ways, one after the other. Each rank mixes its number with the sum
 * of its neighbours' numbers; the printed sum of all depends on the grid alone, not on how the
 * communicator is made, nor on which process has which rank.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIMS_MAX 6
#define BLOCK	 1000
#define ROUNDS	 5

static int dims[DIMS_MAX], ndims, neighbour[2 * DIMS_MAX];

/* Sets the neighbours of a rank, in the order of MPI_Neighbor_alltoall(). */
static void find_neighbours(int rank)
{
	int step = 1;

	for (int d = ndims; d-- > 0; step *= dims[d]) {
		int at = rank / step % dims[d];

		neighbour[2 * d] = rank + ((at + dims[d] - 1) % dims[d] - at) * step;
		neighbour[2 * d + 1] = rank + ((at + 1) % dims[d] - at) * step;
	}
}

static MPI_Comm make_comm(const char *kind)
{
	int periods[DIMS_MAX] = { 1, 1, 1, 1, 1, 1 }, rank, degree = 2 * ndims;
	int weights[2 * DIMS_MAX];
	MPI_Comm comm;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	find_neighbours(rank);
	for (int i = 0; i < degree; i++)
		weights[i] = BLOCK;
	if (!strcmp(kind, "cart"))
		MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 1, &comm);
	else if (!strcmp(kind, "graph"))
		MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, neighbour, weights,
				      MPI_INFO_NULL, 1, &comm);
	else
		MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, neighbour, MPI_UNWEIGHTED, degree,
					       neighbour, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm);
	return comm;
}

/* Return: the sum of the neighbours' numbers */
static uint64_t exchange(MPI_Comm comm, uint64_t own)
{
	static uint64_t out[2 * DIMS_MAX * BLOCK], in[2 * DIMS_MAX * BLOCK];
	uint64_t sum = 0;

	for (int i = 0; i < 2 * ndims * BLOCK; i++)
		out[i] = own + (uint64_t)(i % BLOCK);
	MPI_Neighbor_alltoall(out, BLOCK, MPI_UINT64_T, in, BLOCK, MPI_UINT64_T, comm);
	for (int i = 0; i < 2 * ndims; i++) {
		for (int k = 0; k < BLOCK; k++)
			if (in[i * BLOCK + k] != in[i * BLOCK] + (uint64_t)k)
				MPI_Abort(MPI_COMM_WORLD, 3);
		sum += in[i * BLOCK];
	}
	return sum;
}

static void play(const char *kind)
{
	MPI_Comm comm = make_comm(kind);
	uint64_t x, sum = 0;
	int rank;

	MPI_Comm_rank(comm, &rank);
	x = (uint64_t)rank + 1;
	for (int round = 0; round < ROUNDS; round++)
		x = x * 6364136223846793005u + exchange(comm, x);
	MPI_Reduce(&x, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
	if (!rank)
		printf("%s %" PRIu64 "\n", kind, sum);
	fflush(stdout);		/* before MPI_Finalize(), which may fail */
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (ndims = 0; ndims < argc - 1 && ndims < DIMS_MAX; ndims++)
		dims[ndims] = atoi(argv[1 + ndims]);
	play("cart");
	play("graph");
	play("adjacent");
	MPI_Finalize();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of <torus/mpix.h>, on nodes that are a box: coordinates and ranks are the inverse of
 * each other, and belong to the host with the name nX-Y. Prints "ok" if everything is right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/mpix.h>
#include <unistd.h>

static int rank, ranks;

static void require(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static void check_coordinates(void)
{
	int ndims = 0, at[MPIX_TORUS_MAX_DIMS + 1], back = -1;
	char host[64], name[64];

	require(!MPIX_Torus_ndims(&ndims) && ndims == 2, "two dimensions");
	for (int r = 0; r < ranks; r++)
		require(!MPIX_Rank2torus(r, at) && !MPIX_Torus2rank(at, &back) && back == r, "inverse");
	require(!MPIX_Rank2torus(rank, at), "own coordinates");
	gethostname(host, sizeof(host));
	snprintf(name, sizeof(name), "n%d-%d", at[0], at[1]);
	require(!strcmp(host, name), "coordinates of the host");
	require(MPIX_Rank2torus(ranks, at) == MPI_ERR_RANK, "no such rank");
	require(MPIX_Rank2torus(-1, at) == MPI_ERR_RANK, "no negative rank");
	at[0] = 4;
	require(MPIX_Torus2rank(at, &back) == MPI_ERR_TOPOLOGY, "no such node");
	at[0] = 0;
	at[2] = 7;
	require(MPIX_Torus2rank(at, &back) == MPI_ERR_TOPOLOGY, "no such process");
}

static void check_hardware(void)
{
	int at[MPIX_TORUS_MAX_DIMS + 1];
	MPIX_Hardware_t hw;

	require(!MPIX_Hardware(&hw), "hardware");
	MPIX_Rank2torus(rank, at);
	require(hw.prank == (unsigned int)rank && hw.psize == (unsigned int)ranks, "rank and size");
	require(hw.ppn == 1 && hw.coreID == 0, "one process on each node");
	require(hw.torus_dimension == 2 && hw.Size[0] == 4 && hw.Size[1] == 2, "shape");
	require(hw.Coords[0] == (unsigned int)at[0] && hw.Coords[1] == (unsigned int)at[1], "place");
	require(hw.isTorus[0] && hw.isTorus[1] && hw.memSize, "rings and memory");
}

/* Ranks of the communicator lie where its Cartesian coordinates say. */
static void check_cart(void)
{
	int at[MPIX_TORUS_MAX_DIMS + 1], dims[3], periods[3], coords[3];
	MPI_Comm cart;

	require(!MPIX_Cart_comm_create(&cart), "communicator");
	MPI_Cart_get(cart, 3, dims, periods, coords);
	MPIX_Rank2torus(rank, at);
	require(dims[0] == 4 && dims[1] == 2 && dims[2] == 1, "sizes");
	require(periods[0] && periods[1], "whole rings");
	require(coords[0] == at[0] && coords[1] == at[1] && !coords[2], "coordinates");
	MPI_Comm_free(&cart);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	check_coordinates();
	check_hardware();
	check_cart();
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("ok\n");
	fflush(stdout);		/* before MPI_Finalize(), which may fail */
	MPI_Finalize();
	return 0;
}

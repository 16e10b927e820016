// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records the bytes that each process sends to each other one, by rank in MPI_COMM_WORLD, and
 * writes them at the end as "fabricctl map" reads them: TORUS_MPI_TRAFFIC=FILE. Messages of all
 * kinds of MPI_Send and of MPI_Sendrecv count, and the blocks of MPI_Alltoall and
 * MPI_Neighbor_alltoall. Persistent requests do not count, nor do other collectives, whose ways
 * between ranks are not known here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torus_mpi.h"

#define BOTH_NAMES(fn) __attribute__((alias("P" #fn), visibility("default")))

/**
 * struct rank_names - ranks of a communicator in MPI_COMM_WORLD; they are an attribute of the
 * communicator
 */
struct rank_names {
	int n;
	int world[];
};

/* name of the file for the traffic; NULL: nothing is recorded */
static const char *file;
static int world_size, names_key = MPI_KEYVAL_INVALID;
static unsigned long long *bytes_to;	/* number of bytes sent to each rank of MPI_COMM_WORLD */

static int free_names(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)extra;
	free(value);
	return MPI_SUCCESS;
}

void lt_mpi_traffic_begin(void)
{
	file = getenv("TORUS_MPI_TRAFFIC");
	if (!file || !*file)
		return;
	PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
	bytes_to = calloc((size_t)world_size, sizeof(*bytes_to));
	if (!bytes_to ||
	    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_names, &names_key, NULL))
		file = NULL;
}

/* Return: the names of the ranks to which a communicator sends; NULL if there are none */
static const struct rank_names *names_of(MPI_Comm comm)
{
	struct rank_names *names = NULL;
	MPI_Group group, world;
	int *rank, found = 0, inter = 0, n;

	PMPI_Comm_get_attr(comm, names_key, &names, &found);
	if (found)
		return names;
	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		PMPI_Comm_remote_group(comm, &group);
	else
		PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_size(group, &n);
	names = malloc(sizeof(*names) + (size_t)n * sizeof(names->world[0]));
	rank = calloc((size_t)n + 1, sizeof(*rank));
	if (names && rank) {
		names->n = n;
		for (int i = 0; i < n; i++)
			rank[i] = i;
		PMPI_Group_translate_ranks(group, n, rank, world, names->world);
		PMPI_Comm_set_attr(comm, names_key, names);
	}
	free(rank);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return names;
}

static void count_bytes(MPI_Comm comm, int to, int count, MPI_Datatype type)
{
	const struct rank_names *names = file && to >= 0 && count > 0 ? names_of(comm) : NULL;
	int size = 0;

	if (!names || to >= names->n || names->world[to] < 0 || PMPI_Type_size(type, &size) ||
	    size < 0)
		return;
	__atomic_fetch_add(&bytes_to[names->world[to]],
			   (unsigned long long)count * (unsigned int)size, __ATOMIC_RELAXED);
}

/*
 * Writes the rows of all processes to the file. All processes call this; rank 0 receives the rows
 * one after the other.
 */
static void write_traffic(int rank)
{
	FILE *f = rank ? NULL : fopen(file, "we");
	unsigned long long *row = rank ? NULL : calloc((size_t)world_size, sizeof(*row));
	bool ok = f && row;

	if (f)
		fputs("from,to,bytes\n", f);
	for (int from = 0; from < world_size; from++) {
		if (rank && rank == from)
			REAL(PMPI_Send)(bytes_to, world_size, MPI_UNSIGNED_LONG_LONG, 0, from,
					MPI_COMM_WORLD);
		if (rank || !row)
			continue;
		if (from)
			PMPI_Recv(row, world_size, MPI_UNSIGNED_LONG_LONG, from, from,
				  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int to = 0; f && to < world_size; to++)
			if ((from ? row : bytes_to)[to])
				fprintf(f, "%d,%d,%llu\n", from, to, (from ? row : bytes_to)[to]);
	}
	if (!rank && (!ok || ferror(f) || fclose(f)))
		fprintf(stderr, "torus: TORUS_MPI_TRAFFIC: %s: %s\n", file, strerror(errno));
	free(row);
}

void lt_mpi_traffic_end(void)
{
	int rank;

	if (!file)
		return;
	PMPI_Barrier(MPI_COMM_WORLD);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	write_traffic(rank);
	file = NULL;
	free(bytes_to);
}

/* --- messages ---------------------------------------------------------------------- */

#define COUNT_SEND(kind) \
int PMPI_##kind(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) \
{ \
	count_bytes(comm, dest, count, type); \
	return REAL(PMPI_##kind)(buf, count, type, dest, tag, comm); \
} \
int MPI_##kind(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) \
	BOTH_NAMES(MPI_##kind);

#define COUNT_ISEND(kind) \
int PMPI_##kind(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
		MPI_Request *request) \
{ \
	count_bytes(comm, dest, count, type); \
	return REAL(PMPI_##kind)(buf, count, type, dest, tag, comm, request); \
} \
int MPI_##kind(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
	       MPI_Request *request) BOTH_NAMES(MPI_##kind);

COUNT_SEND(Send)
COUNT_SEND(Bsend)
COUNT_SEND(Ssend)
COUNT_SEND(Rsend)
COUNT_ISEND(Isend)
COUNT_ISEND(Ibsend)
COUNT_ISEND(Issend)
COUNT_ISEND(Irsend)

int PMPI_Sendrecv(const void *out, int sends, MPI_Datatype sendtype, int dest, int sendtag,
		  void *in, int receives, MPI_Datatype recvtype, int source, int recvtag,
		  MPI_Comm comm, MPI_Status *status)
{
	count_bytes(comm, dest, sends, sendtype);
	return REAL(PMPI_Sendrecv)(out, sends, sendtype, dest, sendtag, in, receives, recvtype,
				   source, recvtag, comm, status);
}

int MPI_Sendrecv(const void *out, int sends, MPI_Datatype sendtype, int dest, int sendtag,
		 void *in, int receives, MPI_Datatype recvtype, int source, int recvtag,
		 MPI_Comm comm, MPI_Status *status) BOTH_NAMES(MPI_Sendrecv);

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag,
			  int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	count_bytes(comm, dest, count, type);
	return REAL(PMPI_Sendrecv_replace)(buf, count, type, dest, sendtag, source, recvtag, comm,
					   status);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag,
			 int source, int recvtag, MPI_Comm comm, MPI_Status *status)
	BOTH_NAMES(MPI_Sendrecv_replace);

/* --- blocks of collectives --------------------------------------------------------- */

int PMPI_Alltoall(const void *out, int sends, MPI_Datatype sendtype, void *in, int receives,
		  MPI_Datatype recvtype, MPI_Comm comm)
{
	int size;

	if (file && out != MPI_IN_PLACE && !PMPI_Comm_size(comm, &size))
		for (int to = 0; to < size; to++)
			count_bytes(comm, to, sends, sendtype);
	return REAL(PMPI_Alltoall)(out, sends, sendtype, in, receives, recvtype, comm);
}

int MPI_Alltoall(const void *out, int sends, MPI_Datatype sendtype, void *in, int receives,
		 MPI_Datatype recvtype, MPI_Comm comm) BOTH_NAMES(MPI_Alltoall);

/* Counts a block for each neighbour to which this process sends. */
static void count_to_neighbours(MPI_Comm comm, int sends, MPI_Datatype type)
{
	int kind = MPI_UNDEFINED, dims = 0, in, out, weighted, *rank;

	PMPI_Topo_test(comm, &kind);
	if (kind == MPI_CART && !PMPI_Cartdim_get(comm, &dims)) {
		for (int d = 0; d < 2 * dims; d++) {
			int from, to;

			PMPI_Cart_shift(comm, d / 2, d % 2 ? 1 : -1, &from, &to);
			count_bytes(comm, to, sends, type);
		}
	} else if (kind == MPI_DIST_GRAPH &&
		   !PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted)) {
		rank = calloc(2 * ((size_t)in + (size_t)out) + 2, sizeof(*rank));
		if (rank && !PMPI_Dist_graph_neighbors(comm, in, rank + out, rank + out + in, out,
						       rank, rank + out + 2 * in))
			for (int i = 0; i < out; i++)
				count_bytes(comm, rank[i], sends, type);
		free(rank);
	}
}

int PMPI_Neighbor_alltoall(const void *out, int sends, MPI_Datatype sendtype, void *in,
			   int receives, MPI_Datatype recvtype, MPI_Comm comm)
{
	if (file)
		count_to_neighbours(comm, sends, sendtype);
	return REAL(PMPI_Neighbor_alltoall)(out, sends, sendtype, in, receives, recvtype, comm);
}

int MPI_Neighbor_alltoall(const void *out, int sends, MPI_Datatype sendtype, void *in,
			  int receives, MPI_Datatype recvtype, MPI_Comm comm)
	BOTH_NAMES(MPI_Neighbor_alltoall);

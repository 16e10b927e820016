// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Takes the place of the functions of MPI that may reorder ranks, and of MPI_Init() and
 * MPI_Finalize(). Open MPI 4.1 and MPICH 4.0 ignore the argument "reorder". Here the processes get
 * their ranks in a new communicator first, and the library then adds the topology to that, without
 * reordering.
 *
 * A function with the name PMPI_X here is called by the Fortran bindings of Open MPI, its other
 * name MPI_X by C programs and the Fortran bindings of MPICH.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "torus_mpi.h"

#define BOTH_NAMES(fn) __attribute__((alias("P" #fn), visibility("default")))

/* --- beginning and end ------------------------------------------------------------- */

static void begin_all(int err)
{
	if (err)
		return;
	lt_mpi_world_begin();
	lt_mpi_traffic_begin();
}

int PMPI_Init(int *argc, char ***argv)
{
	int err = REAL(PMPI_Init)(argc, argv);

	begin_all(err);
	return err;
}

int MPI_Init(int *argc, char ***argv) BOTH_NAMES(MPI_Init);

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err = REAL(PMPI_Init_thread)(argc, argv, required, provided);

	begin_all(err);
	return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
	BOTH_NAMES(MPI_Init_thread);

int PMPI_Finalize(void)
{
	lt_mpi_traffic_end();
	return REAL(PMPI_Finalize)();
}

int MPI_Finalize(void) BOTH_NAMES(MPI_Finalize);

/* --- grids ------------------------------------------------------------------------- */

/*
 * Return: number of ranks of a grid; 0 if the arguments are wrong, which the MPI library will
 * report
 */
static int count_grid(MPI_Comm comm, int ndims, const int dims[])
{
	int size, inter = 0;
	long long product = 1;

	if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) || inter || ndims < 1 ||
	    PMPI_Comm_size(comm, &size))
		return 0;
	for (int d = 0; d < ndims; d++) {
		if (dims[d] < 1)
			return 0;
		product *= dims[d];
		if (product > size)
			return 0;
	}
	return (int)product;
}

/*
 * Lists the traffic of a grid in which each rank sends one byte to each neighbour. Return: number
 * of entries
 */
static size_t list_grid(int ndims, const int dims[], const int periods[], int ranks,
			struct torus_traffic *out)
{
	size_t n = 0;

	for (int r = 0; r < ranks; r++) {
		int step = 1;

		for (int d = ndims; d-- > 0; step *= dims[d]) {
			int at = r / step % dims[d], size = dims[d];

			if (size == 1)
				continue;
			if (at + 1 < size || periods[d])
				out[n++] = (struct torus_traffic){ (uint32_t)r,
					(uint32_t)(r + ((at + 1) % size - at) * step), 1 };
			if (at > 0 || periods[d])
				out[n++] = (struct torus_traffic){ (uint32_t)r,
					(uint32_t)(r + ((at + size - 1) % size - at) * step), 1 };
		}
	}
	return n;
}

int PMPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
		     MPI_Comm *cart)
{
	int rank, ranks = reorder && lt_mpi_reorders() ? count_grid(comm, ndims, dims) : 0;
	struct torus_traffic *traffic = NULL;
	MPI_Comm ordered;
	size_t n = 0;
	int err;

	if (!ranks)
		return REAL(PMPI_Cart_create)(comm, ndims, dims, periods, 0, cart);
	PMPI_Comm_rank(comm, &rank);
	if (rank == 0) {
		traffic = calloc((size_t)ranks * 2 * (size_t)ndims, sizeof(*traffic));
		n = traffic ? list_grid(ndims, dims, periods, ranks, traffic) : 0;
	}
	err = lt_mpi_order("MPI_Cart_create", comm, ranks, traffic, n, NULL, &ordered);
	free(traffic);
	if (err)
		return REAL(PMPI_Cart_create)(comm, ndims, dims, periods, 0, cart);
	err = REAL(PMPI_Cart_create)(ordered, ndims, dims, periods, 0, cart);
	PMPI_Comm_free(&ordered);
	return err;
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
		    MPI_Comm *cart) BOTH_NAMES(MPI_Cart_create);

/* --- graphs ------------------------------------------------------------------------ */

/** struct mpi_edges - edges of a graph, as entries of from, to and weight */
struct mpi_edges {
	int *entry;
	int n;
};

static bool append_edge(struct mpi_edges *e, int from, int to, int weight)
{
	int *entry = realloc(e->entry, ((size_t)e->n + 1) * 3 * sizeof(*entry));

	if (!entry)
		return false;
	e->entry = entry;
	memcpy(entry + 3 * e->n++, (int[]){ from, to, weight }, 3 * sizeof(*entry));
	return true;
}

/*
 * Gathers the edges of all processes. Return: at rank 0 the array of edges, which the caller frees
 */
static struct torus_traffic *gather_edges(MPI_Comm comm, const struct mpi_edges *own, size_t *n)
{
	int rank, size, words = 3 * own->n, sum = 0, *count = NULL, *at = NULL, *all = NULL;
	struct torus_traffic *out = NULL;

	*n = 0;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	count = calloc((size_t)size, sizeof(*count));
	at = calloc((size_t)size, sizeof(*at));
	if (!count || !at)
		/* otherwise the other processes would wait for this one without end */
		abort();
	PMPI_Gather(&words, 1, MPI_INT, count, 1, MPI_INT, 0, comm);
	for (int i = 0; rank == 0 && i < size; i++) {
		at[i] = sum;
		sum += count[i];
	}
	all = calloc((size_t)sum + 1, sizeof(*all));
	out = calloc((size_t)sum / 3 + 1, sizeof(*out));
	if (!all || !out)
		abort();
	PMPI_Gatherv(own->entry, words, MPI_INT, all, count, at, MPI_INT, 0, comm);
	for (int i = 0; i < sum / 3; i++)
		if (all[3 * i] >= 0 && all[3 * i + 1] >= 0 && all[3 * i + 2] > 0)
			out[(*n)++] = (struct torus_traffic){ (uint32_t)all[3 * i],
				(uint32_t)all[3 * i + 1], (uint32_t)all[3 * i + 2] };
	free(count);
	free(at);
	free(all);
	return out;
}

/* Orders the ranks of a graph by the edges that each process knows. Return: as lt_mpi_order() */
static int order_graph(const char *what, MPI_Comm comm, struct mpi_edges *own, int *new_rank,
		       MPI_Comm *out)
{
	struct torus_traffic *traffic;
	int size, err;
	size_t n;

	PMPI_Comm_size(comm, &size);
	traffic = gather_edges(comm, own, &n);
	free(own->entry);
	err = lt_mpi_order(what, comm, size, traffic, n, new_rank, out);
	free(traffic);
	return err;
}

static bool is_intracomm(MPI_Comm comm)
{
	int inter = 1;

	return comm != MPI_COMM_NULL && !PMPI_Comm_test_inter(comm, &inter) && !inter;
}

int PMPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
			   const int dests[], const int weights[], MPI_Info info, int reorder,
			   MPI_Comm *graph)
{
	struct mpi_edges own = { .entry = NULL };
	bool weighted = weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
	MPI_Comm ordered;
	int err, k = 0;

	if (!reorder || !lt_mpi_reorders() || !is_intracomm(comm))
		return REAL(PMPI_Dist_graph_create)(comm, n, sources, degrees, dests, weights,
						    info, 0, graph);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < degrees[i]; j++, k++)
			if (!append_edge(&own, sources[i], dests[k], weighted ? weights[k] : 1))
				abort();
	err = order_graph("MPI_Dist_graph_create", comm, &own, NULL, &ordered);
	if (err)
		return REAL(PMPI_Dist_graph_create)(comm, n, sources, degrees, dests, weights,
						    info, 0, graph);
	err = REAL(PMPI_Dist_graph_create)(ordered, n, sources, degrees, dests, weights, info, 0,
					   graph);
	PMPI_Comm_free(&ordered);
	return err;
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
			  const int dests[], const int weights[], MPI_Info info, int reorder,
			  MPI_Comm *graph) BOTH_NAMES(MPI_Dist_graph_create);

/**
 * struct mpi_side - the neighbours of a rank on one side
 * @weight: NULL: unweighted
 */
struct mpi_side {
	int degree;
	int *rank, *weight;
};

/*
 * Sends the neighbours of this process's old rank to the process that has that rank in @comm, and
 * receives those of its new rank.
 */
static int pass_side(MPI_Comm comm, int to, int from, const struct mpi_side *own,
		     struct mpi_side *out)
{
	int err = REAL(PMPI_Sendrecv)(&own->degree, 1, MPI_INT, to, 0, &out->degree, 1, MPI_INT,
				      from, 0, comm, MPI_STATUS_IGNORE);

	if (err)
		return err;
	out->rank = calloc((size_t)out->degree + 1, sizeof(*out->rank));
	out->weight = calloc((size_t)out->degree + 1, sizeof(*out->weight));
	if (!out->rank || !out->weight)
		/* otherwise the other processes would wait for this one without end */
		abort();
	err = REAL(PMPI_Sendrecv)(own->rank, own->degree, MPI_INT, to, 1, out->rank, out->degree,
				  MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
	if (!err)
		err = REAL(PMPI_Sendrecv)(own->weight, own->weight ? own->degree : 0, MPI_INT, to,
					  2, out->weight, out->degree, MPI_INT, from, 2, comm,
					  MPI_STATUS_IGNORE);
	return err;
}

static int weight_at(const int *weight, int i)
{
	return weight ? weight[i] : 1;
}

/*
 * Makes the graph of which each process knows the neighbours of its old rank in @comm.
 * @weighted: the edges have weights; equal in all processes
 */
static int create_adjacent(MPI_Comm comm, const struct mpi_side *in, const struct mpi_side *out,
			   bool weighted, MPI_Info info, const int *new_rank, MPI_Comm ordered,
			   MPI_Comm *graph)
{
	struct mpi_side mine[2] = { { 0, NULL, NULL }, { 0, NULL, NULL } };
	int old, now, err;

	PMPI_Comm_rank(comm, &old);
	PMPI_Comm_rank(ordered, &now);
	/* The process whose old rank is @now has the new rank new_rank[now] in @ordered. */
	err = pass_side(ordered, old, new_rank[now], in, &mine[0]);
	if (!err)
		err = pass_side(ordered, old, new_rank[now], out, &mine[1]);
	if (!err)
		err = REAL(PMPI_Dist_graph_create_adjacent)(ordered, mine[0].degree, mine[0].rank,
			weighted ? mine[0].weight : MPI_UNWEIGHTED, mine[1].degree, mine[1].rank,
			weighted ? mine[1].weight : MPI_UNWEIGHTED, info, 0, graph);
	for (int i = 0; i < 2; i++) {
		free(mine[i].rank);
		free(mine[i].weight);
	}
	return err;
}

static int *weights_or_null(const int *weights)
{
	return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? NULL : (int *)weights;
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
				    const int sourceweights[], int outdegree, const int dests[],
				    const int destweights[], MPI_Info info, int reorder,
				    MPI_Comm *graph)
{
	struct mpi_side in = { indegree, (int *)sources, weights_or_null(sourceweights) };
	struct mpi_side out = { outdegree, (int *)dests, weights_or_null(destweights) };
	int err, rank, size;
	struct mpi_edges own = { .entry = NULL };
	MPI_Comm ordered;
	int *new_rank;

	if (!reorder || !lt_mpi_reorders() || !is_intracomm(comm))
		return REAL(PMPI_Dist_graph_create_adjacent)(comm, indegree, sources, sourceweights,
			outdegree, dests, destweights, info, 0, graph);
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	new_rank = calloc((size_t)size, sizeof(*new_rank));
	if (!new_rank)
		abort();
	for (int i = 0; i < outdegree; i++)
		if (!append_edge(&own, rank, dests[i], weight_at(out.weight, i)))
			abort();
	err = order_graph("MPI_Dist_graph_create_adjacent", comm, &own, new_rank, &ordered);
	if (err) {
		free(new_rank);
		return REAL(PMPI_Dist_graph_create_adjacent)(comm, indegree, sources, sourceweights,
			outdegree, dests, destweights, info, 0, graph);
	}
	err = create_adjacent(comm, &in, &out, sourceweights != MPI_UNWEIGHTED, info, new_rank,
			      ordered, graph);
	free(new_rank);
	PMPI_Comm_free(&ordered);
	return err;
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
				   const int sourceweights[], int outdegree, const int dests[],
				   const int destweights[], MPI_Info info, int reorder,
				   MPI_Comm *graph) BOTH_NAMES(MPI_Dist_graph_create_adjacent);

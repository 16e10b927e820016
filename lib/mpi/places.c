// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where processes are. Each process asks the manager of its node: first by the name of its host,
 * because a launcher may have given it another node's environment, then for the node itself.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <torus/fabric.h>
#include "torus_mpi.h"

/** struct own_place - what a process knows; all bytes are set, because they are compared */
struct own_place {
	struct torus_shape shape;
	uint32_t node;
};

static struct mpi_places world;

static void find_own_place(struct own_place *own)
{
	struct torus_coords at;
	struct torus_fabric *f;
	char host[256];

	memset(own, 0, sizeof(*own));
	own->node = TORUS_NO_NODE;
	if (torus_fabric_open(NULL, &f))
		return;
	if (!torus_fabric_place(f, &own->shape, &at)) {
		if (!gethostname(host, sizeof(host)))
			torus_fabric_node(f, host, &at);
		own->node = torus_node_id(&own->shape, &at);
	}
	torus_fabric_close(f);
}

/* Return: true if all processes know their places, in one torus */
static bool are_in_one_torus(const struct own_place *all, int n)
{
	for (int i = 0; i < n; i++)
		if (all[i].node == TORUS_NO_NODE ||
		    memcmp(&all[i].shape, &all[0].shape, sizeof(all[0].shape)))
			return false;
	return true;
}

int lt_mpi_places_get(MPI_Comm comm, struct mpi_places *out)
{
	static struct own_place own;
	static bool asked;
	struct own_place *all;
	int err;

	*out = (struct mpi_places){ .node = NULL };
	PMPI_Comm_size(comm, &out->ranks);
	all = calloc((size_t)out->ranks, sizeof(*all));
	out->node = calloc((size_t)out->ranks, sizeof(*out->node));
	if (!all || !out->node)
		/* otherwise the other processes would wait for this one without end */
		abort();
	if (!asked)
		find_own_place(&own);
	asked = true;
	err = PMPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, comm);
	if (!err && !are_in_one_torus(all, out->ranks))
		err = MPI_ERR_TOPOLOGY;
	out->shape = all[0].shape;
	for (int i = 0; i < out->ranks; i++)
		out->node[i] = all[i].node;
	free(all);
	if (err)
		lt_mpi_places_free(out);
	return err;
}

void lt_mpi_places_free(struct mpi_places *p)
{
	free(p->node);
	p->node = NULL;
}

void lt_mpi_world_begin(void)
{
	lt_mpi_places_get(MPI_COMM_WORLD, &world);
}

const struct mpi_places *lt_mpi_world(void)
{
	return world.node ? &world : NULL;
}

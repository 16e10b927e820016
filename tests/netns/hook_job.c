// SPDX-License-Identifier: GPL-2.0-only
/*
 * An MPI job that writes its own checkpoints: hook_job DIRECTORY STEPS. In each step each rank
 * mixes its number with that of its left neighbour. Every ten steps it writes step and number to a file;
 * the last two are kept, because a job that dies may have written the newer one at some ranks only.
 * Begun again, it goes on from the newest step that all ranks have. It prints the step it began
 * with, and at the end the sum of all numbers, which is the same however often it was begun.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVERY 10

static int rank, ranks;
static const char *dir;

static void name_of(char *path, size_t room, long step, const char *end)
{
	snprintf(path, room, "%s/rank-%d.%ld%s", dir, rank, step / EVERY % 2, end);
}

static void save(long step, uint64_t x)
{
	char path[512], beside[512];
	FILE *f;

	name_of(path, sizeof(path), step, "");
	name_of(beside, sizeof(beside), step, ".new");
	f = fopen(beside, "w");
	if (!f || fprintf(f, "%ld %" PRIu64 "\n", step, x) < 0 || fclose(f) || rename(beside, path))
		MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Return: the step in the file that has those of @at, or 0. */
static long load(long at, uint64_t *x)
{
	char path[512];
	long step = 0;
	FILE *f;

	name_of(path, sizeof(path), at, "");
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%ld %" SCNu64, &step, x) != 2)
		step = 0;
	fclose(f);
	return step;
}

/* Continues from the newest step that all processes have. Return: that step. */
static long begin(uint64_t *x)
{
	uint64_t number[2];
	long have[2] = { load(0, &number[0]), load(EVERY, &number[1]) };
	long mine = have[0] > have[1] ? have[0] : have[1], all;

	MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
	*x = (uint64_t)rank + 1;
	for (int i = 0; all && i < 2; i++)
		if (have[i] == all)
			*x = number[i];
	return all;
}

int main(int argc, char **argv)
{
	uint64_t x, left, sum;
	long steps = argc > 2 ? atol(argv[2]) : 100, first;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	dir = argv[1];
	first = begin(&x);
	if (!rank)
		printf("begins at step %ld\n", first);
	fflush(stdout);
	for (long step = first + 1; step <= steps; step++) {
		MPI_Sendrecv(&x, 1, MPI_UINT64_T, (rank + 1) % ranks, 0, &left, 1, MPI_UINT64_T,
			     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = x * 6364136223846793005u + left + (uint64_t)step;
		usleep(10000);
		if (step % EVERY == 0) {
			MPI_Barrier(MPI_COMM_WORLD);
			save(step, x);
		}
	}
	MPI_Reduce(&x, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("sum %" PRIu64 "\n", sum);
	MPI_Finalize();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MPI job of the demonstration: for a number of seconds every rank passes a numbered block
 * around the ring and checks the block that it receives, and all ranks compute a sum whose result
 * is known. Prints the number of rounds and of wrong words, and the duration of the longest round.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 4096

static long expected_word(int rank, long round, int i)
{
	return rank * 1000003L + round * 7919L + i;
}

static long wrong_words(const long *block, int rank, long round)
{
	long wrong = 0;

	for (int i = 0; i < WORDS; i++)
		wrong += block[i] != expected_word(rank, round, i);
	return wrong;
}

/* Sends words to the next rank, once. Return: number of words that were wrong at any rank. */
static long take_turn(int rank, int ranks, long round)
{
	static long out[WORDS], in[WORDS];
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
	long wrong, all = 0;

	for (int i = 0; i < WORDS; i++)
		out[i] = expected_word(rank, round, i);
	MPI_Sendrecv(out, WORDS, MPI_LONG, right, 0, in, WORDS, MPI_LONG, left, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	wrong = wrong_words(in, left, round);
	MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, start, last, longest = 0;
	long rounds = 0, wrong = 0;
	int rank, ranks, go = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	start = last = MPI_Wtime();
	while (go) {
		double now;

		wrong += take_turn(rank, ranks, rounds++);
		now = MPI_Wtime();
		if (rounds > 1 && now - last > longest)
			longest = now - last;
		last = now;
		go = now - start < seconds;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%d ranks, %ld rounds, %ld words wrong, longest round %.1f ms\n", ranks,
		       rounds, wrong, longest * 1e3);
	fflush(stdout);		/* before MPI_Finalize(), which may fail */
	MPI_Finalize();
	return wrong != 0;
}

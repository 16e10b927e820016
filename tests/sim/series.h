/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Series of random histories: named histories, which once failed, and histories that follow
 * from seeds.
 *
 *	PROGRAM				all named histories, then @count seeds from 1 on, or from FIRST in
 *					the environment
 *	PROGRAM FIRST [COUNT]		COUNT seeds from FIRST on, by default 1
 *	PROGRAM NAME			one named history
 *
 * JOBS=N: number of threads, 0: one per core, default 1. EVERY=N: only @count / N seeds.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct origin - what determines a history
 * @name: of a named history; else NULL
 * @seed: of its world
 * @stream: state of the generator for everything else; 0: derived from @seed. Old histories need
 *	their own, for the derivation has changed since
 * @acts: how many kinds of acts to use, the first ones; 0: all
 * @crowded: NICs send at their full rate also while nothing happens (no trial.sparing)
 * @in_order: no packets use VCA
 * @found: the error that this history once showed
 */
struct origin {
	const char *name;
	uint64_t seed;
	uint64_t stream;
	unsigned int acts;
	bool crowded;
	bool in_order;
	const char *found;
};

/**
 * struct series - a kind of random histories
 * @name: of the test
 * @count: seeds to run by default
 * @history: plays one history and writes an error to @wrong. Called from several threads.
 *	Return: whether there was none
 * @met_all: called after all histories of a whole run. Return: whether they met all that they are to
 *	meet; if not, @wrong is set to what is missing. NULL: nothing is checked
 * @named, @nnamed: the named histories
 */
struct series {
	const char *name;
	uint64_t count;
	bool (*history)(const struct origin *o, char *wrong, size_t room);
	bool (*met_all)(char *wrong, size_t room);
	const struct origin *named;
	size_t nnamed;
};

/* Return: the exit status of the program. */
int series_main(const struct series *s, int argc, char **argv);

#endif /* SERIES_H */

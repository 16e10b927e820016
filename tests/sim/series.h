/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Series of random histories: named ones that once went wrong, and as many of fresh
 * seeds as are asked for, on one core or more.
 *
 *	PROGRAM				the named ones, then seeds 1 to as many as the series has
 *	PROGRAM FIRST [COUNT]		seeds, replayed; one unless COUNT is given
 *	PROGRAM NAME			a named one
 *
 * JOBS=N: on so many cores at once, 0: all there are; otherwise on one. EVERY=N: a part
 * of the seeds, story.h.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct origin - what a history follows from
 * @name: of one that once went wrong; else NULL
 * @seed: of its world
 * @stream: state of the generator from which the rest is drawn, 0: follows from @seed;
 *	some histories were found when it did in another way
 * @acts: of how many kinds of acts it is made; 0: of all there are
 * @crowded: NICs send at their full rate also while nothing happens
 * @in_order: nothing goes by VCA
 * @found: what it found
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
 * @count: histories when nothing is said
 * @history: plays one; what goes wrong is written to @wrong. Called from several
 *	threads. Return: whether all went well
 * @named, @nnamed: those that once went wrong
 */
struct series {
	const char *name;
	uint64_t count;
	bool (*history)(const struct origin *o, char *wrong, size_t room);
	const struct origin *named;
	size_t nnamed;
};

/* Return: the exit status of the program. */
int series_main(const struct series *s, int argc, char **argv);

#endif /* SERIES_H */

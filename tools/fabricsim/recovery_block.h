/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cabinet of scenario dark: a block of nodes that lose power together. The block may wrap
 * around the end of a dimension; the root, at 0,0,..., is never in it.
 */
#ifndef RECOVERY_BLOCK_H
#define RECOVERY_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

/**
 * struct block - a block with @size nodes along each dimension, from the coordinates @at on
 * @placed: the user has set @at
 */
struct block {
	struct torus_shape size;
	struct torus_coords at;
	bool placed;
};

/**
 * block_plane() - set @out to the size of a plane: one node in the last dimension that has two or
 * more nodes, and all nodes in the others
 */
void block_plane(const struct torus_shape *shape, struct block *out);

/**
 * block_parse() - parse SIZE or SIZE@COORDS, the value of option --dark. Return: OK, or CANNOT
 * after an error
 */
int block_parse(const char *text, const struct torus_shape *shape, struct block *out);

/**
 * block_place() - choose the place of a block that has no place yet, with random numbers of
 * @random(@arg)
 */
void block_place(const struct torus_shape *shape, struct block *b,
		 uint64_t (*random)(void *arg), void *arg);

bool block_has(const struct torus_shape *shape, const struct block *b, uint32_t node);

/** block_text() - write "z=2" or "2x2x1 at 1,0,3" into @buf. Return: @buf */
char *block_text(const struct torus_shape *shape, const struct block *b,
		 char buf[2 * TORUS_TEXT_MAX]);

#endif /* RECOVERY_BLOCK_H */

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ADDRESS_TREE_H
#define ADDRESS_TREE_H

#include <torus/route.h>

#define ADDRESS_TREE_MAX 128	/* most leaves of a legible drawing */

/**
 * address_tree() - draw the addresses as a tree of digits, with the vertices as leaves
 * @n: vertices, at most ADDRESS_TREE_MAX
 * Return: OK, or CANNOT after it has printed the error.
 */
int address_tree(const char *file, const char *title, const struct torus_dm *dm, uint32_t n);

/** address_digits() - write an address into @buf as its digits. Return: @buf */
char *address_digits(uint32_t address, unsigned int m, char buf[TORUS_DM_DIGITS_MAX + 1]);

#endif /* ADDRESS_TREE_H */

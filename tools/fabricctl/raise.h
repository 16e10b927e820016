/* SPDX-License-Identifier: GPL-2.0-only */
/* Building a lab's network: namespaces, service bridge, cables. */
#ifndef RAISE_H
#define RAISE_H

#include "lab.h"

/**
 * raise_network() - all of it; on failure what was made stays, for teardown()
 * @netns: one descriptor for each node, opened here
 * Return: OK or CANNOT, having said what failed.
 */
int raise_network(const struct lab *lab, int *netns);

#endif /* RAISE_H */

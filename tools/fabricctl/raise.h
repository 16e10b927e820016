/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a lab's network: namespaces, service bridge, cables. */
#ifndef RAISE_H
#define RAISE_H

#include "lab.h"

/**
 * raise_network() - make the network; after an error, teardown() removes what was made
 * @netns: set to a descriptor for each node, opened here
 * Return: OK; CANNOT after printing the error.
 */
int raise_network(const struct lab *lab, int *netns);

#endif /* RAISE_H */

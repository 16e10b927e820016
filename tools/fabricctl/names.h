/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of a lab's nodes: one hosts file in its run directory, and for ip-netns(8) a link to it in
 * /etc/netns/NAMESPACE/ of each node. By that link "lab down" recognises the lab's directories in
 * /etc/netns, also after a reboot.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdio.h>

#include "lab.h"

int names_write(const struct lab *lab);
/** names_renew() - write the hosts file again, after a node was renamed. Return: 0 or -errno */
int names_renew(const struct lab *lab);
void names_print(const struct lab *lab, FILE *f);
/** names_remove() - remove the links of lab @name. Return: how many, or a negative errno */
int names_remove(const char *name);
/** names_each() - call @fn with the name of the lab of each link found */
int names_each(int (*fn)(const char *name, void *arg), void *arg);

#endif /* NAMES_H */

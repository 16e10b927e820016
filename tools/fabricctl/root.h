/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the root, for the commands status and root. */
#ifndef ROOT_H
#define ROOT_H

#include <jansson.h>
#include <stdbool.h>

/**
 * root_show() - print in one line which node is root, since when and why, or that there is no root
 */
void root_show(const json_t *root);
/**
 * root_show_calls() - print @before, and how many nodes the root has called over the service
 * network, because the managers of all their neighbours are away
 * Return: false if there is no such node; then nothing is printed.
 */
bool root_show_calls(const json_t *root, const char *before);
/** root_leads() - Return: true if there is a root that answers */
bool root_leads(const json_t *root);
/** root_is_known() - Return: true if there is a root, or was one, or a node asks to be root */
bool root_is_known(const json_t *root);

#endif /* ROOT_H */

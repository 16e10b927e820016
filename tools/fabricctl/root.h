/* SPDX-License-Identifier: GPL-2.0-only */
/* The root, as status and root show it. */
#ifndef ROOT_H
#define ROOT_H

#include <jansson.h>
#include <stdbool.h>

/** root_show() - one line: which node it is, since when and why, or that there is none */
void root_show(const json_t *root);
/** root_show_calls() - @before, then whom it called, if it called anyone. Return: whether it did */
bool root_show_calls(const json_t *root, const char *before);
/** root_leads() - whether there is one that answers */
bool root_leads(const json_t *root);

#endif /* ROOT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what a node without a place in a table knows from its NIC and the Inits of its neighbours.
 */
#ifndef WAVE_H
#define WAVE_H

#include "ask.h"

/**
 * wave_show() - if the fabric has no table yet, print the knowledge of the node that answers,
 * marked as preliminary
 * @items: makes the items of a command from the member "own" of the status. Return: an array, a new
 *	reference
 * @show: prints these items as text
 * @shown: set to false if there is a table, or the node knows nothing
 * Return: an exit status; PROBLEM if something was shown.
 */
int wave_show(const struct ctl *ctl, struct ask *ask, json_t *(*items)(const json_t *own),
	      void (*show)(const json_t *items), bool *shown);

/**
 * wave_position_text() - convert a position to text; it may be negative as long as the size of its
 * dimension is not known
 * @buf: TORUS_TEXT_MAX bytes. Return: @buf; "-" for null.
 */
const char *wave_position_text(const json_t *position, char *buf);
/** wave_end_text() - convert {"position","port"} to 1,-1:+x or ?:+x. Return: @buf; "-" for null. */
const char *wave_end_text(const json_t *end, char *buf);
/**
 * wave_neighbour() - Return: the neighbour whose Init arrived on that port; NULL if no Init arrived
 */
const json_t *wave_neighbour(const json_t *own, const char *port);

#endif /* WAVE_H */

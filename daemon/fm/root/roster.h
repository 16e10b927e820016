/* SPDX-License-Identifier: GPL-2.0-only */
/* The root's list of all nodes. */
#ifndef FM_ROSTER_H
#define FM_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/fm/root/mate.h"

struct fm;
struct fm_root;

/* A root begins: knows no node. Return: false: no memory. */
bool fm_roster_new(struct fm_root *r);
void fm_roster_free(struct fm_root *r);

/* Numbers that were given, those that are free again included; and nodes that have one. */
uint32_t fm_roster_size(const struct fm_root *r);
uint32_t fm_roster_known(const struct fm_root *r);
/* The node of number @i, which is below that size; and its number. */
struct fm_mate *fm_mate_no(const struct fm_root *r, uint32_t i);
uint32_t fm_mate_number(const struct fm_root *r, const struct fm_mate *m);
/* Room for as many numbers, for searches among missing nodes (judge.c). */
uint32_t *fm_roster_scratch(const struct fm_root *r);

struct fm_mate *fm_mate(const struct fm_root *r, uint64_t guid);
bool fm_mate_joined(const struct fm_mate *m);	/* it has said HELLO */
struct fm_mate *fm_mate_add(struct fm_root *r, uint64_t guid);
void fm_mate_via(struct fm_root *r, struct fm_mate *m, uint64_t via);
void fm_mate_missing(struct fm *fm, struct fm_mate *m);
/* Gives @m another node id; the caller updates fm_root's @at. */
void fm_mate_move(struct fm *fm, struct fm_mate *m, uint32_t node);
/* Forgets all dead nodes without a place: they join like new ones if they come back. */
void fm_roster_forget(struct fm *fm);
struct fm_mate *fm_mate_at(const struct fm_root *r, uint32_t node);

void fm_mate_name(struct fm_root *r, struct fm_mate *m, const char *name);
/* Another node of that name, that is there. */
const struct fm_mate *fm_mate_namesake(const struct fm_root *r, const char *name, uint64_t guid);
/* Forgets which nodes are below @guid: they must be announced anew. */
void fm_roster_forget_below(struct fm *fm, uint64_t guid);
void fm_roster_judge(struct fm *fm);	/* the missing, soon */
/** fm_end_text() - what to call port @p of @m, as text for people. Return: @buf */
const char *fm_end_text(const struct fm *fm, const struct fm_mate *m, unsigned int p,
			char *buf, size_t room);

#endif /* FM_ROSTER_H */

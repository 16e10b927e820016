/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A memory arena for JSON trees that are needed for a moment only: to call malloc() and free() for
 * each part of such a tree would cost more than all other work on the tree.
 */
#ifndef FABRICWEB_ARENA_H
#define FABRICWEB_ARENA_H

/** arena_enter() - make jansson allocate from the arena until arena_leave() is called */
void arena_enter(void);
/**
 * arena_leave() - free all values that jansson allocated since arena_enter()
 * They must not be used after this call, and not be passed to json_decref() either.
 */
void arena_leave(void);

#endif /* FABRICWEB_ARENA_H */

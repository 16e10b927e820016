/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for trees of JSON that live for a moment: taking it from malloc() piece by piece, and
 * giving it back, costs more than all that is done with the tree.
 */
#ifndef FABRICWEB_ARENA_H
#define FABRICWEB_ARENA_H

/** arena_enter() - whatever jansson allocates from now on lives until arena_leave() */
void arena_enter(void);
/** arena_leave() - free that at once; it must not be used any more, nor given to json_decref() */
void arena_leave(void);

#endif /* FABRICWEB_ARENA_H */

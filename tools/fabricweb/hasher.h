/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that hashes passwords, so that those of one client do not hold up the others. */
#ifndef FABRICWEB_HASHER_H
#define FABRICWEB_HASHER_H

#include <stdbool.h>

#include "source.h"
#include "users.h"

struct event_base;
struct hasher;

/** enum hasher_result - @HASHER_LEFT: it was not compared, as too many wait or the thread ends */
enum hasher_result {
	HASHER_WRONG,
	HASHER_RIGHT,
	HASHER_LEFT,
};

/** hasher_done - called once for each password, in the thread of the loop */
typedef void hasher_done(void *arg, const struct users_try *try, enum hasher_result result);

/** hasher_new() - Return: the thread; NULL if it cannot be started */
struct hasher *hasher_new(struct event_base *base);
/** hasher_free() - end the thread, when it has hashed the present password; all others are left */
void hasher_free(struct hasher *h);

/**
 * hasher_add() - hash a password and compare it
 * @from: passwords of different clients take turns
 * If too many wait, the last one of the client that has most is left, if this client has fewer.
 * Return: false if too many wait: of this client, or of all.
 */
bool hasher_add(struct hasher *h, const struct users_try *try, const struct source *from,
		hasher_done *done, void *arg);

#endif /* FABRICWEB_HASHER_H */

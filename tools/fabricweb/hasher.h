/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that hashes passwords, so that those of one client do not hold up the others. */
#ifndef FABRICWEB_HASHER_H
#define FABRICWEB_HASHER_H

#include <stdbool.h>

#include "source.h"
#include "users.h"

struct event_base;
struct hasher;

/**
 * enum hasher_result - the result for a password
 * @HASHER_LEFT: the password was not compared, because too many passwords wait or the thread ends
 */
enum hasher_result {
	HASHER_WRONG,
	HASHER_RIGHT,
	HASHER_LEFT,
};

/** hasher_done - called once for each password, in the thread of the loop */
typedef void hasher_done(void *arg, const struct users_try *try, enum hasher_result result);

/** hasher_new() - Return: the thread; NULL if it cannot be started */
struct hasher *hasher_new(struct event_base *base);
/**
 * hasher_free() - end the thread as soon as it has hashed the present password; the result of all
 * others is HASHER_LEFT
 */
void hasher_free(struct hasher *h);

/**
 * hasher_add() - hash a password and compare it
 * @from: the client; clients take turns with their passwords
 * If the queue is full, the last password of the client of which most wait is dropped with the
 * result HASHER_LEFT, provided that fewer passwords of @from wait.
 * Return: false if the password was not accepted, because too many passwords of this client, or of
 * all clients, wait; or if out of memory.
 */
bool hasher_add(struct hasher *h, const struct users_try *try, const struct source *from,
		hasher_done *done, void *arg);

#endif /* FABRICWEB_HASHER_H */

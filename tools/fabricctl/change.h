/* SPDX-License-Identifier: GPL-2.0-only */
/* Excludes and includes links and nodes; changes one end of a cable. */
#ifndef CHANGE_H
#define CHANGE_H

#include "ask.h"
#include "command.h"

/**
 * struct exclusion - options of an exclusion
 * @reason: text, or NULL
 * @term: seconds after which it ends; 0: never
 * @force: exclude also if other nodes are cut off
 * @asks: ask for the reason if there is none and a terminal to ask at
 */
struct exclusion {
	const char *reason;
	uint64_t term;
	bool force, asks;
};

/**
 * change_exclusion() - send an exclusion or inclusion, and print the result. @cmd: "exclude" or
 * "include"; @what: @n arguments NODE or LINK
 * @how: options of an exclusion, or NULL
 */
int change_exclusion(const struct ctl *ctl, const char *cmd, struct exclusion *how,
		     char **what, int n);

/**
 * change_ask() - like change_exclusion(), over an open connection, without printing the result
 * @how: the reason that is asked for is added to it, so that it is asked for once
 * @requests: an array, which gets a request for each of @what, with its node and port as text
 * @data: set to the answer, whose reference the caller drops
 */
int change_ask(struct ask *a, const char *cmd, struct exclusion *how, char **what, int n,
	       json_t *requests, json_t **data);
/** change_is_kept() - Return: false if too few candidates have stored a change */
bool change_is_kept(const json_t *data);
/** change_kept() - warn if too few candidates have stored a change. Return: OK or NOT_KEPT */
int change_kept(const json_t *data);

/** change_port() - take the port @link, an end of a cable, up if @up is true, else down */
int change_port(const struct ctl *ctl, const char *link, bool up);
/** change_retry() - make @link, an end of a cable, ask for a retry protocol */
int change_retry(const struct ctl *ctl, const char *link, const char *protocol);
/** change_retrain() - make the receiver at @link train again */
int change_retrain(const struct ctl *ctl, const char *link);

#endif /* CHANGE_H */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of clients, from their arrival to the end of their answers. */
#ifndef FABRICWEB_VISIT_H
#define FABRICWEB_VISIT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "conf.h"
#include "limit.h"
#include "source.h"

struct evhttp_request;
struct users;
struct visit;

/**
 * struct site - data that all requests share
 * @users: the users; NULL: everybody may read
 * @hasher: the thread that hashes passwords, if there are users
 * @passwords: limits how often each client may try a password
 * @logged: limits how many lines each client may cause in the log
 * @streams: the requests that are answered with events
 * @ends: the program is about to end, so all connections are closed
 */
struct site {
	const struct conf *conf;
	struct control *control;
	struct feed *feed;
	struct users *users;
	struct hasher *hasher;
	struct limit limit;
	struct tries passwords, logged;
	LIST_HEAD(, visit) streams;
	bool ends;
};

/** visit_begin() - handle a request that has arrived; @site: struct site */
void visit_begin(struct evhttp_request *rq, void *site);
/**
 * visit_recheck() - end the event streams of users who are not in @site->users with the same role
 * and secret as in @old
 */
void visit_recheck(struct site *site, struct users *old);

#endif /* FABRICWEB_VISIT_H */

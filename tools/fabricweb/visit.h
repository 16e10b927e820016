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
 * struct site - what requests need
 * @users: NULL: everybody may look
 * @hasher: if there are users
 * @passwords, @logged: what each client may still try, and have logged
 * @streams: the visits that get events
 * @ends: the program ends, and so do all connections
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

/** visit_begin() - a request has arrived; @site: struct site */
void visit_begin(struct evhttp_request *rq, void *site);
/** visit_recheck() - end the streams of users that @site->users does not have as @old had them */
void visit_recheck(struct site *site, struct users *old);

#endif /* FABRICWEB_VISIT_H */

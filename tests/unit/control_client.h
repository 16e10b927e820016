/* SPDX-License-Identifier: GPL-2.0-only */
/* The control socket of a manager that has no NIC yet, client and server in one loop. */
#ifndef TESTS_CONTROL_CLIENT_H
#define TESTS_CONTROL_CLIENT_H

#include "daemon/fabricd.h"
#include "daemon/stream.h"

/** struct client - collects the lines that come */
struct client {
	struct stream *stream;
	char *line[700];
	unsigned int n, wanted;
	bool closed;
};

extern struct fabricd d;
extern char folder[];

int control_setup(void **state);
int control_teardown(void **state);

void client_open(struct client *c);
void client_close(struct client *c);
void say(struct client *c, const char *text);
/** hear() - runs the loop until there are @n lines in all, or the end */
void hear(struct client *c, unsigned int n);
/** run_due() - runs all that can be run now */
void run_due(void);

/** expect() - a new client's request gets an answer in which @says is */
void expect(const char *request, const char *says);
/** expect_of() - the same of @c, which it closes */
void expect_of(struct client *c, const char *request, const char *says);
/** add() - so many events */
void add(unsigned int n);

#endif /* TESTS_CONTROL_CLIENT_H */

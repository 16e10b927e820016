/* SPDX-License-Identifier: GPL-2.0-only */
/* The control socket of a manager that has no NIC yet, client and server in one loop. */
#ifndef TESTS_CONTROL_CLIENT_H
#define TESTS_CONTROL_CLIENT_H

#include "daemon/fabricd.h"
#include "daemon/stream.h"

/** struct client - a client of the control socket that collects the lines it receives */
struct client {
	struct stream *stream;
	int fd;
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
void send_text(struct client *c, const char *text);
/** receive_lines() - runs the loop until @n lines have come, or the connection is closed */
void receive_lines(struct client *c, unsigned int n);
/** run_due() - runs all callbacks that are due now */
void run_due(void);

/** expect() - sends @request from a new client and expects @says in the answer */
void expect(const char *request, const char *says);
/** expect_of() - as expect(), but from client @c, which it closes */
void expect_of(struct client *c, const char *request, const char *says);
/** add() - adds @n events and tells the followers */
void add(unsigned int n);

#endif /* TESTS_CONTROL_CLIENT_H */

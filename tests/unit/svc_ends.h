/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The service network within one process: two managers' ends in one loop, and strangers,
 * which are sockets that say what the test makes them say.
 */
#ifndef TESTS_SVC_ENDS_H
#define TESTS_SVC_ENDS_H

#include "daemon/loop.h"
#include "daemon/svc.h"

#define HERE "127.0.0.1"
#define USER_TIMEOUT_MS 60000	/* the kernel's, longer than any test takes */
#define KEY_A "0123456789abcdefA"
#define KEY_B "0123456789abcdefB"

/**
 * struct end - one manager's side
 * @conn: last that came up
 * @bytes: of the last message's text
 * @close_at: closes its connection at so many messages
 */
struct end {
	struct auth auth;
	struct svc *svc;
	char address[FM_ADDR_MAX];
	int conn;
	unsigned int up, down, msgs;
	size_t bytes;
	int close_at;
};

extern struct loop *loop;
extern struct end a, b;

int ends_setup(void **state);
int ends_teardown(void **state);

void end_auth(struct end *e, const char *fabric, const char *name, const char *key);
/** end_open() - listens on @host, on a port that is free */
void end_open(struct end *e, const char *host, const char *fabric, const char *name,
	      const char *key);
void end_close(struct end *e);
/** send_text() - by the connection that came up last */
void send_text(struct end *e, const char *text);

/** connections() - that svc_each() tells of */
unsigned int connections(const struct end *e, bool outgoing);

/** run_until() - runs the loop until @fn holds, which is asked after each callback of an
 * end and every 5 ms of true time; fails after 60 s of it */
void run_until(bool (*fn)(void));
/** run_due() - runs what is due by now */
void run_due(void);

/** stranger_from() - a connection to @b from an address "IP:PORT"; any port is taken */
int stranger_from(const char *address);
int stranger(void);

bool both_up(void);
bool a_down(void);
bool both_down(void);

#endif /* TESTS_SVC_ENDS_H */

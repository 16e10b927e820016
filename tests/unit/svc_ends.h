/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The service network within one process: both ends of two managers in one loop, and strangers:
 * plain sockets that have not proved anything and send what the test wants.
 */
#ifndef TESTS_SVC_ENDS_H
#define TESTS_SVC_ENDS_H

#include "daemon/loop.h"
#include "daemon/svc.h"

#define HERE "127.0.0.1"
#define USER_TIMEOUT_MS 60000	/* TCP_USER_TIMEOUT of the kernel, longer than any test takes */
#define KEY_A "0123456789abcdefA"
#define KEY_B "0123456789abcdefB"

/**
 * struct end - one manager's side
 * @conn: the last connection that came up
 * @fm_type: of the last message, if it is the machine's
 * @bytes: length of the last message's text
 * @close_at: closes the connection after this many messages
 */
struct end {
	struct auth auth;
	struct svc *svc;
	char address[FM_ADDR_MAX];
	int conn;
	unsigned int up, down, msgs, fm_type;
	size_t bytes;
	int close_at;
};

extern struct loop *loop;
extern struct end a, b;
extern unsigned int ends_schemas[2];	/* schemas of the next end: oldest and newest */

int ends_setup(void **state);
int ends_teardown(void **state);

void end_auth(struct end *e, const char *fabric, const char *name, const char *key);
/** end_open() - listens on @host, on a free port */
void end_open(struct end *e, const char *host, const char *fabric, const char *name,
	      const char *key);
void end_close(struct end *e);
/** send_text() - sends a message over @e->conn */
void send_text(struct end *e, const char *text);

void send_fm(struct end *e, unsigned int type);

/** connections() - counts the connections that svc_each() visits */
unsigned int connections(const struct end *e, bool outgoing);

/** run_until() - runs the loop until @fn is true, which is tested after each callback of an end
 * and every 5 ms of real time; fails after 60 s of real time */
void run_until(bool (*fn)(void));
/** run_due() - runs all callbacks that are due now */
void run_due(void);

/** stranger_from() - a connection to @b from an address "IP:PORT"; its port is ignored */
int stranger_from(const char *address);
int stranger(void);

bool both_up(void);
bool a_down(void);
bool both_down(void);

#endif /* TESTS_SVC_ENDS_H */

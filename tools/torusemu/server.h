/* SPDX-License-Identifier: GPL-2.0-only */
/* The Unix socket: clients, their requests and what they are still to be sent. */
#ifndef EMU_SERVER_H
#define EMU_SERVER_H

#include "kernel/req/request.h"
#include "loop.h"

struct client;
struct emu;
struct nl_msg;
struct req;

#define SERVER_CLIENTS_MAX	64
#define CLIENT_QUEUE_MAX	(256 * 1024)	/* bytes of notifications not taken */

/**
 * struct dump - a dump in progress; the next part is made when the last was taken
 * @cmd: of what; 0: there is none
 * @gen: of the rows when it began
 * @changed: they changed since
 */
struct dump {
	u8 cmd;
	u32 seq;
	struct torus_parts parts;
	u32 gen;
	bool changed;
};

/**
 * struct client - a connection
 * @number: from 1 on, never used again
 * @groups: mask of groups subscribed
 * @out, @tail: datagrams that the socket did not take yet
 * @queued: bytes of these
 * @overflow: notifications were dropped, and it is to be told
 */
struct client {
	struct watch watch;
	struct emu *emu;
	struct client *next;
	u64 number;
	u32 groups;
	struct out *out;
	struct out **tail;
	size_t queued;
	bool overflow;
	bool dead;
	struct dump dump;
};

/**
 * struct server
 * @numbered: clients so far
 */
struct server {
	struct watch watch;
	u64 numbered;
	struct client *clients;
	unsigned int nclients;
	char path[108];
};

/** server_open() - listen at @path; Return: 0 or negative errno */
int server_open(struct emu *emu, const char *path);
void server_close(struct emu *emu);

/** client_new() - a client on a connected socket, which it owns; NULL if no room */
struct client *client_new(struct emu *emu, int fd);
void client_free(struct client *client);
/** client_request() - work on one datagram; @data is aligned for netlink headers */
void client_request(struct client *client, void *data, size_t len);
/** client_send() - an answer; never dropped. Takes over @msg; NULL ends the client */
void client_send(struct client *client, struct nl_msg *msg);
/** server_notify() - to all subscribers of @group. Takes over @msg */
void server_notify(struct emu *emu, unsigned int group, struct nl_msg *msg);

/** server_overflow() - all subscribers missed something */
void server_overflow(struct emu *emu);

/* commands.c */

/** command_run() - do what @r asks; Return: 0 or negative errno */
int command_run(struct req *r, bool dump);
/**
 * command_part() - the next message of a client's dump; Return: 0 that was all, or negative errno
 */
int command_part(struct client *client);

#endif /* EMU_SERVER_H */

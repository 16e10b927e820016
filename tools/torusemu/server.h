/* SPDX-License-Identifier: GPL-2.0-only */
/* The Unix socket: clients, their requests, and datagrams that are queued for them. */
#ifndef EMU_SERVER_H
#define EMU_SERVER_H

#include "kernel/req/request.h"
#include "loop.h"

struct client;
struct emu;
struct nl_msg;
struct req;

#define SERVER_CLIENTS_MAX	64
#define CLIENT_QUEUE_MAX	(256 * 1024)	/* most bytes of queued notifications */

/**
 * struct dump - a dump in progress; each part is made when the part before it was sent
 * @cmd: command of the dump; 0: there is no dump
 * @gen: generation of the rows when the dump began
 * @changed: the rows have changed since then
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
 * @number: number of the client, from 1 on, never reused
 * @groups: mask of the groups that the client subscribed to
 * @out: queue of datagrams that the socket has not taken yet
 * @tail: end of the queue
 * @queued: bytes of the datagrams in the queue
 * @overflow: notifications were dropped, and the client has not got NLMSG_OVERRUN yet
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
 * struct server - the socket and its clients
 * @numbered: number of the newest client
 */
struct server {
	struct watch watch;
	u64 numbered;
	struct client *clients;
	unsigned int nclients;
	char path[108];
};

/** server_open() - listen at @path. Return: 0 or negative errno */
int server_open(struct emu *emu, const char *path);
void server_close(struct emu *emu);

/** client_new() - Return: a client on a connected socket, which it owns, or NULL */
struct client *client_new(struct emu *emu, int fd);
void client_free(struct client *client);
/** client_request() - handle one datagram; @data is aligned for netlink headers */
void client_request(struct client *client, void *data, size_t len);
/**
 * client_send() - send an answer, which is never dropped; frees @msg; with @msg NULL, the client is
 * removed
 */
void client_send(struct client *client, struct nl_msg *msg);
/** server_notify() - send @msg to all subscribers of @group, and free it */
void server_notify(struct emu *emu, unsigned int group, struct nl_msg *msg);

/** server_overflow() - report to all subscribers that notifications were lost */
void server_overflow(struct emu *emu);

/* commands.c */

/** command_run() - run a request. Return: 0 or negative errno */
int command_run(struct req *r, bool dump);
/**
 * command_part() - send the next part of a client's dump. Return: 0 at the end of the dump, or a
 * negative errno
 */
int command_part(struct client *client);

#endif /* EMU_SERVER_H */

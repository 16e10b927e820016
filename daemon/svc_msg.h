/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All messages of the service network: the messages of the state machine (fm/wire/msg.h), and
 * fabricd's own messages, which never reach the state machine: authentication, questions of the
 * control socket to other nodes with their answers, and events of nodes for the root's log and
 * status. The schema is svc.proto, the codec codec.c.
 *
 * Commands and replies inside are texts of the control socket, JSON as fabricd-control(7) has it:
 * nodes pass them on unchanged, and need not know the command.
 */
#ifndef SVC_MSG_H
#define SVC_MSG_H

#include <torus/topology.h>
#include "daemon/fm/wire/msg.h"

#define SVC_AUTH_MAX	64		/* bytes of a nonce or a proof */
#define SVC_TTL_MAX	60000		/* longest time that a question may take, ms */

/* Message numbers of svc.proto. SVC_FM stands for all numbers of enum fm_msg_type. */
enum svc_msg_type {
	SVC_FM,
	SVC_AUTH = 12,
	SVC_ASK,
	SVC_ANSWER,
	SVC_EVENT = 16,
	SVC_LINES,
};

/**
 * struct svc_auth - a step of a proof; @fabric and @name are those of the sender
 * @newest: newest schema that the sender speaks; 0: only that of this message
 */
struct svc_auth {
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
	uint32_t newest;
	uint32_t nonce_len;
	uint32_t proof_len;
	uint8_t nonce[SVC_AUTH_MAX];
	uint8_t proof[SVC_AUTH_MAX];
};

/** enum svc_to - which nodes have to answer a question */
enum svc_to {
	SVC_TO_ROOT,
	SVC_TO_ALL,
	SVC_TO_NODE,
	SVC_TOS,
};

/**
 * struct svc_user - the user who asks
 * @privileged: the user may change things
 * @uid: the user's id; SVC_NO_UID: a manager asks, or the user is not known
 * @node: the node at which the user asked; TORUS_NO_NODE: not known
 * @jobs: the user may start jobs
 */
struct svc_user {
	bool privileged;
	uint32_t uid;
	uint32_t node;
	bool jobs;
};

#define SVC_NO_UID FM_NO_UID
#define SVC_MANAGER \
	((struct svc_user){ .privileged = true, .uid = SVC_NO_UID, .node = TORUS_NO_NODE })

/**
 * struct svc_ask - a question
 * @id: identity of the question, the same on all nodes
 * @to: enum svc_to
 * @node: the node, if @to is SVC_TO_NODE
 * @ttl: how long the sender waits for answers, ms
 * @command: JSON
 */
struct svc_ask {
	uint64_t id;
	uint8_t to;
	uint32_t node;
	struct svc_user user;
	uint32_t ttl;
	char *command;
};

/**
 * struct svc_answer - an answer to the question @id
 * @more: true: this is an answer; false: it marks the end of the answers
 * @node: the node that answers; TORUS_NO_NODE: the root answers for all nodes
 * @reply: JSON
 */
struct svc_answer {
	uint64_t id;
	bool more;
	uint32_t node;
	char *reply;
};

#define SVC_KIND_MAX	32		/* bytes of an event's kind, with NUL */
#define SVC_TIME_MAX	1e11		/* seconds since 1970; a time in the year 5138 */

/**
 * struct svc_event - an event at a node; all texts are printable ASCII
 * @time: time of day, s since 1970
 * @node: coordinates of the node
 * @level: enum fm_level
 */
struct svc_event {
	double time;
	uint8_t level;
	char node[TORUS_TEXT_MAX];
	char kind[SVC_KIND_MAX];
	char text[FM_TEXT_MAX];
};

/** struct svc_lines - degraded links of @node, in the JSON of its "links" command */
struct svc_lines {
	uint32_t node;
	char *links;
};

/**
 * struct svc_msg - one message
 * @type: enum svc_msg_type
 * @schema: the schema in which it was received
 */
struct svc_msg {
	uint8_t type;
	uint32_t schema;
	union {
		struct fm_msg fm;
		struct svc_auth auth;
		struct svc_ask ask;
		struct svc_answer answer;
		struct svc_event event;
		struct svc_lines lines;
	};
};

/** svc_msg_since() - Return: the first schema that has this message */
unsigned int svc_msg_since(const struct svc_msg *msg);
/** svc_msg_pack() - as fm_msg_pack(), for any message */
int svc_msg_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len);
/**
 * svc_msg_unpack() - as fm_msg_unpack(), for any message
 * @out: the caller has to call svc_msg_clear() after success. After an error only its schema is
 *	set, if it could be read
 */
int svc_msg_unpack(const uint8_t *data, size_t len, struct svc_msg *out);
void svc_msg_clear(struct svc_msg *msg);
const char *svc_msg_name(const struct svc_msg *msg);

#endif /* SVC_MSG_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proof that a peer belongs to the fabric, before anything else is heard.
 *
 * A conversation of AUTH messages: the side that connected begins, the two
 * alternate. How one proves is behind struct auth_ops; the shared key is the
 * first way. Both ends are checked; what follows on the connection is not
 * protected by it, so the service network must be the fabric's own.
 */
#ifndef AUTH_H
#define AUTH_H

#include <stdbool.h>
#include "daemon/svc_msg.h"

#define AUTH_KEY_MIN 16
#define AUTH_KEY_MAX 4096
#define AUTH_TEXT_MAX 192
#define AUTH_MAC 32		/* bytes */

struct auth;

/** enum auth_next - what a step leads to */
enum auth_next {
	AUTH_SEND,	/* send the reply, wait for the next */
	AUTH_DONE,	/* proved, nothing to send */
	AUTH_LAST,	/* proved; send the reply */
	AUTH_REFUSED,	/* not of this fabric; auth_session.text tells why */
};

/**
 * struct auth_session - one conversation
 * @initiator: this side connected
 * @peer_fabric, @peer_name: as the peer said, until AUTH_DONE only a claim
 */
struct auth_session {
	const struct auth *auth;
	bool initiator;
	uint8_t turn;
	uint8_t own_nonce[SVC_AUTH_MAX];
	uint8_t peer_nonce[SVC_AUTH_MAX];
	char peer_fabric[TORUS_NAME_MAX + 1];
	char peer_name[TORUS_NAME_MAX + 1];
	char text[AUTH_TEXT_MAX];
};

/**
 * struct auth_ops - a way to prove
 * @open: read the credentials at @where; negative errno, @text tells
 * @start: the initiator's first message
 * @step: the answer to @in
 * @mac: as auth_mac()
 */
struct auth_ops {
	const char *name;
	int (*open)(struct auth *a, const char *where, char *text);
	void (*close)(struct auth *a);
	int (*start)(struct auth_session *s, struct svc_auth *out);
	enum auth_next (*step)(struct auth_session *s, const struct svc_auth *in,
			       struct svc_auth *out);
	int (*mac)(const struct auth *a, const char *label, const void *data, size_t len,
		   uint8_t *out);
};

/** struct auth - own identity and credentials */
struct auth {
	const struct auth_ops *ops;
	void *data;
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
};

/** auth_open() - @text: AUTH_TEXT_MAX bytes for what went wrong */
int auth_open(struct auth *a, const struct auth_ops *ops, const char *fabric,
	      const char *name, const char *where, char *text);
void auth_close(struct auth *a);

void auth_session_init(struct auth_session *s, const struct auth *a, bool initiator);
/** auth_start() - the initiator's first message. Return: 0 or a negative errno. */
int auth_start(struct auth_session *s, struct svc_auth *out);
enum auth_next auth_step(struct auth_session *s, const struct svc_auth *in,
			 struct svc_auth *out);

/**
 * auth_mac() - what nobody can make of these bytes who has not the credentials of the fabric
 * @label: names what it is for: what was made for one thing proves nothing in another
 * @out: AUTH_MAC bytes
 * Return: 0 or a negative errno.
 */
int auth_mac(const struct auth *a, const char *label, const void *data, size_t len, uint8_t *out);

extern const struct auth_ops auth_key_ops;

#endif /* AUTH_H */

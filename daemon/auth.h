/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Authentication of a peer: the proof that it belongs to the fabric, before the daemon handles any
 * other message of this peer.
 *
 * It is an exchange of AUTH messages: the side that connected begins, then both sides alternate.
 * The method is a struct auth_ops; the only one is the shared key (auth_key.c). Each end checks the
 * other. Later messages of the connection are neither encrypted nor signed, so no other hosts may
 * have access to the service network.
 */
#ifndef AUTH_H
#define AUTH_H

#include <stdbool.h>
#include "daemon/svc_msg.h"

#define AUTH_KEY_MIN 16
#define AUTH_KEY_MAX 4096
#define AUTH_TEXT_MAX 192
#define AUTH_MAC 32		/* bytes of a message authentication code */

struct auth;

/** enum auth_next - what the caller has to do after a step */
enum auth_next {
	AUTH_SEND,	/* send the reply and wait for the next message */
	AUTH_DONE,	/* the peer has proved that it has the key; there is nothing to send */
	AUTH_LAST,	/* the peer has proved that it has the key; send the reply, the last
			 * message */
	AUTH_REFUSED,	/* the peer is not of this fabric; auth_session.text is the reason */
};

/**
 * struct auth_session - one exchange
 * @initiator: this side connected
 * @newest: the newest schema that this side speaks, below 65536; set by the caller after
 *	auth_session_init(); 0: messages do not contain it
 * @peer_fabric, @peer_name: texts from the peer's message; they are true after AUTH_DONE or
 *	AUTH_LAST
 */
struct auth_session {
	const struct auth *auth;
	bool initiator;
	unsigned int newest;
	uint8_t turn;
	uint8_t own_nonce[SVC_AUTH_MAX];
	uint8_t peer_nonce[SVC_AUTH_MAX];
	char peer_fabric[TORUS_NAME_MAX + 1];
	char peer_name[TORUS_NAME_MAX + 1];
	char text[AUTH_TEXT_MAX];
};

/**
 * struct auth_ops - a method of authentication
 * @open: read the credentials at @where. Return: 0 or a negative errno, and @text has the reason
 * @start: make the initiator's first message
 * @step: check the message @in of the peer, and make the answer
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

/** struct auth - identity and credentials of this node */
struct auth {
	const struct auth_ops *ops;
	void *data;
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
};

/** auth_open() - read the credentials; @text: AUTH_TEXT_MAX bytes for the reason of a failure */
int auth_open(struct auth *a, const struct auth_ops *ops, const char *fabric,
	      const char *name, const char *where, char *text);
void auth_close(struct auth *a);

void auth_session_init(struct auth_session *s, const struct auth *a, bool initiator);
/** auth_start() - make the initiator's first message. Return: 0 or a negative errno. */
int auth_start(struct auth_session *s, struct svc_auth *out);
enum auth_next auth_step(struct auth_session *s, const struct svc_auth *in,
			 struct svc_auth *out);

/**
 * auth_mac() - compute the message authentication code of these bytes
 * @label: names the use of the code, so that one made for another use does not fit
 * @out: AUTH_MAC bytes
 * Return: 0 or a negative errno.
 */
int auth_mac(const struct auth *a, const char *label, const void *data, size_t len, uint8_t *out);

extern const struct auth_ops auth_key_ops;

#endif /* AUTH_H */

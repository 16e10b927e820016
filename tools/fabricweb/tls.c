// SPDX-License-Identifier: GPL-2.0-or-later
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

#include "tls.h"

struct tls {
	SSL_CTX *ctx;
};

void tls_free(struct tls *tls)
{
	if (tls)
		SSL_CTX_free(tls->ctx);
	free(tls);
}

static const char *last_error(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "it cannot be read";
}

/* A passphrase of the key cannot be asked for, because no user is present. */
static int refuse_passphrase(char *buf, int size, int writes, void *arg)
{
	(void)buf;
	(void)size;
	(void)writes;
	(void)arg;
	return -1;
}

struct tls *tls_load(const char *cert, const char *key, char *why, size_t size)
{
	struct tls *tls = calloc(1, sizeof(*tls));

	ERR_clear_error();
	if (tls)
		tls->ctx = SSL_CTX_new(TLS_server_method());
	if (tls && tls->ctx)
		SSL_CTX_set_default_passwd_cb(tls->ctx, refuse_passphrase);
	if (!tls || !tls->ctx) {
		snprintf(why, size, "out of memory");
	} else if (!SSL_CTX_set_min_proto_version(tls->ctx, TLS1_2_VERSION) ||
		   SSL_CTX_use_certificate_chain_file(tls->ctx, cert) != 1) {
		snprintf(why, size, "tls_cert '%s': %s", cert, last_error());
	} else if (SSL_CTX_use_PrivateKey_file(tls->ctx, key, SSL_FILETYPE_PEM) != 1 ||
		   SSL_CTX_check_private_key(tls->ctx) != 1) {
		snprintf(why, size, "tls_key '%s': %s", key, last_error());
	} else {
		SSL_CTX_set_mode(tls->ctx, SSL_MODE_RELEASE_BUFFERS);
		SSL_CTX_set_options(tls->ctx, SSL_OP_NO_RENEGOTIATION);
		return tls;
	}
	tls_free(tls);
	return NULL;
}

struct bufferevent *tls_accept(struct tls *tls, struct event_base *base)
{
	SSL *ssl = SSL_new(tls->ctx);
	struct bufferevent *bev;

	if (!ssl)
		return NULL;
	bev = bufferevent_openssl_socket_new(base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING,
					     BEV_OPT_CLOSE_ON_FREE);
	if (!bev)
		SSL_free(ssl);
	else
		bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

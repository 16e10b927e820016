// SPDX-License-Identifier: GPL-2.0-only
/*
 * A key that all nodes share.
 *
 *	I -> L	nonce I
 *	L -> I	nonce L
 *	I -> L	HMAC-SHA256(key, label | 'I' | nonce I | nonce L | fabric | name I | name L)
 *	L -> I	... the same with 'L'
 *
 * A nonce ends with the newest schema that its maker speaks, after SCHEMA_MARK. As both proofs
 * cover it, no host on the path can make two managers use an older schema than they would: each
 * AUTH also contains the schema unencrypted, and both must be equal. A manager of an earlier
 * release makes nonces without the mark, and then that is not checked.
 *
 * Management packets between neighbours (seal.c) have HMAC-SHA256(key, label | bytes), with another
 * label.
 *
 * The listener sends its proof only after it has checked that of the initiator, so a stranger gets
 * no proof on which it could try keys. Each proof contains the role of its maker, so it cannot be
 * sent back to its maker.
 *
 * In tests/unit/test_auth.c, replayed_handshake_messages_are_refused() and
 * each_random_byte_of_nonces_changes() test the nonces, reflected_messages_are_refused() the roles,
 * forged_fabric_or_name_is_refused() the names, each_flipped_bit_of_handshake_is_noticed() the
 * schema; test_auth_faults.c tests failures of libgcrypt.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gcrypt.h>
#include "daemon/auth.h"
#include "lib/util/read_all.h"

#define NONCE	32
#define PROOF	32
#define LABEL	"fabricd key 1"
#define SCHEMA_MARK "schema"	/* 2 bytes follow, the schema in big-endian order */
#define MARK_LEN (sizeof(SCHEMA_MARK) - 1)
#define MARK_AT (NONCE - 2 - MARK_LEN)

struct key {
	size_t len;
	uint8_t data[AUTH_KEY_MAX];
};

static void wipe_bytes(void *p, size_t n)
{
	explicit_bzero(p, n);
}

static bool crypto_ready(void)
{
	if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
		return true;
	if (!gcry_check_version(GCRYPT_VERSION))
		return false;
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	return true;
}

static int key_check(const char *where, int fd, struct key *k, char *text)
{
	uint8_t more;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		snprintf(text, AUTH_TEXT_MAX, "key file %s is not a regular file", where);
		return -EINVAL;
	}
	if (st.st_mode & 07) {
		snprintf(text, AUTH_TEXT_MAX, "key file %s has mode %04o, others must have no "
			 "access: chmod o= %s", where, (unsigned int)st.st_mode & 07777, where);
		return -EPERM;
	}
	n = read_all(fd, k->data, sizeof(k->data));
	if (n < 0) {
		snprintf(text, AUTH_TEXT_MAX, "key file %s: %s", where, strerror((int)-n));
		return (int)n;
	}
	k->len = (size_t)n;
	/* Editors and echo end a file with a newline, which is not part of the key. */
	while (k->len && (k->data[k->len - 1] == '\n' || k->data[k->len - 1] == '\r'))
		k->len--;
	if (k->len < AUTH_KEY_MIN || read(fd, &more, 1) > 0) {
		snprintf(text, AUTH_TEXT_MAX, "key file %s has %s%zu bytes, must have %d to %d",
			 where, k->len < AUTH_KEY_MIN ? "" : "over ", k->len, AUTH_KEY_MIN,
			 AUTH_KEY_MAX);
		return -EINVAL;
	}
	return 0;
}

static int key_open(struct auth *a, const char *where, char *text)
{
	struct key *k;
	int fd, err;

	if (!crypto_ready()) {
		snprintf(text, AUTH_TEXT_MAX, "libgcrypt is older than %s", GCRYPT_VERSION);
		return -ENOTSUP;
	}
	fd = open(where, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		err = -errno;
		snprintf(text, AUTH_TEXT_MAX, "key file %s: %s", where, strerror(-err));
		return err;
	}
	k = calloc(1, sizeof(*k));
	err = k ? key_check(where, fd, k, text) : -ENOMEM;
	close(fd);
	if (err) {
		free(k);
		return err;
	}
	a->data = k;
	return 0;
}

static void key_close(struct auth *a)
{
	if (a->data)
		wipe_bytes(a->data, sizeof(struct key));
	free(a->data);
}

static int nonce_make(struct auth_session *s, struct svc_auth *out)
{
	ssize_t n;

	do {
		n = getrandom(s->own_nonce, NONCE, 0);
	} while (n < 0 && errno == EINTR);
	if (n != NONCE)
		return -EIO;
	if (s->newest) {
		memcpy(s->own_nonce + MARK_AT, SCHEMA_MARK, MARK_LEN);
		s->own_nonce[NONCE - 2] = (uint8_t)(s->newest >> 8);
		s->own_nonce[NONCE - 1] = (uint8_t)s->newest;
	}
	memcpy(out->nonce, s->own_nonce, NONCE);
	out->nonce_len = NONCE;
	return 0;
}

/* Computes the initiator's proof if @initiator, else the listener's. */
static int proof_make(const struct auth_session *s, bool initiator, uint8_t *out)
{
	const struct key *k = s->auth->data;
	const uint8_t *ni = s->initiator ? s->own_nonce : s->peer_nonce;
	const uint8_t *nl = s->initiator ? s->peer_nonce : s->own_nonce;
	const char *name_i = s->initiator ? s->auth->name : s->peer_name;
	const char *name_l = s->initiator ? s->peer_name : s->auth->name;
	const char *fabric = s->auth->fabric;
	size_t len = PROOF;
	gcry_mac_hd_t h;
	gcry_error_t err;

	err = gcry_mac_open(&h, GCRY_MAC_HMAC_SHA256, 0, NULL);
	if (err)
		return -EIO;
	err = gcry_mac_setkey(h, k->data, k->len);
	/* Each text is hashed with its NUL, so that no two lists of texts give the same bytes. */
	if (!err)
		err = gcry_mac_write(h, LABEL, sizeof(LABEL));
	if (!err)
		err = gcry_mac_write(h, initiator ? "I" : "L", 1);
	if (!err)
		err = gcry_mac_write(h, ni, NONCE);
	if (!err)
		err = gcry_mac_write(h, nl, NONCE);
	if (!err)
		err = gcry_mac_write(h, fabric, strlen(fabric) + 1);
	if (!err)
		err = gcry_mac_write(h, name_i, strlen(name_i) + 1);
	if (!err)
		err = gcry_mac_write(h, name_l, strlen(name_l) + 1);
	if (!err)
		err = gcry_mac_read(h, out, &len);
	gcry_mac_close(h);
	return err || len != PROOF ? -EIO : 0;
}

static int key_mac(const struct auth *a, const char *label, const void *data, size_t len,
		   uint8_t *out)
{
	const struct key *k = a->data;
	size_t n = AUTH_MAC;
	gcry_error_t err;
	gcry_mac_hd_t h;

	if (gcry_mac_open(&h, GCRY_MAC_HMAC_SHA256, 0, NULL))
		return -EIO;
	err = gcry_mac_setkey(h, k->data, k->len);
	if (!err)
		err = gcry_mac_write(h, label, strlen(label) + 1);
	if (!err)
		err = gcry_mac_write(h, data, len);
	if (!err)
		err = gcry_mac_read(h, out, &n);
	gcry_mac_close(h);
	return err || n != AUTH_MAC ? -EIO : 0;
}

static bool proof_right(const struct auth_session *s, const struct svc_auth *in)
{
	uint8_t want[PROOF];
	uint8_t diff = 0;

	if (in->proof_len != PROOF || proof_make(s, !s->initiator, want))
		return false;
	for (unsigned int i = 0; i < PROOF; i++)
		diff |= (uint8_t)(want[i] ^ in->proof[i]);
	return !diff;
}

static enum auth_next refuse_peer(struct auth_session *s, const char *text)
{
	snprintf(s->text, sizeof(s->text), "%s", text);
	return AUTH_REFUSED;
}

/* Return: false if the peer's nonce and its message name different schemas. */
static bool newest_right(const struct auth_session *s, const struct svc_auth *in)
{
	const uint8_t *n = s->peer_nonce;

	return memcmp(n + MARK_AT, SCHEMA_MARK, MARK_LEN) ||
	       in->newest == ((uint32_t)n[NONCE - 2] << 8 | n[NONCE - 1]);
}

static int key_start(struct auth_session *s, struct svc_auth *out)
{
	return nonce_make(s, out);
}

/*
 * Handles a message of the peer: the first message contains the peer's nonce, the second its proof.
 */
static enum auth_next key_step(struct auth_session *s, const struct svc_auth *in,
			       struct svc_auth *out)
{
	bool first = s->turn++ == 0;

	if (first && in->nonce_len != NONCE)
		return refuse_peer(s, "the nonce has the wrong length");
	if (first)
		memcpy(s->peer_nonce, in->nonce, NONCE);
	if (!newest_right(s, in))
		return refuse_peer(s, "the schema was changed in transit");
	if (first) {
		if (!s->initiator)
			return nonce_make(s, out) ? refuse_peer(s, "no random numbers") : AUTH_SEND;
		if (proof_make(s, true, out->proof))
			return refuse_peer(s, "the proof cannot be made");
		out->proof_len = PROOF;
		return AUTH_SEND;
	}
	if (!proof_right(s, in))
		return refuse_peer(s, "the key differs");
	if (s->initiator)
		return AUTH_DONE;
	if (proof_make(s, false, out->proof))
		return refuse_peer(s, "the proof cannot be made");
	out->proof_len = PROOF;
	return AUTH_LAST;
}

const struct auth_ops auth_key_ops = {
	.name = "key",
	.open = key_open,
	.close = key_close,
	.start = key_start,
	.step = key_step,
	.mac = key_mac,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a stream of the service network: as a stranger's, through the handshake, and as a
 * member's, through the codec.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/auth.h"
#include "daemon/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct auth *identity(void)
{
	static struct auth a;
	char path[] = "/tmp/fuzz_frame.XXXXXX", text[AUTH_TEXT_MAX];
	int fd;

	if (a.ops)
		return &a;
	fd = mkstemp(path);
	if (fd < 0 || write(fd, "0123456789abcdef", 16) != 16 ||
	    auth_open(&a, &auth_key_ops, "green", "n0", path, text))
		abort();
	close(fd);
	unlink(path);
	return &a;
}

static void stream(const uint8_t *data, size_t len, size_t max, struct auth_session *s)
{
	while (len) {
		const uint8_t *body;
		struct svc_auth reply;
		struct svc_msg m;
		size_t n;
		ssize_t used = frame_next(data, len, max, &body, &n);

		if (used <= 0)
			return;
		if (svc_msg_unpack(body, n, &m))
			return;
		if (m.type == SVC_AUTH) {
			enum auth_next next = auth_step(s, &m.auth, &reply);

			/* Bytes that were made without the key must never pass as a proof. */
			if (next == AUTH_DONE || next == AUTH_LAST)
				abort();
		}
		svc_msg_clear(&m);
		data += used;
		len -= (size_t)used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct auth_session s;

	auth_session_init(&s, identity(), false);
	stream(data, len, FRAME_MAX_STRANGER, &s);
	auth_session_init(&s, identity(), true);
	stream(data, len, FRAME_MAX, &s);
	return 0;
}

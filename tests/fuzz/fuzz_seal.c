// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any history of a port: links that come and go, what the manager says, and packets of one who has the
 * key, for here the seal is zeros. Nothing is passed on that is empty or too long, and what comes is
 * answered by one packet at most.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/auth.h"
#include "daemon/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define ROOM (TORUS_MGMT_MAX - SEAL_BYTES)

static unsigned int answers;

static int no_mac(const struct auth *a, const char *label, const void *data, size_t len, uint8_t *out)
{
	(void)a;
	(void)label;
	(void)data;
	if (len > 18 + TORUS_MGMT_MAX)
		abort();
	memset(out, 0, AUTH_MAC);
	return 0;
}

static void out(void *arg, unsigned int port, const void *data, size_t len)
{
	(void)arg;
	(void)data;
	if (port >= TORUS_MAX_PORTS || len < SEAL_BYTES || len > TORUS_MGMT_MAX)
		abort();
	answers++;
}

static void in(void *arg, unsigned int port, const void *data, size_t len)
{
	(void)data;
	if (!len || len > ROOM)
		abort();
	/* A manager may answer at once. */
	seal_send(*(struct seal **)arg, port, "answer", 6);
}

static void refused(void *arg, unsigned int port)
{
	(void)arg;
	(void)port;
}

static size_t link_event(struct seal *s, const uint8_t *data, size_t len)
{
	struct torus_link l = { .port = data[0] >> 4 };

	if (len < 4 || l.port >= TORUS_MAX_PORTS)
		return 1;
	l.state = data[1] % (TORUS_LINK_FAULTY + 1);
	l.session = data[2] & 3;
	l.peer_guid = data[3] & 3;
	l.peer_port = data[3] >> 4;
	seal_link(s, &l);
	return 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct auth_ops auth_ops = { .mac = no_mac };
	static const struct seal_ops ops = { .send = out, .received = in, .refused = refused };
	const struct auth auth = { .ops = &auth_ops };
	struct seal *s = NULL;
	size_t n;

	s = seal_new(&auth, 1, &ops, &s);
	if (!s)
		abort();
	while (len) {
		unsigned int port = data[0] >> 4;

		n = 1;
		switch (data[0] & 3) {
		case 0:
			n = link_event(s, data, len);
			break;
		case 1:
			n = len < 2 || data[1] > len - 2 ? len : 2u + data[1];
			if (n >= 2 && port < TORUS_MAX_PORTS)
				seal_send(s, port, data + 2, n - 2);
			break;
		default:
			n = len < 2 || data[1] > len - 2 ? len : 2u + data[1];
			answers = 0;
			if (n >= 2)
				seal_receive(s, port, data + 2, n - 2);
			if (answers > 2)	/* the seal's own answer, and one of the manager */
				abort();
		}
		data += n;
		len -= n;
	}
	seal_free(s);
	return 0;
}

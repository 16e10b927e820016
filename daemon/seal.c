// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the seal of management packets
 *
 * Managers of neighbours exchange packets over their link before they have any connection. These
 * packets give nodes their places and lead them to a root. So each packet has a seal, made with the
 * key that all nodes share:
 *
 *    0  "tSEA"                 4  version (1)      5  kind (1): hello, data      6  0 (2)
 *    8  session of the link (4)
 *   12  nonce of the sender (8)       20  echo: nonce of the receiver (8), 0: not known
 *   28  number (8)
 *   36  the first 16 bytes of HMAC-SHA256(key, label | GUID and port of the sender | GUID and
 *       port of the receiver | bytes 0 to 35 | data)
 *   52  data; a hello has none
 *
 * All numbers are little endian. Ports are one byte. The receiver takes GUIDs, ports and session of
 * the link from its own NIC. Lemmas, with the functions of tests/unit/test_seal.c that test them:
 *
 *  1. Origin. A packet is passed on only if a manager with the key sent it on this link to this
 *     port: the GUIDs and ports of both ends are under the seal.
 *     (packet_of_another_link_port_or_node_is_refused())
 *  2. Freshness. A packet is passed on only if it is new: its echo is the nonce that this manager
 *     has drawn for this session of the link, so it was sealed since then; and its number is
 *     greater than the last one. Numbers follow the clock, so those of a restarted manager are
 *     greater than those from before its restart. (message_of_session_is_not_sent_in_next_one())
 *  3. Replay. A repeated packet changes nothing, because its number is not greater. A manager that
 *     has taken no packet yet may take one of a manager that is gone, and then echoes the nonce of
 *     that one. This does no harm: packets of the present manager have greater numbers.
 *     (replayed_packet_is_refused_and_both_go_on(),
 *     packet_replayed_to_restarted_manager_is_refused())
 *  4. Termination. The two managers do not answer each other without end: only packets with a new
 *     nonce or a wrong echo are answered, and each answer has the right echo; so it is answered
 *     once more at most. If an answer is lost, it is sent after the next packet. A packet that is
 *     refused is answered by a hello, at most once a second at each port, so that a manager with
 * another key notices it; else its packets would vanish without a trace.
 *     (random_histories_accept_only_genuine_messages(),
 *     refused_message_is_answered_once_a_second())
 *
 * Where both managers start at the same time, both send a hello, and their packets follow with the
 * echo: one trip over the link later than without a seal. A manager that learns a new nonce sends
 * its last packet again, because the neighbour has been restarted and has not received it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/auth.h"
#include "daemon/loop.h"
#include "daemon/seal.h"
#include "lib/util/le.h"

#define HEAD	36
#define MAC	(SEAL_BYTES - HEAD)
#define VERSION	1
#define LABEL	"fabricd seal 1"
#define ENDS	18		/* bytes of GUID and port of both ends */
#define ANSWER_EVERY SEC	/* least time between two answers to refused packets */

enum { HELLO, DATA };

static const char magic[4] = "tSEA";

/**
 * struct end - a port
 * @up, @session, @peer_guid, @peer_port: state of the link, from the NIC
 * @own, @peer: nonces; @peer 0: not known
 * @sent, @taken: numbers of the last packets that were sent and accepted
 * @answered: when a refused packet was last answered; 0: never
 * @data, @len: the last packet that the owner wanted to send; @len 0: there was no packet
 */
struct end {
	bool up;
	uint32_t session;
	uint64_t peer_guid;
	uint8_t peer_port;
	uint64_t own, peer;
	uint64_t sent, taken, answered;
	size_t len;
	uint8_t data[TORUS_MGMT_MAX - SEAL_BYTES];
};

struct seal {
	const struct auth *auth;
	uint64_t guid;
	const struct seal_ops *ops;
	void *arg;
	struct seal_counts counts;
	struct end end[TORUS_MAX_PORTS];
};

struct seal *seal_new(const struct auth *auth, uint64_t guid, const struct seal_ops *ops, void *arg)
{
	struct seal *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->auth = auth;
	s->guid = guid;
	s->ops = ops;
	s->arg = arg;
	return s;
}

void seal_free(struct seal *s)
{
	free(s);
}

const struct seal_counts *seal_counts(const struct seal *s)
{
	return &s->counts;
}

/*
 * Return: a nonce. If the kernel gives no random numbers, the nonce is not random, but it is new
 * and not 0.
 */
static uint64_t draw_nonce(void)
{
	uint64_t nonce = 0;

	while (!nonce)
		if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
			nonce = loop_now() | 1;
	return nonce;
}

/*
 * Computes the code of a packet of @len bytes. @outward: this end sends the packet, else the peer
 * has sent it. Return: false if the code could not be computed.
 */
static bool make_mac(const struct seal *s, unsigned int port, bool outward, const uint8_t *packet,
		     size_t len, uint8_t *out)
{
	const struct end *e = &s->end[port];
	uint8_t text[ENDS + TORUS_MGMT_MAX], full[AUTH_MAC];
	uint8_t *own = text + (outward ? 0 : ENDS / 2), *peer = text + (outward ? ENDS / 2 : 0);

	put_le(own, s->guid, 8);
	own[8] = (uint8_t)port;
	put_le(peer, e->peer_guid, 8);
	peer[8] = e->peer_port;
	memcpy(text + ENDS, packet, HEAD);
	memcpy(text + ENDS + HEAD, packet + SEAL_BYTES, len - SEAL_BYTES);
	if (auth_mac(s->auth, LABEL, text, ENDS + len - MAC, full))
		return false;
	memcpy(out, full, MAC);
	return true;
}

static void send_kind(struct seal *s, unsigned int port, unsigned int kind, uint64_t echo)
{
	struct end *e = &s->end[port];
	uint64_t now = loop_now();
	size_t len = SEAL_BYTES + (kind == DATA ? e->len : 0);
	uint8_t packet[TORUS_MGMT_MAX] = { 0 };

	memcpy(packet, magic, sizeof(magic));
	packet[4] = VERSION;
	packet[5] = (uint8_t)kind;
	put_le(packet + 8, e->session, 4);
	put_le(packet + 12, e->own, 8);
	put_le(packet + 20, echo, 8);
	e->sent = e->sent < now ? now : e->sent + 1;
	put_le(packet + 28, e->sent, 8);
	memcpy(packet + SEAL_BYTES, e->data, len - SEAL_BYTES);
	if (make_mac(s, port, true, packet, len, packet + HEAD))
		s->ops->send(s->arg, port, packet, len);
}

void seal_link(struct seal *s, const struct torus_link *l)
{
	bool up = l->state == TORUS_LINK_UP || l->state == TORUS_LINK_RETRAINING;
	struct end *e = &s->end[l->port];

	if (e->up && up && e->session == l->session && e->peer_guid == l->peer_guid &&
	    e->peer_port == l->peer_port)
		return;
	memset(e, 0, sizeof(*e));
	if (!up)
		return;
	e->up = true;
	e->session = l->session;
	e->peer_guid = l->peer_guid;
	e->peer_port = l->peer_port;
	e->own = draw_nonce();
	send_kind(s, l->port, HELLO, 0);
}

void seal_send(struct seal *s, unsigned int port, const void *data, size_t len)
{
	struct end *e = &s->end[port];

	if (!e->up || !len || len > sizeof(e->data))
		return;
	memcpy(e->data, data, len);
	e->len = len;
	send_kind(s, port, e->peer ? DATA : HELLO, e->peer);
}

/* Return: true if a manager with the key has sent the packet over this link. */
static bool is_sealed(const struct seal *s, unsigned int port, const uint8_t *p, size_t len)
{
	uint8_t want[MAC], diff = 0;

	if (len < SEAL_BYTES || len > TORUS_MGMT_MAX || memcmp(p, magic, sizeof(magic)) ||
	    p[4] != VERSION || !make_mac(s, port, false, p, len, want))
		return false;
	for (unsigned int i = 0; i < MAC; i++)
		diff |= (uint8_t)(want[i] ^ p[HEAD + i]);
	return !diff && p[5] <= DATA;
}

static void refuse_packet(struct seal *s, unsigned int port)
{
	struct end *e = &s->end[port];
	uint64_t now = loop_now();

	s->counts.refused++;
	if (!e->answered || now >= e->answered + ANSWER_EVERY) {
		e->answered = now;
		send_kind(s, port, HELLO, e->peer);
	}
	s->ops->refused(s->arg, port);
}

void seal_receive(struct seal *s, unsigned int port, const void *data, size_t len)
{
	bool fresh, learned, says;
	const uint8_t *p = data;
	struct end *e;
	uint64_t number;

	if (port >= TORUS_MAX_PORTS || !s->end[port].up)
		return;
	e = &s->end[port];
	/*
	 * The NIC reports link states and packets separately, so the packet of a session may arrive
	 * before the state of the link does.
	 */
	if (len >= SEAL_BYTES && !memcmp(p, magic, sizeof(magic)) &&
	    get_le(p + 8, 4) != e->session) {
		s->counts.late++;
		return;
	}
	if (!is_sealed(s, port, p, len)) {
		refuse_packet(s, port);
		return;
	}
	number = get_le(p + 28, 8);
	says = p[5] == DATA && len > SEAL_BYTES;
	fresh = get_le(p + 20, 8) == e->own;
	learned = get_le(p + 12, 8) != e->peer;
	if (number <= e->taken) {
		s->counts.late++;
		return;
	}
	e->peer = get_le(p + 12, 8);
	e->taken = number;
	s->counts.late += says && !fresh;
	if (learned && e->len)
		send_kind(s, port, DATA, e->peer);
	else if (!fresh)
		send_kind(s, port, HELLO, e->peer);
	if (says && fresh)
		s->ops->received(s->arg, port, p + SEAL_BYTES, len - SEAL_BYTES);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory for test_rma.sh, by libtorus: rmatool SOCKET COMMAND.
 *
 *   own			makes a region with full/empty bits, prints NODE REGION KEY, and waits
 *   stream NODE REGION KEY N	N rounds of operations whose results are known beforehand, or fewer,
 *				until SIGTERM comes
 *   refused NODE REGION KEY	prints how a put there ends
 *   wrong			requests and calls that are wrong, and what is said of them
 *   hoard		makes regions, as many and as large as one user may not
 *   wait NODE REGION KEY	waits for a word that stays empty
 *   messages			messages that are wrong, and what is said of them
 *   at			as own, and the region has the address AT
 *   window NODE REGION KEY	accesses the region at AT of the node by a window
 *   receive			prints NODE CONTEXT KEY, and receives messages, until the last one comes
 *   send NODE CONTEXT KEY N	sends N messages, each one until it is received, or fewer, until
 *				SIGTERM comes, and then one that is the last
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/rma.h>
#include <unistd.h>

#define BYTES	(1 << 20)
#define TICKET	0		/* a word that all initiators count up */
#define TOKEN	8		/* a word with full/empty bits */
#define DATA	4096
#define WAIT_MS	60000
#define AT	0x123400000000ull

static struct torus_rma *rma;
static struct torus_region *mine;
static struct torus_far far;
static volatile sig_atomic_t stop;

static void set_stop(int signal)
{
	(void)signal;
	stop = 1;
}

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, torus_rma_error(rma));
	exit(1);
}

static void must(int err, const char *what)
{
	if (err < 0)
		die(what);
}

/* Waits for the completion of the one request that is open. */
static struct torus_rma_end finish(const char *what)
{
	struct torus_rma_end end;
	char text[128];

	must(torus_rma_wait(rma, &end, 1, WAIT_MS), what);
	if (end.status == TORUS_RMA_DONE)
		return end;
	printf("%s: %s\n", what, torus_rma_end_text(&end, text, sizeof(text)));
	exit(1);
}

static void check(int yes, const char *what, uint64_t round)
{
	if (yes)
		return;
	printf("round %llu: %s\n", (unsigned long long)round, what);
	exit(1);
}

/* Puts of any size, of which the last one notifies, and a get of all. */
static void round_trip(uint64_t i)
{
	uint8_t *out = (uint8_t *)mine->base, *back = out + BYTES / 2;
	size_t bytes = 1 + i * 7919 % (BYTES / 2 - DATA), half = bytes / 2;
	uint64_t offset = DATA + i % 61;

	for (size_t k = 0; k < bytes; k++)
		out[k] = (uint8_t)(i + k * 31);
	memset(back, 0, bytes);
	must(torus_rma_put(rma, &far, offset, out, half, 1), "put");
	must(torus_rma_put_notify(rma, &far, offset + half, out + half, bytes - half, 16, 1, 2), "put");
	must(torus_rma_get(rma, back, &far, offset, bytes, 3), "get");
	must(torus_rma_quiet(rma, WAIT_MS), "puts and get");
	check(!memcmp(out, back, bytes), "other bytes than those put", i);
	must(torus_rma_get(rma, back, &far, 16, 8, 4), "get");
	finish("get");
	check(*(uint64_t *)back == i + 1, "notifications", i);
}

static void stream(uint64_t rounds)
{
	uint64_t i;

	signal(SIGTERM, set_stop);
	for (i = 0; i < rounds && !stop; i++) {
		must(torus_rma_amo(rma, &far, TICKET, TORUS_RMA_ADD, TORUS_RMA_U64, 1, 0, 5), "ticket");
		check(finish("ticket").value == i, "a ticket twice, or none", i);
		must(torus_rma_fe(rma, &far, TOKEN, TORUS_RMA_WRITE, TORUS_RMA_EMPTY, TORUS_RMA_FULL, i, 6),
		     "token");
		must(torus_rma_fe(rma, &far, TOKEN, TORUS_RMA_READ, TORUS_RMA_FULL, TORUS_RMA_EMPTY, 0, 7),
		     "token");
		finish("token");
		check(finish("token").value == i, "another token", i);
		if (i % 16 == 0)
			round_trip(i / 16);
	}
	printf("%llu rounds are right\n", (unsigned long long)i);
}

static void say_end(int err, const char *what)
{
	struct torus_rma_end end;
	char text[128];

	must(err, what);
	must(torus_rma_wait(rma, &end, 1, WAIT_MS), what);
	printf("%s: %s\n", what, torus_rma_end_text(&end, text, sizeof(text)));
}

static void say_error(int err, const char *what)
{
	printf("%s: %s: %s\n", what, strerror(-err), err ? torus_rma_error(rma) : "no error");
}

static void wrong(void)
{
	struct torus_far own = mine->far, none = own, high = own, key = own;
	struct torus_region *r;
	uint64_t word = 0;

	none.region = 1000;
	high.node = 1000;
	key.key ^= 1;
	say_end(torus_rma_put(rma, &none, 0, &word, 8, 1), "no region");
	say_end(torus_rma_put(rma, &key, 0, &word, 8, 1), "key");
	say_end(torus_rma_put(rma, &high, 0, &word, 8, 1), "node");
	say_end(torus_rma_put(rma, &own, BYTES - 7, &word, 8, 1), "bounds");
	say_end(torus_rma_put(rma, &own, 1ull << 48, &word, 8, 1), "address");
	say_end(torus_rma_amo(rma, &own, 4, TORUS_RMA_ADD, TORUS_RMA_U64, 1, 0, 1), "align");
	say_end(torus_rma_cancel(rma, 77, 1), "cancel");
	say_error(torus_rma_put(rma, &own, 0, "not in a region", 16, 1), "local");
	say_error(torus_region_new(rma, 0, 0, 0, &r), "no bytes");
	say_error(torus_region_new(rma, 12, 8, TORUS_RMA_HAS_FE, &r), "half a word");
	say_error(torus_region_new(rma, 8, 16, 0, &r), "access");
	say_error(torus_region_new(rma, 8, 8, 0, &r), "no bits");
	must(torus_region_new(rma, 8, TORUS_RMA_ACCESS_READ, 0, &r), "a second region");
	own = r->far;
	say_end(torus_rma_put(rma, &own, 0, &word, 8, 1), "access");
	say_end(torus_rma_fe(rma, &own, 0, TORUS_RMA_READ, TORUS_RMA_FULL, TORUS_RMA_ANY, 0, 1), "bits");
	must(torus_region_free(rma, r), "the second region");
	say_end(torus_rma_put(rma, &own, 0, &word, 8, 1), "closed");
}

/* Tries to register 257 regions, with that of main(), and more than half of the allowed bytes. */
static void hoard(const char *path)
{
	size_t most = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4;
	struct torus_region *r;
	struct torus_rma *more;

	say_error(torus_region_new(rma, most, TORUS_RMA_ACCESS_READ, 0, &r), "bytes");
	for (int i = 0; i < 256; i++) {
		if (i % 32 == 0 && torus_rma_open(path, 0, &more))
			die("open");
		if (torus_region_new(more, 8, TORUS_RMA_ACCESS_READ, 0, &r)) {
			printf("regions: %s\n", torus_rma_error(more));
			return;
		}
	}
}

/* --- messages ---------------------------------------------------------------------------- */

#define LAST	UINT64_MAX	/* tag of the last message */
#define POSTED	8		/* memory for messages that is posted at a time */

static size_t message_bytes(uint64_t i)
{
	return i * 7919 % (torus_rma_message_max(rma) + 1);
}

static uint8_t *message_place(uint64_t i)
{
	return (uint8_t *)mine->base + i % POSTED * torus_rma_message_max(rma);
}

static void post(uint64_t i)
{
	must(torus_rma_recv(rma, message_place(i), torus_rma_message_max(rma), i), "receive");
}

static void check_message(const struct torus_rma_end *end, uint64_t i)
{
	const uint8_t *at = message_place(i);

	check(end->op == TORUS_RMA_RECV && end->cookie == i, "other memory", i);
	check(end->value == i, "another message", i);
	check(end->bytes == message_bytes(i), "another length", i);
	for (size_t k = 0; k < end->bytes; k++)
		check(at[k] == (uint8_t)(i + k * 31), "other bytes than those sent", i);
}

/* Posts memory late, so that the sender meets a receiver that is not ready. */
static void receive(void)
{
	struct torus_peer self = torus_rma_self(rma);
	struct torus_rma_end end;
	uint64_t i;

	printf("%u %u %u\n", self.node, self.context, self.key);
	fflush(stdout);
	usleep(200000);
	for (i = 0; i < POSTED; i++)
		post(i);
	for (i = 0;; i++) {
		end = finish("message");
		if (end.value == LAST)
			break;
		check_message(&end, i);
		post(i + POSTED);
	}
	printf("%llu messages are right\n", (unsigned long long)i);
}

/* Sends a message until the receiver has memory for it. Return: how often it was refused */
static uint64_t send_one(const struct torus_peer *to, size_t bytes, uint64_t tag)
{
	struct torus_rma_end end;
	uint64_t refused = 0;
	char text[128];

	for (;; refused++) {
		must(torus_rma_send(rma, to, mine->base, bytes, tag, 1), "send");
		must(torus_rma_wait(rma, &end, 1, WAIT_MS), "send");
		if (end.status == TORUS_RMA_DONE)
			return refused;
		if (end.status != TORUS_RMA_REFUSED || end.reason != TORUS_RMA_NO_ROOM) {
			printf("send: %s\n", torus_rma_end_text(&end, text, sizeof(text)));
			exit(1);
		}
	}
}

static void send_all(uint64_t n)
{
	struct torus_peer to = { far.node, far.region, far.key };
	uint64_t i, refused = 0;

	signal(SIGTERM, set_stop);
	for (i = 0; i < n && !stop; i++) {
		for (size_t k = 0; k < message_bytes(i); k++)
			((uint8_t *)mine->base)[k] = (uint8_t)(i + k * 31);
		refused += send_one(&to, message_bytes(i), i);
	}
	refused += send_one(&to, 0, LAST);
	printf("%llu messages are sent, refused: %llu\n", (unsigned long long)i,
	       (unsigned long long)refused);
}

static void wrong_messages(void)
{
	struct torus_peer self = torus_rma_self(rma), key = self, none = self;
	size_t most = torus_rma_message_max(rma);
	struct torus_rma_end end;

	key.key ^= 1;
	none.context = 60;
	say_end(torus_rma_send(rma, &self, mine->base, most + 1, 0, 1), "long message");
	say_end(torus_rma_send(rma, &self, mine->base, most, 0, 1), "not ready");
	say_end(torus_rma_send(rma, &key, mine->base, 1, 0, 1), "key of a context");
	say_end(torus_rma_send(rma, &none, mine->base, 1, 0, 1), "no context");
	must(torus_rma_recv(rma, mine->base, 8, 7), "receive");
	say_end(torus_rma_send(rma, &self, mine->base, 9, 0, 1), "little memory");
	say_error(torus_region_free(rma, mine), "used memory");
	must(torus_rma_quiet(rma, WAIT_MS), "quiet without the receive");
	must(torus_rma_send(rma, &self, "8 bytes", 8, 5, 1), "send");
	must(torus_rma_quiet(rma, WAIT_MS), "quiet keeps the message");
	end = finish("kept");
	check(end.op == TORUS_RMA_RECV && end.bytes == 8 && !strcmp(mine->base, "8 bytes"), "kept", 0);
	check(!torus_rma_open_requests(rma), "a request is left", 0);
	must(torus_rma_recv(rma, mine->base, 8, 7), "receive");
	say_end(torus_rma_cancel(rma, 7, 1), "cancelled");
	finish("cancel");
	for (unsigned int i = 0; i < TORUS_RMA_ENTRIES; i++)
		must(torus_rma_recv(rma, mine->base, 8, i), "receive");
	say_error(torus_rma_recv(rma, mine->base, 8, 0), "receives");
}

static void own_at(void)
{
	struct torus_region *r, *other;

	say_error(torus_region_at(rma, AT + 4, 8, 1, 0, &r), "misaligned");
	say_error(torus_region_at(rma, (1ull << 48) - 8, 16, 1, 0, &r), "beyond the end");
	say_error(torus_region_at(rma, AT, 8, 0, 0, &r), "no access");
	must(torus_region_at(rma, AT, BYTES, 7, 0, &r), "region");
	say_error(torus_region_at(rma, AT + BYTES - 8, 8, 1, 0, &other), "overlap");
	printf("%u %u %u\n", r->far.node, r->far.region, r->far.key);
	fflush(stdout);
	pause();
}

/* The aperture is at 1 << 40, and its second page is the first one of the region. */
static void use_window(void)
{
	const uint64_t base = 1ull << 40;
	const struct torus_window_row row = {
		.from = 4096, .bytes = BYTES, .far = { far.node, TORUS_RMA_BY_ADDRESS, 0 },
		.offset = AT, .access = 15,
	};
	struct torus_window *w;
	struct torus_place p;
	uint64_t *word = mine->base;

	if (torus_window_new(TORUS_WINDOW_HIGH, base, 30, 0, 4, &w) || torus_window_put(w, &row) ||
	    torus_window_look(w, base + 4096 + 64, 8, TORUS_RMA_ACCESS_WRITE, &p)) {
		printf("window: %s\n", torus_window_error(w));
		exit(1);
	}
	must(torus_rma_put(rma, &p.far, p.offset, "by name", 8, 1), "put");
	must(torus_rma_get(rma, word, &far, 64, 8, 2), "get");
	must(torus_rma_quiet(rma, WAIT_MS), "put and get");
	check(!memcmp(word, "by name", 8), "other memory", 0);
	must(torus_rma_amo(rma, &p.far, p.offset + 8, TORUS_RMA_ADD, TORUS_RMA_U64, 5, 0, 1), "amo");
	check(finish("amo").value % 5 == 0, "amo", 0);
	p.offset = AT + BYTES - 4;
	say_end(torus_rma_put(rma, &p.far, p.offset, word, 8, 1), "passes the end");
	say_end(torus_rma_put(rma, &p.far, AT - 8, word, 8, 1), "no address");
	torus_window_free(w);
}

static void own(void)
{
	printf("%u %u %u\n", mine->far.node, mine->far.region, mine->far.key);
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (torus_rma_open(argv[1], 0, &rma))
		die("open");
	must(torus_region_new(rma, BYTES, 15, TORUS_RMA_HAS_FE | TORUS_RMA_STARTS_EMPTY, &mine),
	     "region");
	for (int i = 3; i < argc && i < 6; i++)
		((uint32_t *)&far)[i - 3] = (uint32_t)strtoul(argv[i], NULL, 0);
	if (!strcmp(argv[2], "own"))
		own();
	else if (!strcmp(argv[2], "stream") && argc == 7)
		stream(strtoull(argv[6], NULL, 0));
	else if (!strcmp(argv[2], "refused") && argc == 6)
		say_end(torus_rma_put(rma, &far, 0, "refused", 8, 1), "put");
	else if (!strcmp(argv[2], "hoard"))
		hoard(argv[1]);
	else if (!strcmp(argv[2], "wrong"))
		wrong();
	else if (!strcmp(argv[2], "messages"))
		wrong_messages();
	else if (!strcmp(argv[2], "at"))
		own_at();
	else if (!strcmp(argv[2], "window") && argc == 6)
		use_window();
	else if (!strcmp(argv[2], "receive"))
		receive();
	else if (!strcmp(argv[2], "send") && argc == 7)
		send_all(strtoull(argv[6], NULL, 0));
	else if (!strcmp(argv[2], "wait") && argc == 6)
		say_end(torus_rma_fe(rma, &far, 32, TORUS_RMA_READ, TORUS_RMA_FULL, TORUS_RMA_ANY, 0, 1), "wait");
	else
		return 2;
	torus_rma_close(rma);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flow of numbered datagrams at a steady rate from one network namespace to another.
 *
 *	udp_flow FROM TO ADDRESS BYTES RATE SECONDS PATIENCE
 *
 * FROM and TO are names of "ip netns"; ADDRESS is one of TO. Sending goes on for SECONDS. Receiving
 * begins before it, and ends when all datagrams have arrived, or when none has for PATIENCE seconds
 * after the last was sent. So a datagram that is missing was lost on its way, however late this
 * machine runs the sender and the receiver.
 *
 * A datagram that the kernel refuses to send counts as failed and uses no number. The receiver
 * has a large socket buffer, and reports how many datagrams overflowed it. Arrival times are the
 * kernel's timestamps. The output is one JSON object; "missing" are the first ranges of numbers
 * that did not arrive.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT	7002
#define BATCH	64
#define MAX	2048
#define BUFFER	(128 << 20)
#define NUMBERS	(1u << 26)	/* largest number of datagrams in a flow */
#define TURN	100000		/* ns between two checks of the clock */
#define RANGES	8		/* largest number of printed ranges of missing numbers */
#define SEC	1000000000u	/* nanoseconds in a second */
#define LINGER	SEC		/* time to wait for copies of datagrams, when all have arrived */

/** struct sent - what the sending process says */
struct sent {
	uint64_t number, failed, longest_turn;
	int why;
};

/** struct flow - what arrived; times in ns */
struct flow {
	uint64_t received, doubled, reordered, overflowed;
	uint64_t highest, last_at, silence;
};

static uint8_t seen[NUMBERS / 8];
static char buf[BATCH][MAX], control[BATCH][128];
static struct iovec iov[BATCH];
static struct mmsghdr mm[BATCH];

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * SEC + (uint64_t)t->tv_nsec;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ns_of(&t);
}

/* --- sending --------------------------------------------------------------------- */

static void transmit(struct sent *s, int fd, size_t bytes, double rate, double seconds)
{
	uint64_t start = now(), t = start, end = start + (uint64_t)(seconds * 1e9), due;
	struct timespec turn = { .tv_nsec = TURN };

	for (; t < end && s->number < NUMBERS; t = now()) {
		due = (uint64_t)((double)(t - start) * rate / 1e9);
		while (s->number + s->failed < due && s->number < NUMBERS) {
			memcpy(buf[0], &s->number, sizeof(s->number));
			if (send(fd, buf[0], bytes, 0) == (ssize_t)bytes) {
				s->number++;
			} else {
				s->failed++;
				s->why = errno;
			}
		}
		s->longest_turn = now() - t > s->longest_turn ? now() - t : s->longest_turn;
		nanosleep(&turn, NULL);
	}
}

/* --- receiving ------------------------------------------------------------------- */

static void take(struct flow *f, uint64_t number, uint64_t at)
{
	if (number >= NUMBERS)
		return;
	if (f->last_at && at > f->last_at && at - f->last_at > f->silence)
		f->silence = at - f->last_at;
	f->last_at = at;
	if (seen[number / 8] >> number % 8 & 1) {
		f->doubled++;
		return;
	}
	seen[number / 8] |= (uint8_t)(1u << number % 8);
	f->received++;
	if (number < f->highest)
		f->reordered++;
	else
		f->highest = number;
}

static void take_message(struct flow *f, struct mmsghdr *m, const char *data)
{
	uint64_t number, at = 0;
	struct timespec t;
	uint32_t drops;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m->msg_hdr); c; c = CMSG_NXTHDR(&m->msg_hdr, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&t, CMSG_DATA(c), sizeof(t));
			at = ns_of(&t);
		} else if (c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&drops, CMSG_DATA(c), sizeof(drops));
			f->overflowed = drops;
		}
	}
	if (m->msg_len < sizeof(number))
		return;
	memcpy(&number, data, sizeof(number));
	take(f, number, at);
}

/* Return: true if a datagram has arrived */
static bool receive_batch(int fd, struct flow *f)
{
	int got;

	for (int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec) { buf[i], MAX };
		mm[i].msg_hdr = (struct msghdr) {
			.msg_iov = &iov[i], .msg_iovlen = 1,
			.msg_control = control[i], .msg_controllen = sizeof(control[i]),
		};
	}
	got = recvmmsg(fd, mm, BATCH, MSG_DONTWAIT, NULL);
	for (int i = 0; i < got; i++)
		take_message(f, &mm[i], buf[i]);
	return got > 0;
}

/*
 * Receives until the process @sender has ended, and then for @patience more seconds after the last
 * datagram, or LINGER if none is missing. Looks at the time before the socket: whatever arrived
 * before the end is received.
 */
static void receive(int fd, struct flow *f, const struct sent *s, pid_t sender, double patience)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t wait = (uint64_t)(patience * 1e9), last = now(), t = last;
	bool ended = false;
	int status;

	while (!ended || t < last + (f->received == s->number ? LINGER : wait)) {
		poll(&p, 1, 100);
		t = now();
		while (receive_batch(fd, f))
			last = t;
		if (!ended && waitpid(sender, &status, WNOHANG) == sender) {
			if (status) {
				fprintf(stderr, "udp_flow: the sender failed\n");
				exit(2);
			}
			ended = true;
			last = now();
		}
	}
}

/* --- output ---------------------------------------------------------------------- */

static bool is_seen(uint64_t number)
{
	return seen[number / 8] >> number % 8 & 1;
}

static void print_missing(uint64_t end)
{
	uint64_t first, i = 0;
	int ranges = 0;

	printf("\"missing\":[");
	while (i < end && ranges < RANGES) {
		if (is_seen(i)) {
			i++;
			continue;
		}
		for (first = i; i < end && !is_seen(i); i++)
			;
		printf("%s[%llu,%llu]", ranges++ ? "," : "", (unsigned long long)first,
		       (unsigned long long)i - 1);
	}
	printf("]");
}

static void print_flow(const struct sent *s, const struct flow *f)
{
	printf("{\"sent\":%llu,\"failed\":%llu,\"error\":\"%s\",\"longest_turn_ms\":%.1f,",
	       (unsigned long long)s->number, (unsigned long long)s->failed,
	       s->why ? strerror(s->why) : "", (double)s->longest_turn / 1e6);
	printf("\"received\":%llu,\"doubled\":%llu,\"reordered\":%llu,\"overflowed\":%llu,"
	       "\"silence_ms\":%.1f,", (unsigned long long)f->received,
	       (unsigned long long)f->doubled, (unsigned long long)f->reordered,
	       (unsigned long long)f->overflowed, (double)f->silence / 1e6);
	print_missing(s->number);
	printf("}\n");
}

/* --- sockets --------------------------------------------------------------------- */

/* Opens a socket in a namespace: a socket stays in the namespace in which it was made. */
static int open_socket(const char *netns)
{
	char path[256];
	int ns, fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET) < 0) {
		perror(path);
		exit(2);
	}
	close(ns);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0) {
		perror("udp_flow");
		exit(2);
	}
	return fd;
}

static void open_flow(char **argv, const struct sockaddr_in *at, int *from, int *to)
{
	int bytes = BUFFER, on = 1;

	*to = open_socket(argv[2]);
	setsockopt(*to, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	setsockopt(*to, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
	*from = open_socket(argv[1]);
	if (setsockopt(*to, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(*to, (const struct sockaddr *)at, sizeof(*at)) ||
	    connect(*from, (const struct sockaddr *)at, sizeof(*at))) {
		perror("udp_flow");
		exit(2);
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: udp_flow FROM TO ADDRESS BYTES RATE SECONDS PATIENCE\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	static struct flow flow;
	struct sent *sent;
	int from, to;
	pid_t sender;

	if (argc != 8 || inet_pton(AF_INET, argv[3], &at.sin_addr) != 1 ||
	    atoi(argv[4]) < (int)sizeof(uint64_t) || atoi(argv[4]) > MAX || atof(argv[5]) <= 0)
		return usage();
	open_flow(argv, &at, &from, &to);
	sent = mmap(NULL, sizeof(*sent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sender = sent == MAP_FAILED ? -1 : fork();
	if (sender < 0) {
		perror("udp_flow");
		return 2;
	}
	if (!sender) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		transmit(sent, from, (size_t)atoi(argv[4]), atof(argv[5]), atof(argv[6]));
		_exit(0);
	}
	receive(to, &flow, sent, sender, atof(argv[7]));
	print_flow(sent, &flow);
	return 0;
}

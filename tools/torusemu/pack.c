// SPDX-License-Identifier: GPL-2.0-only
#include "pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu.h"
#include "lib/util/times.h"
#include "log.h"
#include "make.h"
#include "sock.h"

#define REQUEST_MAX	8192
#define WORDS_MAX	128

/** struct visitor - a connection to the socket of the pack */
struct visitor {
	struct watch watch;
	struct pack *pack;
	struct visitor *next;
};

/* --- requests ------------------------------------------------------------- */

/**
 * struct request - a request to the pack
 * @word: words of the request, in the form of argv of main()
 * @why: buffer for the text of an error
 */
struct request {
	struct chassis *chassis;
	char *word[WORDS_MAX + 1];
	int n;
	char why[ARGS_WHY_MAX];
};

static struct emu *find_nic(const struct chassis *c, const char *name)
{
	struct emu *e = c->nics;

	while (e && strcmp(e->soft.hw.name, name))
		e = e->next;
	return e;
}

static bool add_nic_request(struct request *r)
{
	struct args args;
	int what = args_parse(&args, r->n, r->word, r->why, sizeof(r->why));

	if (what < 0)
		return false;
	if (what != ARGS_RUN || args.pack)
		snprintf(r->why, sizeof(r->why), "add: the options are those of one NIC");
	else if (find_nic(r->chassis, args.name))
		snprintf(r->why, sizeof(r->why), "--name '%s': the pack has a NIC of this name",
			 args.name);
	else
		return make_nic(r->chassis, &args, r->why, sizeof(r->why));
	return false;
}

static bool kill_request(struct request *r)
{
	struct emu *e = find_nic(r->chassis, r->word[1]);

	if (e)
		kill_nic(e);
	else
		snprintf(r->why, sizeof(r->why), "kill: there is no NIC '%.64s'", r->word[1]);
	return e;
}

static bool cut_or_mend(struct request *r, bool cut)
{
	const char *name = r->word[1];
	int err = *name == ':' && strlen(name) < IFNAMSIZ ? 0 : -EINVAL;

	err = err ? err : cable_cut(r->chassis, name, cut);
	if (err)
		snprintf(r->why, sizeof(r->why), "%s '%.64s': %s", r->word[0], name,
			 err == -EINVAL ? "the name of a cable is ':' and 1 to 14 bytes" :
					  strerror(-err));
	return !err;
}

static bool cut_request(struct request *r)
{
	return cut_or_mend(r, true);
}

static bool mend_request(struct request *r)
{
	return cut_or_mend(r, false);
}

static bool run_verb(struct request *r)
{
	static const struct {
		const char *word;
		bool (*run)(struct request *r);
		bool has_one;		/* the request has exactly one argument */
	} verbs[] = {
		{ "add", add_nic_request, false }, { "kill", kill_request, true },
		{ "cut", cut_request, true }, { "mend", mend_request, true },
	};
	const char *word = r->n ? r->word[0] : "";

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(word, verbs[i].word))
			continue;
		if (!verbs[i].has_one || r->n == 2)
			return verbs[i].run(r);
		snprintf(r->why, sizeof(r->why), "%s: takes one argument", word);
		return false;
	}
	snprintf(r->why, sizeof(r->why), "'%.64s': must be add, kill, cut or mend", word);
	return false;
}

/* Splits a request into words; each ends with a NUL. Return: false if it is malformed. */
static bool split_words(struct request *r, char *text, size_t len)
{
	if (!len || text[len - 1])
		return false;
	for (char *p = text; p < text + len; p += strlen(p) + 1) {
		if (r->n == WORDS_MAX)
			return false;
		r->word[r->n++] = p;
	}
	return true;
}

static void answer_visitor(struct pack *pack, int fd, char *text, size_t len)
{
	struct request r = { .chassis = pack->chassis };
	const char *answer = r.why;

	if (!split_words(&r, text, len))
		answer = "a request is words that end with a NUL each, 128 at most";
	else if (run_verb(&r))
		answer = "ok";
	if (send(fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_warn("pack", "a client did not take its answer: %s", strerror(errno));
}

/* --- the socket ----------------------------------------------------------- */

static void remove_visitor(struct visitor *v)
{
	struct visitor **at = &v->pack->visitors;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	loop_del(&v->pack->chassis->loop, &v->watch);
	free(v);
}

static void visitor_ready(struct watch *w, u32 events)
{
	struct visitor *v = container_of(w, struct visitor, watch);
	char text[REQUEST_MAX];
	ssize_t n = recv(w->fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC);

	(void)events;
	if (n > 0)
		answer_visitor(v->pack, w->fd, text, (size_t)n > sizeof(text) ? 0 : (size_t)n);
	else if (!n || (errno != EAGAIN && errno != EINTR))
		remove_visitor(v);
}

static void listener_ready(struct watch *w, u32 events)
{
	struct pack *pack = container_of(w, struct pack, listener);
	struct visitor *v;
	int fd = sock_accept(w->fd);

	(void)events;
	if (fd < 0)
		return;
	v = calloc(1, sizeof(*v));
	if (!v || loop_add(&pack->chassis->loop, &v->watch, fd, EPOLLIN, visitor_ready)) {
		free(v);
		close(fd);
		return;
	}
	v->pack = pack;
	v->next = pack->visitors;
	pack->visitors = v;
}

int pack_open(struct pack *pack, struct chassis *c, const char *path)
{
	int fd = sock_listen(path), err;

	*pack = (struct pack) { .chassis = c, .listener.fd = -1 };
	if (fd < 0)
		return fd;
	err = loop_add(&c->loop, &pack->listener, fd, EPOLLIN, listener_ready);
	if (err)
		close(fd);
	else
		pack->path = path;
	return err;
}

void pack_close(struct pack *pack)
{
	while (pack->visitors)
		remove_visitor(pack->visitors);
	while (pack->chassis->nics)
		kill_nic(pack->chassis->nics);
	loop_del(&pack->chassis->loop, &pack->listener);
	if (pack->path)
		unlink(pack->path);
}

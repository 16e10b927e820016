// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "series.h"
#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/jobs.h"

/* Needed by jobs_run(), which prints its progress under this name. */
const struct program this_program = { .name = "series" };

struct run {
	const struct series *s;
	const char *program;
	uint64_t first;
	atomic_uint reported;
	atomic_uint failed;
};

static _Thread_local uint64_t playing;

/* Return: the state of the random generator for a seed, unrelated to that of any other seed. */
static uint64_t stream_of(uint64_t seed)
{
	return random_next(&(uint64_t){ seed * 0xd1342543de82ef95ULL });
}

/* Reports which seed was playing when the program crashed. This is a signal handler. */
static void fell(int sig)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "not ok - seed %" PRIu64 " ends by signal %d\n",
			 playing, sig);

	signal(sig, SIG_DFL);
	if (write(STDOUT_FILENO, text, (size_t)n) == n)
		raise(sig);
	_exit(1);
}

static void play(struct run *r, const struct origin *o)
{
	char wrong[400] = "";

	playing = o->seed;
	if (r->s->history(o, wrong, sizeof(wrong))) {
		if (!o->name)
			return;
		atomic_fetch_add(&r->reported, 1);
		printf("ok - %s: %s\n", r->s->name, o->name);
		return;
	}
	atomic_fetch_add(&r->reported, 1);
	atomic_fetch_add(&r->failed, 1);
	if (o->name)
		printf("not ok - %s: %s: %s\n# the error that it once found: %s\n# replay: %s %s\n",
		       r->s->name, o->name, wrong, o->found, r->program, o->name);
	else
		printf("not ok - %s: seed %" PRIu64 ": %s\n# replay: %s %" PRIu64 "\n", r->s->name,
		       o->seed, wrong, r->program, o->seed);
	fflush(stdout);
}

static int play_named(void *arg, size_t i)
{
	struct run *r = arg;
	struct origin o = r->s->named[i];

	if (!o.stream)
		o.stream = stream_of(o.seed);
	play(r, &o);
	return 0;
}

/*
 * Plays the history of a seed. Every fourth history is crowded (struct origin); the others take a
 * third of its time.
 */
static int play_seed(void *arg, size_t i)
{
	struct run *r = arg;
	struct origin o = {
		.seed = r->first + i,
		.stream = stream_of(r->first + i),
		.crowded = (r->first + i) % 4 == 0,
	};

	play(r, &o);
	return 0;
}

static bool number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int usage(const struct series *s, const char *program, const char *wrong)
{
	fprintf(stderr, "%s: '%s' is neither a number nor a name\nusage: %s [FIRST [COUNT] | NAME]\n",
		program, wrong, program);
	for (size_t i = 0; i < s->nnamed; i++)
		fprintf(stderr, "  %s: %s\n", s->named[i].name, s->named[i].found);
	return 2;
}

static bool one_named(struct run *r, const char *name)
{
	for (size_t i = 0; i < r->s->nnamed; i++) {
		if (strcmp(r->s->named[i].name, name))
			continue;
		play_named(r, i);
		return true;
	}
	return false;
}

/* Installs the signal handler, unless a sanitizer has one. */
static void mind(int sig)
{
	struct sigaction was, ours = { .sa_handler = fell };

	if (!sigaction(sig, NULL, &was) && was.sa_handler == SIG_DFL)
		sigaction(sig, &ours, NULL);
}

/*
 * Return: how many histories of a series are played: all, or with sanitizers a share, at most 100.
 */
static uint64_t share_of(uint64_t count)
{
	uint64_t share = (count + trial_every() - 1) / trial_every();

	return trial_every() > 1 && share > 100 ? 100 : share;
}

/* Checks what the histories of a whole run have met. */
static void check_met(struct run *r)
{
	char wrong[400] = "";

	if (!r->s->met_all || trial_every() > 1)
		return;
	atomic_fetch_add(&r->reported, 1);
	if (r->s->met_all(wrong, sizeof(wrong))) {
		printf("ok - %s: all that they are to meet was met\n", r->s->name);
		return;
	}
	atomic_fetch_add(&r->failed, 1);
	printf("not ok - %s: not all was met: %s\n", r->s->name, wrong);
}

int series_main(const struct series *s, int argc, char **argv)
{
	const char *jobs = getenv("JOBS"), *first = getenv("FIRST");
	unsigned int threads = jobs ? (unsigned int)strtoul(jobs, NULL, 10) : 1;
	struct run r = { .s = s, .program = argv[0], .first = 1 };
	uint64_t count = argc > 1 ? 1 : share_of(s->count);

	mind(SIGABRT);
	mind(SIGSEGV);
	mind(SIGFPE);
	if (argc > 1 && one_named(&r, argv[1]))
		return r.failed > 0;
	for (int i = 1; i < argc; i++)
		if (i > 2 || !number(argv[i], i == 1 ? &r.first : &count))
			return usage(s, argv[0], argv[i]);
	if (argc == 1 && first && !number(first, &r.first)) {
		fprintf(stderr, "%s: FIRST '%s': must be a number\n", argv[0], first);
		return 2;
	}
	if (argc == 1)
		jobs_run(s->nnamed, threads, s->name, play_named, &r);
	jobs_run(count, threads, s->name, play_seed, &r);
	if (argc == 1)
		check_met(&r);
	if (!r.failed)
		printf("ok - %s: seeds %" PRIu64 " to %" PRIu64 "\n", s->name, r.first,
		       r.first + count - 1);
	printf("1..%u\n", r.reported + !r.failed);
	return r.failed > 0;
}

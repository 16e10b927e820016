// SPDX-License-Identifier: GPL-2.0-only
/*
 * For each question the program runs as "PROGRAM claim EPOCH GUID" and writes its answer as a line
 * to its standard output. The daemon does not wait for the program. The program runs in a process
 * group of its own. The daemon kills the group when the program's time is over or when the next
 * question comes. When the program exits, its answer is complete, and the other processes of its
 * group are killed.
 *
 * The answer is "unknown", with the reason, if the program cannot be started, ends by a signal or
 * with a status other than 0, or gives no valid answer in time. This is the only file of the daemon
 * that starts processes.
 */
#include "daemon/arbiter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/log.h"
#include "lib/util/units.h"

#define ANSWER_MAX	256	/* most bytes of an answer */

/**
 * struct arbiter - the program of the arbiter
 * @pid: process id of the running program; 0: it does not run
 * @out: descriptor of its output, or -1
 * @failed: errno with which the start of the program failed; 0: it did not fail
 * @timer: fires when the answer is late, or to report that the program could not be started
 */
struct arbiter {
	struct loop *loop;
	struct loop_signal *child;
	struct loop_timer *timer;
	char *program;
	char *fabric;
	uint64_t max;
	void (*answered)(void *arg, const struct arbiter_answer *answer);
	void *arg;
	uint64_t epoch;
	pid_t pid;
	int out, failed;
};

/* --- the program's answer --------------------------------------------------------------- */

/* Copies as much of the first line of @from as fits; bytes that are not ASCII become '?'. */
static void put_claim_text(char *to, size_t room, const char *from, size_t len)
{
	size_t n = 0;

	for (; n < len && n + 1 < room && from[n] != '\n'; n++)
		to[n] = from[n] < ' ' || from[n] > '~' ? '?' : from[n];
	to[n] = '\0';
}

/* Return: the text after @word and blanks; NULL if @text does not begin with @word. */
static const char *skip_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(text, word, n) || (text[n] && text[n] != ' '))
		return NULL;
	return text + n + strspn(text + n, " ");
}

/* Reads the epoch, which the program may add after "refused". Return: the text after the epoch. */
static const char *take_epoch(const char *text, uint64_t *epoch)
{
	size_t n = strcspn(text, " ");
	char digits[24];

	if (n >= sizeof(digits))
		return text;
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (number_parse(digits, 0, UINT64_MAX, epoch)) {
		*epoch = 0;
		return text;
	}
	return text + n + strspn(text + n, " ");
}

/* Parses the answer in @text, the @len bytes that the program has written. */
static void read_answer(struct arbiter_answer *out, const char *text, size_t len)
{
	char line[ANSWER_MAX + 1];
	const char *rest;

	out->verdict = FM_UNKNOWN;
	out->high = 0;
	put_claim_text(line, sizeof(line), text, len);
	if ((rest = skip_word(line, "granted")) && !*rest) {
		out->verdict = FM_GRANTED;
		out->why[0] = '\0';
	} else if ((rest = skip_word(line, "refused"))) {
		out->verdict = FM_REFUSED;
		rest = take_epoch(rest, &out->high);
		snprintf(out->why, sizeof(out->why), "%s", *rest ? rest : "it gave no reason");
	} else if ((rest = skip_word(line, "unknown"))) {
		snprintf(out->why, sizeof(out->why), "%s", *rest ? rest : "it does not know");
	} else if (*line) {
		snprintf(out->why, sizeof(out->why), "it answered '%.60s'", line);
	} else {
		snprintf(out->why, sizeof(out->why), "it gave no answer");
	}
}

/* --- the program ------------------------------------------------------------------------ */

static void forget_program(struct arbiter *a)
{
	if (a->out >= 0)
		close(a->out);
	a->out = -1;
	a->pid = 0;
	a->failed = 0;
	loop_timer_set(a->timer, LOOP_NEVER);
}

/* Kills the program and its group; on_child() reaps it. */
static void kill_program(struct arbiter *a)
{
	if (a->pid)
		kill(-a->pid, SIGKILL);
	forget_program(a);
}

static void give_answer(struct arbiter *a, struct arbiter_answer *is)
{
	is->epoch = a->epoch;
	kill_program(a);
	a->answered(a->arg, is);
}

static void on_arbiter_timer(void *arg)
{
	struct arbiter *a = arg;
	struct arbiter_answer is = { .verdict = FM_UNKNOWN };

	if (a->failed)
		snprintf(is.why, sizeof(is.why), "%.60s: %s", a->program, strerror(a->failed));
	else
		snprintf(is.why, sizeof(is.why), "no answer within %llu ms",
			 (unsigned long long)(a->max / MS));
	give_answer(a, &is);
}

/* Passes on the answer after the program has ended with @status, a status of wait(). */
static void on_exit_status(struct arbiter *a, int status)
{
	struct arbiter_answer is = { .verdict = FM_UNKNOWN };
	char buf[ANSWER_MAX];
	ssize_t n = read(a->out, buf, sizeof(buf));

	if (n == 1 + sizeof(int) && !buf[0]) {
		memcpy(&a->failed, buf + 1, sizeof(int));
		on_arbiter_timer(a);
		return;
	}
	if (WIFSIGNALED(status))
		snprintf(is.why, sizeof(is.why), "it ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(is.why, sizeof(is.why), "it ended with status %d", WEXITSTATUS(status));
	else
		read_answer(&is, buf, n > 0 ? (size_t)n : 0);
	a->pid = 0;
	give_answer(a, &is);
}

static void on_child(void *arg)
{
	struct arbiter *a = arg;
	siginfo_t who = { .si_pid = 0 };
	int status;

	/*
	 * As long as the process is not reaped, no other process group can get its number, so the
	 * signal can only reach processes that are left in its group.
	 */
	while (!waitid(P_ALL, 0, &who, WEXITED | WNOHANG | WNOWAIT) && who.si_pid) {
		kill(-who.si_pid, SIGKILL);
		if (waitpid(who.si_pid, &status, 0) == a->pid && a->pid)
			on_exit_status(a, status);
		who.si_pid = 0;
	}
}

/* Runs in the child, where only functions safe in a signal handler may be called; never returns. */
static void become_arbiter(const struct arbiter *a, char *const argv[], char *const env[], int out)
{
	int null = open("/dev/null", O_RDONLY), err;
	char buf[1 + sizeof(int)] = { 0 };
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1) {
		close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
		execve(a->program, argv, env);
	}
	err = errno;
	memcpy(buf + 1, &err, sizeof(err));
	if (write(out, buf, sizeof(buf)) < 0)
		_exit(126);
	_exit(127);
}

static int start_program(struct arbiter *a, uint64_t epoch, uint64_t guid)
{
	char number[24], name[20], fabric[TORUS_NAME_MAX + 20];
	char claim[] = "claim", path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
	     locale[] = "LC_ALL=C.UTF-8";
	char *const argv[] = { a->program, claim, number, name, NULL };
	char *const env[] = { path, locale, fabric, NULL };
	int pipe[2];

	snprintf(number, sizeof(number), "%" PRIu64, epoch);
	snprintf(name, sizeof(name), "%016" PRIx64, guid);
	snprintf(fabric, sizeof(fabric), "TORUS_FABRIC=%s", a->fabric);
	if (pipe2(pipe, O_CLOEXEC))
		return errno;
	fcntl(pipe[0], F_SETFL, O_NONBLOCK);
	a->pid = fork();
	if (!a->pid)
		become_arbiter(a, argv, env, pipe[1]);
	close(pipe[1]);
	if (a->pid < 0) {
		a->pid = 0;
		close(pipe[0]);
		return errno;
	}
	/*
	 * Parent and child both set the process group, so the parent can kill the group at any
	 * time.
	 */
	setpgid(a->pid, a->pid);
	a->out = pipe[0];
	return 0;
}

/* --- questions ----------------------------------------------------------------------------- */

void arbiter_ask(struct arbiter *a, uint64_t epoch, uint64_t guid)
{
	kill_program(a);
	a->epoch = epoch;
	a->failed = start_program(a, epoch, guid);
	loop_timer_set(a->timer, loop_now() + (a->failed ? 0 : a->max));
}

struct arbiter *arbiter_new(struct loop *loop, const char *program, const char *fabric,
			    uint64_t max,
			    void (*answered)(void *arg, const struct arbiter_answer *answer),
			    void *arg)
{
	struct arbiter *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	*a = (struct arbiter) { .loop = loop, .max = max, .answered = answered, .arg = arg,
				.out = -1 };
	a->program = strdup(program);
	a->fabric = strdup(fabric);
	a->child = loop_signal_new(loop, SIGCHLD, on_child, a);
	a->timer = loop_timer_new(loop, on_arbiter_timer, a);
	if (!a->program || !a->fabric || !a->child || !a->timer) {
		arbiter_free(a);
		return NULL;
	}
	if (access(program, X_OK))
		log_error("arbiter", "%s: %s", program, strerror(errno));
	return a;
}

void arbiter_free(struct arbiter *a)
{
	if (!a)
		return;
	if (a->timer)
		kill_program(a);
	loop_signal_free(a->child);
	loop_timer_free(a->timer);
	free(a->program);
	free(a->fabric);
	free(a);
}

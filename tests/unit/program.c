// SPDX-License-Identifier: GPL-2.0-only
#include <libgen.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/program.h"

#define WORDS_MAX 63

char program[PATH_MAX];
char out[1 << 21], err[1 << 16];

void program_is(const char *self, const char *name)
{
	char path[PATH_MAX];

	signal(SIGPIPE, SIG_IGN);
	snprintf(path, sizeof(path), "%s", self);
	snprintf(program, sizeof(program), "%.4000s/../../%.64s", dirname(path), name);
}

static void slurp(FILE *f, char *buf, size_t size)
{
	size_t n;

	rewind(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	fclose(f);
}

int run(const char *args)
{
	char copy[1024], *argv[WORDS_MAX + 1] = { program };
	FILE *o = tmpfile(), *e = tmpfile();
	int n = 1, status;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", args);
	for (char *p = strtok(copy, " "); p && n < WORDS_MAX; p = strtok(NULL, " "))
		argv[n++] = p;
	argv[n] = NULL;
	pid = fork();
	if (pid == 0) {
		dup2(fileno(o), 1);
		dup2(fileno(e), 2);
		setenv("LC_ALL", "C", 1);
		unsetenv("TORUS_LAB");
		execv(program, argv);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	slurp(o, out, sizeof(out));
	slurp(e, err, sizeof(err));
	if (strstr(err, "Sanitizer") || strstr(err, "runtime error"))
		fail_msg("%s %s:\n%s", program, args, err);
	if (!WIFEXITED(status))
		fail_msg("%s %s: died of signal %d\n%s", program, args, WTERMSIG(status), err);
	return WEXITSTATUS(status);
}

void expect(const char *args, int status)
{
	int got = run(args);

	if (got != status)
		fail_msg("%s %s: exit status %d, not %d\n%s%s", program, args, got, status, out,
			 err);
}

void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("nothing of '%s' in:\n%s", what, text);
}

json_t *printed(void)
{
	json_t *j = json_loads(out, 0, NULL);

	if (!j)
		fail_msg("no JSON: %s", out);
	return j;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Runs a command line: help, families of commands, --watch, the exit status. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "output.h"

static int print_help(void)
{
	printf("usage: %s COMMAND [OPTION...] [ARGUMENT...]\n\n%s\n", this_program.name,
	       this_program.help);
	for (const struct family *f = this_program.family; f->name; f++) {
		printf("\n%s:\n", f->title);
		command_list(f->name);
	}
	printf("\n'%s COMMAND --help' says more, and so does %s\nexit status: %s\n",
	       this_program.name, this_program.manual, this_program.status);
	return OK;
}

static int family_help(const struct family *f)
{
	printf("usage: %s %s COMMAND [OPTION...] [ARGUMENT...]\n\n%s\n\n", this_program.name,
	       f->name, f->help);
	command_list(f->name);
	return OK;
}

static const struct family *family_find(const char *name)
{
	const struct family *f = this_program.family + 1;

	while (f->name && strcmp(f->name, name))
		f++;
	return f->name ? f : NULL;
}

/*
 * Return: true if the reader of the pipe has closed it, which is not an error: "fabricctl links |
 * head".
 */
static bool reader_left(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

/* Return: true if the command cannot succeed later either; then --watch ends. */
static bool has_status_failed(int status)
{
	return status == CANNOT || status >= DENIED;
}

/* With --json, prints a failure as JSON, too. Return: @status */
static int judge_command(const struct ctl *ctl, int status)
{
	if (ctl->json && status != OK && this_program.failed)
		this_program.failed(status);
	return status;
}

static int run_once(const struct command *cmd, struct ctl *ctl, int argc, char **argv)
{
	if (ctl->again && ctl->json && this_program.failed)
		this_program.failed(OK);
	return judge_command(ctl, cmd->run(ctl, argc, argv));
}

/* Repeats the command until it fails, or the user ends it. Return: the status of the last run. */
static int watch_command(const struct command *cmd, struct ctl *ctl, int argc, char **argv)
{
	struct timespec pause = {
		.tv_sec = (time_t)ctl->interval,
		.tv_nsec = (long)((ctl->interval - (double)(time_t)ctl->interval) * 1e9),
	};
	int status;

	for (;;) {
		if (!ctl->json && *paint(PLAIN))
			fputs("\033[H\033[2J", stdout);
		status = run_once(cmd, ctl, argc, argv);
		if (!ctl->json && !*paint(PLAIN))
			putchar('\n');
		fflush(stdout);
		if ((has_status_failed(status) && !ctl->again) || ferror(stdout) || reader_left())
			return status;
		ctl->again = true;
		nanosleep(&pause, NULL);
	}
}

static int run_command(const struct command *cmd, int argc, char **argv)
{
	struct ctl ctl = { .seed = 1 };
	int first = command_parse(cmd, &ctl, argc, argv);

	if (first < 0)
		return judge_command(&ctl, -1 - first);
	if (ctl.watch)
		return watch_command(cmd, &ctl, argc - first, argv + first);
	return run_once(cmd, &ctl, argc - first, argv + first);
}

static bool is_either(const char *arg, const char *a, const char *b)
{
	return !strcmp(arg, a) || !strcmp(arg, b);
}

static bool asks_help(const char *arg)
{
	return is_either(arg, "--help", "-h") || !strcmp(arg, "help");
}

/* Shows the help of a command: "help lab up" means "lab up --help". */
static int help_about(int argc, char **argv)
{
	const struct family *family = family_find(argv[0]);
	const struct command *cmd;

	if (family && argc == 1)
		return family_help(family);
	cmd = command_find(family ? family->name : "", argv[family ? 1 : 0]);
	if (!cmd)
		return CANNOT;
	command_help(cmd);
	return OK;
}

static int dispatch_command(int argc, char **argv)
{
	const struct family *family;
	const struct command *cmd;

	if (argc < 2) {
		print_help();
		return CANNOT;
	}
	if (asks_help(argv[1]))
		return argc > 2 ? help_about(argc - 2, argv + 2) : print_help();
	if (is_either(argv[1], "--version", "-V")) {
		printf("%s %s\n", this_program.name, TORUS_VERSION);
		return OK;
	}
	family = family_find(argv[1]);
	if (family) {
		argc--;
		argv++;
		if (argc < 2) {
			family_help(family);
			return CANNOT;
		}
		if (asks_help(argv[1]) && argc == 2)
			return family_help(family);
		if (asks_help(argv[1])) {
			/* "lab help up" means "lab up --help", as "help lab up" does */
			argv[1] = argv[0];
			return help_about(argc - 1, argv + 1);
		}
	}
	cmd = command_find(family ? family->name : "", argv[1]);
	return cmd ? run_command(cmd, argc - 1, argv + 1) : CANNOT;
}

int program_run(int argc, char **argv)
{
	int status;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	status = dispatch_command(argc, argv);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && !reader_left())
		return fail("cannot write to standard output%s%s", errno ? ": " : "",
			    errno ? strerror(errno) : "");
	return status;
}

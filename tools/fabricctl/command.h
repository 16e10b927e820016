/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command of fabricctl or fabricsim is one file that ends with a COMMAND()
 * entry. The entries lie in a linker section, in the order of the files in
 * files.mk, which is the order of the help. What differs between the two programs
 * stands in struct program, in the main.c of each.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit status of every command, but for "lab exec", which passes its own on. */
enum status {
	OK = 0,
	PROBLEM = 1,		/* the fabric has a problem */
	CANNOT = 2,		/* usage, or this machine cannot do it */
	NOT_KEPT = 3,		/* a warning: done, or working, but with less than there should be */
	DENIED = 4,		/* not allowed to this user */
	UNREACHABLE = 5,	/* no manager, NIC or node there that could answer */
	TIMEOUT = 6,		/* no answer in time, or not what was waited for */
};

/** struct family - commands of two words; the first, name "", has those of one */
struct family {
	const char *name;
	const char *title;	/* over its commands in the program's help */
	const char *help;	/* over them in its own help */
};

/**
 * struct program - whose commands these are
 * @name: what it is called
 * @help: about its arguments, over the list of commands
 * @manual: where more is said: "fabricctl(8)"
 * @status: what its exit statuses mean
 * @family: its families, ended by one without a name
 * @failed: called after a command with --json that has not status 0, and with OK before the next
 *	look of --watch; or NULL
 */
struct program {
	const char *name;
	const char *help;
	const char *manual;
	const char *status;
	const struct family *family;
	void (*failed)(int status);
};

extern const struct program this_program;

/** program_run() - does what the command line says. Return: the exit status */
int program_run(int argc, char **argv);

/** struct ctl - what the user asked of every command alike */
struct ctl {
	const char *control;	/* --control */
	const char *lab;	/* --lab */
	const char *node;	/* --node */
	double timeout;		/* --timeout, in seconds; 0: as usual */
	const char *svg;	/* --svg */
	uint64_t seed;		/* --seed */
	bool csv;		/* --csv */
	bool full;		/* --json=full */
	bool names;		/* --names */
	bool json;		/* --json */
	bool watch;		/* --watch */
	double interval;	/* seconds between two looks of --watch */
	bool again;		/* a second or later look of --watch */
};

enum opt_kind {
	OPT_END,
	OPT_FLAG,		/* bool */
	OPT_TEXT,		/* const char * */
	OPT_LIST,		/* const char *[OPT_LIST_MAX], may be given again */
	OPT_NUMBER,		/* uint64_t, min to max */
};

#define OPT_LIST_MAX 16		/* with the NULL at the end */

/** struct opt - one option of a command, parsed into @to */
struct opt {
	enum opt_kind kind;
	const char *name;
	char letter;
	const char *arg;	/* name of its value */
	void *to;
	uint64_t min, max;
	const char *help;
};

#define ANY_ARGS (-1)

/**
 * struct command - one command
 * @family: "lab", or NULL
 * @args: its arguments, as help shows them
 * @brief: a line for the list
 * @help: the rest of its help
 * @opts: its own options, ended by OPT_END, or NULL
 * @min, @max: number of arguments; @max may be ANY_ARGS
 * @asks: questions fabricd: --control, --lab, --node, --timeout
 * @in_lab: works on a lab: --name
 * @json, @watch: has these options
 * @simulates: has --csv, --svg and --seed
 * @rest: options end at the first argument: the rest is somebody else's command
 * @run: returns an exit status
 */
struct command {
	const char *family;
	const char *name;
	const char *args;
	const char *brief;
	const char *help;
	const struct opt *opts;
	int min, max;
	bool asks;
	bool in_lab;
	bool json;
	bool watch;
	bool simulates;
	bool rest;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

/** COMMAND() - @run is the function's name */
#define COMMAND(run) \
	static const struct command run##_command; \
	static const struct command *const run##_entry \
		__attribute__((used, section("ctl_commands"))) = &run##_command; \
	static const struct command run##_command

extern const struct command *const __start_ctl_commands[];
extern const struct command *const __stop_ctl_commands[];

#define for_each_command(p) \
	for (p = __start_ctl_commands; p < __stop_ctl_commands; p++)

/** command_help() - what it does, and its options */
void command_help(const struct command *cmd);
/** command_find() - NULL if there is none; says so, with the nearest names */
const struct command *command_find(const char *family, const char *name);

/**
 * command_parse() - options and number of arguments of @cmd
 * Return: index of the first argument, or -1 - status when all is said.
 */
int command_parse(const struct command *cmd, struct ctl *ctl, int argc, char **argv);

/** command_list() - the commands of a family, or all if @family is "" */
void command_list(const char *family);

#endif /* COMMAND_H */

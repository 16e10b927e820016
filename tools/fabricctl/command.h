/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command of fabricctl or fabricsim is one file that ends with a COMMAND() entry. The entries lie
 * in a linker section, in the order of the files in files.mk, which is also the order of the help.
 * struct program, in the main.c of each program, has the differences between the two programs.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Exit status of all commands except "lab exec", which exits with the status of the command that it
 * runs.
 */
enum status {
	OK = 0,
	PROBLEM = 1,		/* the fabric has a problem */
	CANNOT = 2,		/* wrong usage, or this machine cannot do it */
	NOT_KEPT = 3,		/* a warning: the command was done, or the fabric works, but with
				 * a restriction */
	DENIED = 4,		/* this user is not allowed to do it */
	UNREACHABLE = 5,	/* no manager, NIC or node could answer */
	TIMEOUT = 6,		/* no answer in time, or a condition was not reached in time */
};

/** struct family - a family of commands of two words; the first, "", has those of one word */
struct family {
	const char *name;
	const char *title;	/* heading of its commands in the program's help */
	const char *help;	/* heading of these commands in the family's own help */
};

/**
 * struct program - a program with commands
 * @name: name of the program
 * @help: text about its arguments, above the list of commands
 * @manual: man page of the program: "fabricctl(8)"
 * @status: text about its exit statuses
 * @family: families of the program's commands, ended by an entry without a name
 * @failed: called after a command with --json that failed, with its status, and with OK before the
 *	next run of --watch; or NULL
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

/** program_run() - run the command line. Return: the exit status */
int program_run(int argc, char **argv);

/** struct ctl - options that commands have in common */
struct ctl {
	const char *control;	/* --control */
	const char *lab;	/* --lab */
	const char *node;	/* --node */
	double timeout;		/* --timeout, in seconds; 0: the default */
	const char *svg;	/* --svg */
	uint64_t seed;		/* --seed */
	bool csv;		/* --csv */
	bool full;		/* --json=full */
	bool names;		/* --names */
	bool json;		/* --json */
	bool watch;		/* --watch */
	double interval;	/* seconds between two runs of --watch */
	bool again;		/* a second or later run of --watch */
};

enum opt_kind {
	OPT_END,
	OPT_FLAG,		/* bool */
	OPT_TEXT,		/* const char * */
	OPT_LIST,		/* const char *[OPT_LIST_MAX]; the option may be given several
				 * times */
	OPT_NUMBER,		/* uint64_t, min to max */
};

#define OPT_LIST_MAX 16		/* including the NULL at the end */

/** struct opt - one option of a command; its value is stored in @to */
struct opt {
	enum opt_kind kind;
	const char *name;
	char letter;
	const char *arg;	/* name of the option's value, for the help */
	void *to;
	uint64_t min, max;
	const char *help;
};

#define ANY_ARGS (-1)

/**
 * struct command - one command
 * @family: "lab", or NULL
 * @args: arguments of the command, for the help
 * @brief: a line for the list of commands
 * @help: the rest of the command's help
 * @opts: options that only this command has, ended by OPT_END, or NULL
 * @min, @max: number of arguments; @max may be ANY_ARGS
 * @asks: the command sends requests to fabricd, so it has --control, --lab, --node, --timeout
 * @in_lab: the command works on a lab, so it has --name
 * @json, @watch: the command has these options
 * @simulates: the command has --csv, --svg and --seed
 * @rest: options end at the first argument; later options belong to a command to be run
 * @moments: arguments are times; "-2h" is the same as "2h", and no option
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
	bool moments;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

/** COMMAND() - define a command; @run: name of its function */
#define COMMAND(run) \
	static const struct command run##_command; \
	static const struct command *const run##_entry \
		__attribute__((used, section("ctl_commands"))) = &run##_command; \
	static const struct command run##_command

extern const struct command *const __start_ctl_commands[];
extern const struct command *const __stop_ctl_commands[];

#define for_each_command(p) \
	for (p = __start_ctl_commands; p < __stop_ctl_commands; p++)

/** command_help() - print what a command does, and its options */
void command_help(const struct command *cmd);
/**
 * command_find() - Return: a command; NULL if there is no such command, after printing similar
 * names
 */
const struct command *command_find(const char *family, const char *name);

/**
 * command_parse() - parse the options of @cmd, and check the number of its arguments
 * Return: index of the first argument; or -1 - STATUS if the program has to exit with STATUS.
 */
int command_parse(const struct command *cmd, struct ctl *ctl, int argc, char **argv);

/** command_list() - list the commands of a family; "": of all families */
void command_list(const char *family);

#endif /* COMMAND_H */

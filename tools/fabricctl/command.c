// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands: finding one, its options, its help. */
#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"
#include "output.h"

#define OPTS_MAX 40
#define DONE (-1)		/* result of option_take(): the help was printed, so the program
				 * exits with 0 */

static const struct opt ask_opts[] = {
	{ OPT_TEXT, "control", 0, "PATH", NULL, 0, 0,
	  "ask the manager that listens on this socket" },
	{ OPT_TEXT, "lab", 0, "NAME", NULL, 0, 0, "ask the lab of this name" },
	{ OPT_TEXT, "node", 0, "NODE", NULL, 0, 0, "ask this node of the lab, not its first" },
	{ OPT_FLAG, "names", 0, NULL, NULL, 0, 0, "show names of nodes in place of coordinates" },
	{ OPT_TEXT, "timeout", 't', "SECONDS", NULL, 0, 0,
	  "limit for each answer; default 3 for the first, then 10" },
	{ .kind = OPT_END },
};
static const struct opt lab_opts[] = {
	{ OPT_TEXT, "lab", 0, "NAME", NULL, 0, 0, "which lab, if there are several" },
	{ OPT_TEXT, "name", 0, "NAME", NULL, 0, 0, "the same as --lab" },
	{ .kind = OPT_END },
};
static const struct opt json_opts[] = {
	{ OPT_FLAG, "json", 'j', NULL, NULL, 0, 0, "machine-readable, one stable shape" },
	{ .kind = OPT_END },
};
static const struct opt answer_opts[] = {
	{ OPT_TEXT, "json", 'j', "[=full]", NULL, 0, 0,
	  "machine-readable, one stable shape; full: also which nodes did not answer" },
	{ .kind = OPT_END },
};
static const struct opt watch_opts[] = {
	{ OPT_TEXT, "watch", 'w', "[=SECONDS]", NULL, 0, 0,
	  "repeat every 2 seconds, or every SECONDS" },
	{ .kind = OPT_END },
};
static const struct opt sim_opts[] = {
	{ OPT_FLAG, "csv", 0, NULL, NULL, 0, 0,
	  "print comma-separated values, one line for each point" },
	{ OPT_TEXT, "svg", 0, "FILE", NULL, 0, 0, "draw the result into this file" },
	{ OPT_NUMBER, "seed", 0, "N", NULL, 0, UINT64_MAX,
	  "seed of all random numbers, default 1" },
	{ .kind = OPT_END },
};
static const struct opt help_opts[] = {
	{ OPT_FLAG, "help", 'h', NULL, NULL, 0, 0, "show this help" },
	{ .kind = OPT_END },
};

/* struct options - all options of a command, general ones last. */
struct options {
	const struct opt *opt[OPTS_MAX];
	int n;
};

static void add_options(struct options *o, const struct opt *more)
{
	for (; more && more->kind != OPT_END; more++) {
		assert(o->n < OPTS_MAX);
		o->opt[o->n++] = more;
	}
}

static void collect_options(const struct command *cmd, struct options *o)
{
	o->n = 0;
	add_options(o, cmd->opts);
	if (cmd->watch)
		add_options(o, watch_opts);
	if (cmd->json)
		add_options(o, cmd->asks ? answer_opts : json_opts);
	if (cmd->simulates)
		add_options(o, sim_opts);
	if (cmd->asks)
		add_options(o, ask_opts);
	if (cmd->in_lab)
		add_options(o, lab_opts);
	add_options(o, help_opts);
}

static const char *family_of(const struct command *cmd)
{
	return cmd->family ? cmd->family : "";
}

static void put_title(const struct command *cmd, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s%s", family_of(cmd), cmd->family ? " " : "", cmd->name);
}

void command_help(const struct command *cmd)
{
	struct options o;
	char name[64];

	collect_options(cmd, &o);
	put_title(cmd, name, sizeof(name));
	printf("usage: %s %s [OPTION...]%s%s\n\n%s.\n", this_program.name, name,
	       *cmd->args ? " " : "", cmd->args, cmd->brief);
	if (cmd->help)
		printf("\n%s\n", cmd->help);
	printf("\noptions:\n");
	for (int i = 0; i < o.n; i++) {
		const struct opt *opt = o.opt[i];
		bool maybe = opt->arg && opt->arg[0] == '[';
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", opt->letter ? '-' : ' ',
			 opt->letter ? opt->letter : ' ', opt->letter ? ", " : "  ", opt->name,
			 opt->arg && !maybe ? " " : "", opt->arg ? opt->arg : "");
		printf("  %-28s %s\n", left, opt->help);
	}
	printf("\nexit status: %s\n", this_program.status);
}

static void usage_hint(const struct command *cmd)
{
	char name[64];

	put_title(cmd, name, sizeof(name));
	fprintf(stderr, "usage: %s %s [OPTION...]%s%s\n"
		"try '%s %s --help'\n", this_program.name, name, *cmd->args ? " " : "", cmd->args,
		this_program.name, name);
}

static int seconds_take(const char *option, const char *value, double *to)
{
	if (!seconds_parse(value, to))
		return OK;
	return fail("--%s: '%s' is not a number of seconds, must be 0.01 to 86400", option, value);
}

static int json_take(struct ctl *ctl, const char *value)
{
	ctl->json = true;
	ctl->full = value;
	return !value || !strcmp(value, "full") ? OK : fail("--json: '%s': must be 'full'", value);
}

static int watch_take(struct ctl *ctl, const char *value)
{
	ctl->watch = true;
	ctl->interval = 2;
	return value ? seconds_take("watch", value, &ctl->interval) : OK;
}

static int take_option(const struct opt *opt, const char *value)
{
	const char **list = opt->to;
	int n = 0;

	while (list[n])
		n++;
	if (n == OPT_LIST_MAX - 1)
		return fail("--%s may be given %d times at most", opt->name, n);
	list[n] = value;
	return OK;
}

static int number_take(const struct opt *opt, const char *value, uint64_t *to)
{
	if (!number_parse(value, opt->min, opt->max, to))
		return OK;
	return fail("--%s: '%s' is not allowed, %s must be %llu to %llu", opt->name, value,
		    opt->arg, (unsigned long long)opt->min, (unsigned long long)opt->max);
}

static int own_take(const struct opt *opt, const char *value)
{
	switch (opt->kind) {
	case OPT_FLAG:
		*(bool *)opt->to = true;
		return OK;
	case OPT_TEXT:
		*(const char **)opt->to = value;
		return OK;
	case OPT_LIST:
		return take_option(opt, value);
	case OPT_NUMBER:
		return number_take(opt, value, opt->to);
	case OPT_END:
		break;
	}
	return OK;
}

static int option_take(const struct command *cmd, struct ctl *ctl, const struct opt *opt,
		       const char *value)
{
	if (opt == help_opts) {
		command_help(cmd);
		return DONE;
	}
	if (opt == json_opts)
		ctl->json = true;
	else if (opt == answer_opts)
		return json_take(ctl, value);
	else if (opt == watch_opts)
		return watch_take(ctl, value);
	else if (opt == &lab_opts[0] || opt == &lab_opts[1])
		ctl->lab = value;
	else if (opt == &sim_opts[0])
		ctl->csv = true;
	else if (opt == &sim_opts[1])
		ctl->svg = value;
	else if (opt == &sim_opts[2])
		return number_take(opt, value, &ctl->seed);
	else if (opt == &ask_opts[0])
		ctl->control = value;
	else if (opt == &ask_opts[1])
		ctl->lab = value;
	else if (opt == &ask_opts[2])
		ctl->node = value;
	else if (opt == &ask_opts[3])
		ctl->names = true;
	else if (opt == &ask_opts[4])
		return seconds_take("timeout", value, &ctl->timeout);
	else
		return own_take(opt, value);
	return OK;
}

static void to_getopt(const struct command *cmd, const struct options *o,
		      struct option *longs, char *shorts)
{
	*shorts++ = cmd->rest ? '+' : '-';
	*shorts++ = ':';
	for (int i = 0; i < o->n; i++) {
		const struct opt *opt = o->opt[i];
		bool maybe = opt->arg && opt->arg[0] == '[';

		longs[i] = (struct option){
			.name = opt->name,
			.has_arg = !opt->arg ? no_argument :
				   maybe ? optional_argument : required_argument,
			.val = 256 + i,
		};
		if (!opt->letter)
			continue;
		*shorts++ = opt->letter;
		if (opt->arg)
			*shorts++ = ':';
		if (maybe)
			*shorts++ = ':';
	}
	longs[o->n] = (struct option) { 0 };
	*shorts = '\0';
}

static const struct opt *opt_of(const struct options *o, int c)
{
	if (c >= 256)
		return o->opt[c - 256];
	for (int i = 0; i < o->n; i++)
		if (o->opt[i]->letter == c)
			return o->opt[i];
	return NULL;
}

static int count_check(const struct command *cmd, int n, char **args)
{
	char name[64];

	put_title(cmd, name, sizeof(name));
	if (n < cmd->min)
		warn("%s: %s", name, n ? "an argument is missing" : "arguments are missing");
	else if (cmd->max != ANY_ARGS && n > cmd->max)
		warn("%s: '%s' is one argument too many", name, args[cmd->max]);
	else
		return OK;
	usage_hint(cmd);
	return CANNOT;
}

/* Return: the edit distance of two short words. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b), diagonal, above;

	if (n >= 64)
		return n;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			above = row[j];
			row[j] = diagonal + (a[i - 1] != b[j - 1]);
			if (row[j] > above + 1)
				row[j] = above + 1;
			if (row[j] > row[j - 1] + 1)
				row[j] = row[j - 1] + 1;
			diagonal = above;
		}
	}
	return row[n];
}

/*
 * Return: the option of @cmd most similar to @word, which begins with "--"; NULL if no option is
 * similar.
 */
static const char *nearest_option(const struct command *cmd, const char *word)
{
	const char *best = NULL;
	size_t least = 3, len = strcspn(word + 2, "=");
	struct options o;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
	collect_options(cmd, &o);
	for (int i = 0; i < o.n; i++) {
		size_t n = edit_distance(name, o.opt[i]->name);

		if (n >= least || n >= strlen(o.opt[i]->name))
			continue;
		least = n;
		best = o.opt[i]->name;
	}
	return best;
}

/* Prints the error of a long option that is unknown, or that takes no value and has one. */
static void bad_long_option(const struct command *cmd, const char *word)
{
	const char *name = nearest_option(cmd, word), *value = strchr(word, '=');

	if (name && value && !strncmp(word + 2, name, (size_t)(value - word) - 2) &&
	    !name[(size_t)(value - word) - 2])
		warn("option '--%s' takes no value", name);
	else if (name)
		warn("there is no option '%s'; did you mean '--%s'?", word, name);
	else
		warn("there is no option '%s'", word);
}

/*
 * Return: the word with the short option that getopt refuses. getopt is at the next word if that
 * option is the last of its word.
 */
static const char *refused_word(char **argv)
{
	const char *last = argv[optind - 1], *now = argv[optind];

	if (last[0] == '-' && last[1] == optopt && !last[2])
		return last;
	return now && now[0] == '-' && now[1] == optopt ? now : last;
}

static int bad_option(const struct command *cmd, int c, char **argv)
{
	if (c == ':')
		warn("option '%s' needs a value", argv[optind - 1]);
	else if (isdigit(optopt))
		warn("'%s' is not an option, and no coordinate, time or other number is negative",
		     refused_word(argv));
	else if (optopt && optopt < 256)
		warn("there is no option '-%c'", optopt);
	else
		bad_long_option(cmd, argv[optind - 1]);
	usage_hint(cmd);
	return CANNOT;
}

/*
 * Return: true if @word is an abbreviation of --force, which must be written in full: "--for" is an
 * option of some commands, and must not force others.
 */
static bool is_short_of_force(const struct opt *o, const char *word)
{
	return o && !strcmp(o->name, "force") && strcmp(word, "--force");
}

static int bad_abbreviation(const struct command *cmd, const char *word)
{
	warn("there is no option '%s', and '--force' must be written in full", word);
	usage_hint(cmd);
	return CANNOT;
}

#define MINUS '\1'	/* in place of "-" while getopt reads the arguments */

/* Hides the sign of "-2h", which getopt would take for options. */
static void hide_minus_signs(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == '-' && isdigit((unsigned char)argv[i][1]))
			argv[i][0] = MINUS;
}

/* Shows the signs of the first @n words again. */
static void show_minus_signs(int n, char **argv)
{
	for (int i = 1; i < n; i++)
		if (argv[i][0] == MINUS)
			argv[i][0] = '-';
}

/*
 * "-" at the start of the short options makes getopt return arguments in their order, so options
 * may be anywhere. A coordinate or port such as "-x" is refused as an option. Arguments are
 * gathered at the end of the used part of argv.
 */
int command_parse(const struct command *cmd, struct ctl *ctl, int argc, char **argv)
{
	struct option longs[OPTS_MAX + 1];
	char shorts[3 * OPTS_MAX + 3];
	struct options o;
	char **args = calloc((size_t)argc + 1, sizeof(*args));
	int c, n = 0, status = OK;

	if (!args)
		return -1 - fail("out of memory");
	collect_options(cmd, &o);
	to_getopt(cmd, &o, longs, shorts);
	if (cmd->moments)
		hide_minus_signs(argc, argv);
	optind = 1;
	opterr = 0;
	while (status == OK && (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (cmd->moments)
			show_minus_signs(optind, argv);
		if (c == 1)
			args[n++] = optarg;
		else if (c == '?' || c == ':')
			status = bad_option(cmd, c, argv);
		else if (is_short_of_force(opt_of(&o, c), argv[optind - 1]))
			status = bad_abbreviation(cmd, argv[optind - 1]);
		else
			status = option_take(cmd, ctl, opt_of(&o, c), optarg);
	}
	if (cmd->moments)
		show_minus_signs(argc, argv);
	if (status == OK) {
		while (optind < argc)
			args[n++] = argv[optind++];
		memcpy(argv + argc - n, args, (size_t)n * sizeof(*args));
		status = count_check(cmd, n, args);
	}
	free(args);
	if (status == DONE)
		return -1 - OK;
	return status == OK ? argc - n : -1 - status;
}

static void suggest_command(const char *family, const char *name)
{
	const struct command *const *p;
	const char *head = "did you mean";

	for_each_command(p) {
		size_t len = strlen(name), edits = edit_distance(name, (*p)->name);
		bool begins = len && !strncmp((*p)->name, name, len);

		/* A word that shares no letter with the command has as many edits as letters. */
		if (strcmp(family_of(*p), family) || (!begins && (edits > 2 || edits >= len)))
			continue;
		fprintf(stderr, "%s '%s%s%s'", head, family, *family ? " " : "", (*p)->name);
		head = " or";
	}
	/* The word may be a command whose family is missing or is another one. */
	for_each_command(p) {
		if (!strcmp(family_of(*p), family) || strcmp((*p)->name, name))
			continue;
		fprintf(stderr, "%s '%s%s%s'", head, family_of(*p), (*p)->family ? " " : "",
			(*p)->name);
		head = " or";
	}
	if (*head == ' ')
		fputs("?\n", stderr);
}

const struct command *command_find(const char *family, const char *name)
{
	const struct command *const *p;

	for_each_command(p)
		if (!strcmp(family_of(*p), family) && !strcmp((*p)->name, name))
			return *p;
	if (*name == '-')
		warn("'%s' stands before the command: options follow it, as in '%s%s%s COMMAND %s'",
		     name, this_program.name, *family ? " " : "", family, name);
	else
		warn("there is no command '%s%s%s'", family, *family ? " " : "", name);
	suggest_command(family, name);
	fprintf(stderr, "try '%s --help'\n", this_program.name);
	return NULL;
}

void command_list(const char *family)
{
	const struct command *const *p;
	char left[96];

	for_each_command(p) {
		if (strcmp(family_of(*p), family))
			continue;
		snprintf(left, sizeof(left), "%s%s%s %s", family, *family ? " " : "",
			 (*p)->name, (*p)->args);
		printf("  %-34s %s\n", left, (*p)->brief);
	}
}

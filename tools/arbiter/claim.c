// SPDX-License-Identifier: GPL-2.0-or-later
#include "claim.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/units.h"

__attribute__((format(printf, 1, 2)))
static _Noreturn void refuse_usage(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; try --help\n");
	exit(2);
}

static uint64_t parse_guid(const char *text)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");

	if (!n || n > 16 || text[n])
		refuse_usage("GUID '%s': must be 1 to 16 hexadecimal digits", text);
	return strtoull(text, NULL, 16);
}

static void read_options(struct claim *c, int argc, char **argv, const char *help, int config)
{
	/* A program without --config skips the first option. */
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ 0 }
	};
	int o;

	opterr = 0;
	while ((o = getopt_long(argc, argv, "+:", options + !config, NULL)) != -1) {
		switch (o) {
		case 'c':
			c->config = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'v':
			printf("%s %s\n", program_invocation_short_name, TORUS_VERSION);
			exit(0);
		case ':':
			refuse_usage("%s needs a value", argv[optind - 1]);
		default:
			refuse_usage("unknown option '%s'", argv[optind - 1]);
		}
	}
}

struct claim claim_read(int argc, char **argv, const char *help, int config)
{
	struct claim c = { .fabric = getenv("TORUS_FABRIC") };

	read_options(&c, argc, argv, help, config);
	argc -= optind;
	argv += optind;
	if (argc != 3)
		refuse_usage("%d arguments, must be: claim EPOCH GUID", argc);
	if (strcmp(argv[0], "claim"))
		refuse_usage("unknown question '%s', known: claim", argv[0]);
	if (number_parse(argv[1], 0, UINT64_MAX, &c.epoch))
		refuse_usage("EPOCH '%s': must be a number of at most 64 bits", argv[1]);
	c.guid = parse_guid(argv[2]);
	if (!c.fabric || !*c.fabric)
		refuse_usage("TORUS_FABRIC is not set: the name of the fabric");
	return c;
}

void claim_answer(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	/* An answer that was not written completely must not count. */
	exit(fflush(stdout) || ferror(stdout) ? 1 : 0);
}

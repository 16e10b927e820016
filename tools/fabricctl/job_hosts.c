// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "job.h"
#include "json.h"
#include "next.h"
#include "output.h"
#include "rankfile.h"

static const char *format;
static uint64_t each;		/* 0: not given */

/* Warns of members that no program can run on. Return: NOT_KEPT if there are any */
static int warn_of_absent(const char *name, const json_t *members, const char *lack)
{
	uint32_t missing = 0;
	size_t i;
	json_t *v;

	json_array_foreach(members, i, v)
		missing += !next_member_works(v);
	if (!missing)
		return OK;
	warn("%" PRIu32 " node%s of job '%s' %s down or out of service%s: 'fabricctl job show %s' "
	     "names %s", missing, missing == 1 ? "" : "s", name, missing == 1 ? "is" : "are", lack,
	     name, missing == 1 ? "it" : "them");
	return NOT_KEPT;
}

static void print_hosts(const json_t *members)
{
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(members, i, v) {
		const char *name = json_text(v, "name");

		if (!next_member_works(v))
			continue;
		puts(name ? name : json_coords_text(json_object_get(v, "node"), text));
	}
}

/* Writes the file of a launcher: ranks in the order of the nodes' numbers. */
static int write_ranks(const struct slots *s)
{
	uint32_t *place = calloc(s->n, sizeof(*place));
	int status;

	if (!place)
		return fail("out of memory");
	for (uint32_t r = 0; r < s->n; r++)
		place[r] = r;
	status = rankfile_write(stdout, format, s, place, s->n);
	free(place);
	return status;
}

static int write_format(struct ask *a, const char *name, json_t *members)
{
	struct exclusions table = { .version = 0 };
	struct slots slots;
	uint32_t missing;
	int status = exclusions_get(a, &table);

	if (status != OK)
		return status;
	status = slots_of_job(&table, members, each ? (uint32_t)each : 1, &slots, &missing);
	if (status == OK) {
		status = write_ranks(&slots);
		slots_free(&slots);
	}
	if (status == OK)
		status = warn_of_absent(name, members, ", without ranks here");
	exclusions_free(&table);
	return status;
}

static int check_host_options(const struct ctl *ctl)
{
	if (format && !rankfile_known(format))
		return fail("--format '%s': must be " RANKFILE_FORMATS, format);
	if (format && ctl->json)
		return fail("--format and --json exclude each other");
	if (each && !format)
		return fail("--slots is the number of ranks of a node in a file of --format: give "
			    "both");
	return OK;
}

static int job_hosts(struct ctl *ctl, int argc, char **argv)
{
	json_t *job, *members;
	struct ask a;
	int status = check_host_options(ctl);

	(void)argc;
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = job_get(&a, argv[0], &job, &members);
	if (status == OK) {
		if (format) {
			status = write_format(&a, argv[0], members);
		} else if (ctl->json) {
			json_show(json_incref(members));
			status = warn_of_absent(argv[0], members, "");
		} else {
			print_hosts(members);
			status = warn_of_absent(argv[0], members, ", and not named here");
		}
		ask_label(&a, true);
		json_decref(job);
		json_decref(members);
		if (status == OK)
			status = ask_status(&a);
	}
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "format", 'f', "FORMAT", &format, 0, 0,
	  "print a file for openmpi, mpich, slurm or rubik, with ranks in the order of numbers" },
	{ OPT_NUMBER, "slots", 0, "N", &each, 1, SLOTS_EACH_MAX,
	  "ranks that each node has in that file (1)" },
	{ .kind = OPT_END },
};

COMMAND(job_hosts) = {
	.family = "job",
	.name = "hosts",
	.args = "NAME",
	.brief = "The hosts of a job, one a line, by number",
	.help = "A host file for Open MPI, MPICH and others, in the order of the nodes' numbers.\n"
		"With --format, a file that says where each rank runs. Nodes that are not up or\n"
		"out of service are left out, except with --json; then the exit status is 3.\n"
		"To place ranks by their traffic: 'fabricctl map --job NAME'.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = job_hosts,
};

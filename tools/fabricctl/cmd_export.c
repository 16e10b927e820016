// SPDX-License-Identifier: GPL-2.0-only
/* Writes the fabric in the form in which a scheduler reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "json.h"
#include "output.h"
#include "replace.h"
#include "rows.h"
#include "slurm.h"

static bool torus3d;
static const char *output;

/**
 * struct names - the nodes that the fabric knows
 * @name: for each node of the shape its name in @answer, or NULL
 */
struct names {
	struct torus_shape shape;
	json_t *answer;
	const char **name;
	uint32_t unknown;
};

static void free_node_names(struct names *n)
{
	json_decref(n->answer);
	free(n->name);
}

/* Takes the names from the answer. Return: OK or the kind of the error */
static int take_node_names(struct names *n)
{
	char text[TORUS_TEXT_MAX];
	uint32_t id;
	size_t i;
	json_t *v;

	n->unknown = torus_nodes(&n->shape);
	n->name = calloc(n->unknown, sizeof(*n->name));
	if (!n->name)
		return fail("out of memory");
	json_array_foreach(n->answer, i, v) {
		const char *name = json_text(v, "name");

		if (!name || json_node_read(json_object_get(v, "node"), &n->shape, &id) ||
		    n->name[id])
			continue;
		if (!slurm_is_name(name))
			return fail("node %s is called '%s': a name for Slurm must be letters, "
				    "digits, '-', '_' and '.', and not begin with '-'",
				    torus_node_text(&n->shape, id, text), name);
		n->name[id] = name;
		n->unknown--;
	}
	return n->unknown < torus_nodes(&n->shape) ? OK :
	       fail("no name of a node is known: a file without nodes would stop slurmctld");
}

static int read_node_names(struct ask *a, struct names *n)
{
	struct exclusions table;
	int status = exclusions_get(a, &table);

	if (status != OK)
		return status;
	n->shape = table.shape;
	exclusions_free(&table);
	status = ask_nodes(a, json_pack("{ss}", "cmd", "nodes"), ASK_NODES_MAX, 0, &n->answer);
	return status == OK ? take_node_names(n) : status;
}

/* Prints the file, or puts it in the place of the former one. */
static int write_topology(const struct names *n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int status = OK;

	if (!f)
		return fail("out of memory");
	if (torus3d)
		slurm_write_torus3d(f, &n->shape, n->name);
	else
		slurm_write_tree(f, &n->shape, n->name);
	if (fclose(f))
		status = fail("out of memory");
	else if (output)
		status = replace_file(output, text);
	else
		fputs(text, stdout);
	free(text);
	return status;
}

static int cmd_export(struct ctl *ctl, int argc, char **argv)
{
	struct names n = { .unknown = 0 };
	struct ask a;
	int status;

	(void)argc;
	if (strcmp(argv[0], "slurm"))
		return fail("'%s': must be slurm", argv[0]);
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = read_node_names(&a, &n);
	if (status == OK)
		status = write_topology(&n);
	if (status == OK && n.unknown) {
		warn("%u nodes have no name yet, and are left out", n.unknown);
		status = NOT_KEPT;
	}
	free_node_names(&n);
	if (status == OK)
		status = ask_status(&a);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "torus3d", 0, NULL, &torus3d, 0, 0,
	  "topology.yaml of topology/torus3d, for Slurm 26.05 and later" },
	{ OPT_TEXT, "output", 'o', "FILE", &output, 0, 0, "write FILE, at once as a whole" },
	{ .kind = OPT_END },
};

COMMAND(cmd_export) = {
	.name = "export",
	.args = "slurm",
	.brief = "The topology in a file for Slurm",
	.help = "Without --torus3d, topology.conf of topology/tree: lines of the first dimension\n"
		"are its lowest switches, planes those above. With it, the torus as it is, with\n"
		"those boxes as placements whose sides divide the shape. Such a torus has three\n"
		"dimensions: with four to six, the fabric is several toruses, and no job is\n"
		"placed in two.\n"
		"Faults are not in these files: the unit torus-hook tells Slurm of dead nodes.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.run = cmd_export,
};

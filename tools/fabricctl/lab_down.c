// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "names.h"
#include "output.h"
#include "teardown.h"

static bool all;

/* struct labs - names of labs, each once */
struct labs {
	char (*name)[LAB_NAME_MAX + 1];
	unsigned int n;
};

static int gather_lab(const char *name, void *arg)
{
	struct labs *labs = arg;
	void *more;

	for (unsigned int i = 0; i < labs->n; i++)
		if (!strcmp(labs->name[i], name))
			return 0;
	more = realloc(labs->name, (labs->n + 1) * sizeof(*labs->name));
	if (!more)
		return -ENOMEM;
	labs->name = more;
	snprintf(labs->name[labs->n++], sizeof(*labs->name), "%s", name);
	return 0;
}

static int take_lab_down(const char *name)
{
	struct lab lab;

	if (lab_busy(name))
		return fail("lab '%s': another fabricctl works on it; wait for it or end it first",
			    name);
	if (!lab_load(&lab, name)) {
		lab.state = LAB_GOING;
		lab_save(&lab);
		lab_free(&lab);
	}
	progress("lab '%s' goes down", name);
	if (teardown(name))
		return CANNOT;
	progress("%s", "");
	printf("lab '%s' is gone\n", name);
	return OK;
}

static int choose_labs(const char *wanted, struct labs *labs)
{
	struct leftovers l;

	if (wanted) {
		leftovers_find(wanted, &l);
		if (!l.run && !l.netns && !l.names)
			return fail("there is no lab '%s'; 'fabricctl lab list' shows them",
				    wanted);
		gather_lab(wanted, labs);
		return OK;
	}
	if (lab_each(gather_lab, labs) < 0 || names_each(gather_lab, labs) < 0)
		return fail("cannot look for labs: %m");
	if (labs->n > 1 && !all)
		return fail("there are %u labs; name one with --lab, or take --all", labs->n);
	return OK;
}

static int lab_down(struct ctl *ctl, int argc, char **argv)
{
	const char *name = ctl->lab ? ctl->lab : getenv("TORUS_LAB");
	struct labs labs = { 0 };
	int status;

	(void)argc;
	(void)argv;
	if (ctl->lab && all)
		return fail("--lab and --all exclude each other");
	if (all || (name && !*name))
		name = NULL;
	if (name && lab_name_check(name))
		return CANNOT;
	status = choose_labs(name, &labs);
	if (status == OK && labs.n && geteuid())
		status = fail_as(DENIED, "lab down needs root: run it with sudo");
	if (status != OK)
		labs.n = 0;
	else if (!labs.n)
		printf("no lab is up: nothing to do\n");
	for (unsigned int i = 0; i < labs.n; i++)
		if (take_lab_down(labs.name[i]))
			status = CANNOT;
	free(labs.name);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "all", 'a', NULL, &all, 0, 0, "every lab of this machine" },
	{ .kind = OPT_END },
};

COMMAND(lab_down) = {
	.family = "lab",
	.name = "down",
	.args = "",
	.brief = "Remove a lab with all its processes, namespaces and files",
	.help = "Works in any state: for a lab in use, for one whose 'lab up' was interrupted, or\n"
		"for files that a reboot left in /etc/netns. Programs in its nodes are ended.",
	.opts = opts,
	.in_lab = true,
	.run = lab_down,
};

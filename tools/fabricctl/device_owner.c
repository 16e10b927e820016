// SPDX-License-Identifier: GPL-2.0-only
/*
 * Called by udev when an Ethernet device appears (90-torus-ports.rules): prints the NIC whose
 * configuration names this device as a port. So a card that was removed and inserted again becomes
 * a port again.
 */
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "nicfile.h"
#include "output.h"

static const char *dir;

static bool names_lower(const struct nicfile *f, const char *lower)
{
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		if (!strcmp(f->lower[p], lower))
			return true;
	return false;
}

/* Prints the errors of wrong files, which own no device. */
static int find_owner(const glob_t *files, const char *lower)
{
	char ifname[PATH_MAX], owner[PATH_MAX] = "";
	struct nicfile f;

	for (size_t i = 0; i < files->gl_pathc; i++) {
		snprintf(ifname, sizeof(ifname), "%s", basename(files->gl_pathv[i]));
		ifname[strlen(ifname) - strlen(".conf")] = '\0';
		if (nicfile_read(&f, files->gl_pathv[i], ifname) || !names_lower(&f, lower))
			continue;
		if (*owner)
			return fail("'%s' is a port of two NICs, %s and %s", lower, owner, ifname);
		memcpy(owner, ifname, sizeof(owner));
	}
	if (!*owner) {
		warn("'%s' is a port of no NIC in %s", lower, dir ? dir : NICFILE_DIR);
		return PROBLEM;
	}
	printf("%s\n", owner);
	return OK;
}

static int device_owner(struct ctl *ctl, int argc, char **argv)
{
	char pattern[PATH_MAX];
	glob_t files;
	int status;

	(void)ctl;
	(void)argc;
	if (snprintf(pattern, sizeof(pattern), "%s/*.conf", dir ? dir : NICFILE_DIR) >=
	    (int)sizeof(pattern))
		return fail("--dir '%s': must have at most %zu bytes", dir,
			    sizeof(pattern) - sizeof("/*.conf"));
	status = glob(pattern, 0, NULL, &files);
	if (status && status != GLOB_NOMATCH)
		return fail("%s: cannot be read", pattern);
	status = find_owner(&files, argv[0]);
	globfree(&files);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "dir", 'd', "DIR", &dir, 0, 0, "look in DIR instead of " NICFILE_DIR },
	{ .kind = OPT_END },
};

COMMAND(device_owner) = {
	.family = "device",
	.name = "owner",
	.args = "INTERFACE",
	.brief = "Which NIC uses INTERFACE as a cable, by " NICFILE_DIR "/*.conf (for udev)",
	.help = "Prints the name of the NIC one of whose ports is bound to INTERFACE. udev runs\n"
		"this when an Ethernet device appears, and starts torus-nic@NAME.service, which\n"
		"plugs it in. Exit status 1 if no NIC uses it.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.run = device_owner,
};

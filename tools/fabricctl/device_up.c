// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run by torus-nic@.service at boot, and again whenever it failed: brings a NIC from any state to
 * the state in its file, and changes only the properties that differ. So another run is enough
 * after a device has appeared late or a file has changed, and traffic on the other ports continues.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>
#include <unistd.h>

#include "device.h"
#include "nicfile.h"
#include "output.h"
#include "tools/torusemu/guid.h"

static const char *config;

/* Return: true if the properties that a NIC keeps for its lifetime agree with the file. */
static bool is_same_nic(const struct torus_device *info, const struct nicfile *f)
{
	return info->nports == f->spec.ports && info->guid == f->spec.guid;
}

/* Changes the properties that can be changed while the NIC runs. */
static int update_device(const struct nicfile *f, struct torus_dev *dev,
			 const struct torus_device *info)
{
	const char *name = f->spec.name ? f->spec.name : f->spec.ifname;

	if (strcmp(info->name, name) && torus_name_set(dev, name))
		return -1;
	return info->bootstrap != f->spec.bootstrap ?
	       torus_bootstrap_set(dev, f->spec.bootstrap) : 0;
}

/*
 * Return: OK; NOT_KEPT: some parameters differ, and were printed; only a new NIC can get other
 * parameters.
 */
static int compare_params(struct nl_sock *sk, const struct nicfile *f)
{
	const char *ifname = f->spec.ifname;
	char is[PARAM_TEXT_MAX], file[PARAM_TEXT_MAX];
	uint64_t of[TN_PARAMS], wanted;
	int status = OK;

	if (device_params(sk, ifname, of))
		return fail("NIC '%s': %s", ifname, wire_error());
	for (unsigned int i = 0; i < TN_PARAMS; i++) {
		const struct tn_param *p = &tn_param_list[i];

		if (!nicfile_differs(f, i, of[i], &wanted))
			continue;
		warn("NIC '%s' has %s %s, its file %s: this is set only when the NIC is made: "
		     "'systemctl restart torus-nic@%s', or 'fabricctl device del %s' first",
		     ifname, p->name, param_text(p, of[i], is), param_text(p, wanted, file), ifname,
		     ifname);
		status = NOT_KEPT;
	}
	return status;
}

/* Makes the NIC if it does not exist, and opens it. Return: OK or CANNOT */
static int make_device(struct nl_sock *sk, const struct nicfile *f, struct torus_dev **dev,
		       struct torus_device *info)
{
	const char *ifname = f->spec.ifname;
	char where[sizeof("genl:") + IFNAMSIZ];
	int err;

	snprintf(where, sizeof(where), "genl:%s", ifname);
	err = device_make(sk, &f->spec);
	if (err && err != -EEXIST)
		return fail("NIC '%s': %s", ifname, wire_error());
	if (torus_open(where, dev))
		return fail("%s", torus_error(NULL));
	if (torus_device_get(*dev, info))
		return fail("NIC '%s': %s", ifname, torus_error(*dev));
	if (!is_same_nic(info, f))
		return fail("NIC '%s' has %u ports and guid %016llx, its file %u and %016llx: "
			    "'fabricctl device del %s' first", ifname, info->nports,
			    (unsigned long long)info->guid, f->spec.ports,
			    (unsigned long long)f->spec.guid, ifname);
	if (update_device(f, *dev, info))
		return fail("NIC '%s': %s", ifname, torus_error(*dev));
	return OK;
}

/* Binds a port to its device. Return: OK; PROBLEM if the device is missing or not suitable. */
static int plug_port(struct nl_sock *sk, const struct nicfile *f, struct torus_dev *dev,
		     const struct torus_link *link)
{
	const char *lower = f->lower[link->port];
	char port[TORUS_TEXT_MAX];
	int err = 0;

	torus_port_text(f->spec.ports / 2u, link->port, port);
	if (*lower)
		err = wire_set_mtu(sk, lower, f->mtu);
	if (*lower && !err)
		err = wire_set_up(sk, lower, true);
	if (err) {
		warn("port %s: %s: %s", port, lower, wire_error());
		return PROBLEM;
	}
	if (!strcmp(link->lower, lower) || !torus_attach(dev, link->port, lower))
		return OK;
	warn("port %s: %s: %s", port, lower, torus_error(dev));
	return PROBLEM;
}

static int plug_all(struct nl_sock *sk, const struct nicfile *f, struct torus_dev *dev)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int n = TORUS_MAX_PORTS;
	int status = OK;

	if (torus_links_get(dev, links, &n))
		return fail("%s", torus_error(dev));
	for (unsigned int i = 0; i < n; i++)	/* release devices that move to another port */
		if (*links[i].lower && strcmp(links[i].lower, f->lower[links[i].port]) &&
		    !torus_attach(dev, links[i].port, ""))
			*links[i].lower = '\0';
	for (unsigned int i = 0; i < n; i++)
		if (plug_port(sk, f, dev, &links[i]))
			status = PROBLEM;
	return status;
}

static int bring_up(struct nl_sock *sk, const struct nicfile *f)
{
	struct torus_dev *dev = NULL;
	struct torus_device info;
	int status = make_device(sk, f, &dev, &info), differs = OK;

	if (status == OK && wire_set_up(sk, f->spec.ifname, true))
		status = fail("NIC '%s': %s", f->spec.ifname, wire_error());
	if (status == OK)
		differs = compare_params(sk, f);
	if (status == OK)
		status = plug_all(sk, f, dev);
	torus_close(dev);
	return status == OK ? differs : status;
}

static int device_up(struct ctl *ctl, int argc, char **argv)
{
	char path[sizeof(NICFILE_DIR) + IFNAMSIZ + 8];
	struct nicfile f;
	struct nl_sock *sk;
	int status;

	(void)ctl;
	(void)argc;
	if (!*argv[0] || strlen(argv[0]) >= IFNAMSIZ || strchr(argv[0], '/'))
		return fail("'%s' is not a name of an interface: must have 1 to %d bytes without "
			    "'/'", argv[0], IFNAMSIZ - 1);
	snprintf(path, sizeof(path), NICFILE_DIR "/%s.conf", argv[0]);
	if (nicfile_read(&f, config ? config : path, argv[0]))
		return CANNOT;
	if (!f.spec.guid)
		f.spec.guid = guid_lasting(f.spec.name ? f.spec.name : argv[0]);
	if (geteuid())
		return fail_as(DENIED, "device up needs root: run it with sudo");
	if (device_kernel())
		return CANNOT;
	sk = wire_open();
	if (!sk)
		return fail("cannot open rtnetlink: %m");
	status = bring_up(sk, &f);
	wire_close(sk);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "config", 'c', "FILE", &config, 0, 0,
	  "read FILE instead of " NICFILE_DIR "/NAME.conf" },
	{ .kind = OPT_END },
};

COMMAND(device_up) = {
	.family = "device",
	.name = "up",
	.args = "NAME",
	.brief = "Make a NIC and plug in its cables, as " NICFILE_DIR "/NAME.conf says",
	.help = "The file is described in torus-nic.conf(5). A NIC that is there is kept, and\n"
		"only what differs is changed. torus-nic@NAME.service runs this at boot. Exit\n"
		"status 1 if a cable is missing (the others are plugged in), 3 if parameters\n"
		"differ that can be set only when a NIC is made.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.run = device_up,
};

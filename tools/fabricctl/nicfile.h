/* SPDX-License-Identifier: GPL-2.0-only */
/* /etc/torus/NAME.conf, the configuration of a kernel NIC; torus-nic.conf(5) describes it. */
#ifndef NICFILE_H
#define NICFILE_H

#include <linux/if.h>

#include "../torusemu/param.h"
#include "device.h"

#define NICFILE_MTU 9000	/* largest MTU of most Ethernet devices */
#define NICFILE_SET_MAX 64	/* most bytes of "PARAM=VALUE" */
#define NICFILE_DIR "/etc/torus"

/**
 * struct nicfile - the contents of the file
 * @spec: the NIC; points to its name in @name and its parameters in @set
 * @mtu: MTU of the devices of its ports
 * @lower: device of each port; "": the port has none
 */
struct nicfile {
	struct device_spec spec;
	char name[TORUS_NAME_MAX + 1];
	char set[TN_PARAMS][NICFILE_SET_MAX];
	const char *sets[TN_PARAMS + 1];
	uint32_t mtu;
	char lower[TORUS_MAX_PORTS][IFNAMSIZ];
};

/** nicfile_read() - read a file; prints all errors. Return: OK or CANNOT */
int nicfile_read(struct nicfile *f, const char *path, const char *ifname);

/**
 * nicfile_differs() - compare parameter @i of the NIC with the file
 * A parameter that is not in the file does not differ, because drivers have defaults of their own.
 * @is: value in the NIC; UINT64_MAX: the NIC's driver is of an earlier release and does not have
 *	the parameter
 * @wanted: set to the value in the file if it differs
 * Return: true if it differs.
 */
bool nicfile_differs(const struct nicfile *f, unsigned int i, uint64_t is, uint64_t *wanted);

#endif /* NICFILE_H */

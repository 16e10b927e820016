/* SPDX-License-Identifier: GPL-2.0-only */
/* /etc/torus/NAME.conf: a kernel NIC as it is wanted after every boot; torus-nic.conf(5). */
#ifndef NICFILE_H
#define NICFILE_H

#include <linux/if.h>

#include "../torusemu/param.h"
#include "device.h"

#define NICFILE_MTU 9000	/* what most Ethernet devices can do at most */
#define NICFILE_SET_MAX 64	/* bytes of "PARAM=VALUE" */
#define NICFILE_DIR "/etc/torus"

/**
 * struct nicfile - what the file says
 * @spec: the NIC; its name lies in @name, its parameters in @set
 * @mtu: of the devices of its ports
 * @lower: device of each port, "" for none
 */
struct nicfile {
	struct device_spec spec;
	char name[TORUS_NAME_MAX + 1];
	char set[TN_PARAMS][NICFILE_SET_MAX];
	const char *sets[TN_PARAMS + 1];
	uint32_t mtu;
	char lower[TORUS_MAX_PORTS][IFNAMSIZ];
};

/** nicfile_read() - all that is wrong is said. Return: OK or CANNOT */
int nicfile_read(struct nicfile *f, const char *path, const char *ifname);

/**
 * nicfile_differs() - whether parameter @i of the NIC is another one than the file wants
 * A driver has defaults of its own: what the file does not name differs from nothing.
 * @is: the NIC's; UINT64_MAX: it has none, as that of an earlier driver
 * @wanted: as the file has it; set if it differs
 */
bool nicfile_differs(const struct nicfile *f, unsigned int i, uint64_t is, uint64_t *wanted);

#endif /* NICFILE_H */

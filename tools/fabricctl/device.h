/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NICs of the caller's network namespace: makes and removes kernel NICs, and binds the ports of all
 * kinds of NICs.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <torus/torus.h>

#include "command.h"
#include "wire.h"

#define DEVICE_PORTS 6		/* default number of ports */

/**
 * struct device_spec - a kernel NIC to be made; for members that are 0 the driver has defaults
 * @ifname: name of the NIC's interface
 * @name: name of the NIC itself
 * @sets: parameters, "PARAM=VALUE", ended by NULL, which device_sets_check() has accepted
 */
struct device_spec {
	const char *ifname;
	const char *name;
	uint64_t guid;
	const char *const *sets;
	uint8_t ports;
	bool bootstrap;
};

/**
 * device_kernel() - check that this kernel can make NICs; print advice if it cannot. Return: OK or
 * CANNOT
 */
int device_kernel(void);
/** device_sets_check() - check parameters; prints the error. Return: OK or CANNOT */
int device_sets_check(const char *const *sets);
/** device_make() - make a NIC. Return: 0, or a negative errno with wire_error() */
int device_make(struct nl_sock *sk, const struct device_spec *spec);
/**
 * device_params() - read the parameters of the kernel NIC with the interface @ifname
 * @of: set to the values, in the order of tn_param_list. Return: as device_make()
 */
int device_params(struct nl_sock *sk, const char *ifname, uint64_t *of);
/** device_remove() - remove the kernel NIC with the interface @ifname. Return: as device_make() */
int device_remove(struct nl_sock *sk, const char *ifname);

/**
 * device_open() - open a NIC by "unix:PATH", "genl:NAME", or NAME alone, which may be the name of a
 *	kernel NIC or of a NIC with a socket
 * Prints the error. Return: OK or CANNOT.
 */
int device_open(const char *name, struct torus_dev **dev);
/**
 * device_kind() - Return: the exit status of an error; a name that no NIC or interface has counts
 * as a wrong argument
 */
int device_kind(int err);
/** device_plug() - bind the port "NAME:+x" to @lower; "" unbinds it. Return: OK or CANNOT */
int device_plug(const char *text, const char *lower);

#endif /* DEVICE_H */

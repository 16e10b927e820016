/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NICs of the caller's network namespace: those of the kernel are made and removed
 * here, the cables of every kind are plugged in.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <torus/torus.h>

#include "command.h"
#include "wire.h"

#define DEVICE_PORTS 6		/* if not said otherwise */

/**
 * struct device_spec - a kernel NIC to be made; what is 0 is left to the driver
 * @ifname: of its interface
 * @name: of the NIC itself
 * @sets: parameters, "PARAM=VALUE", ended by NULL; device_sets_check() was content
 */
struct device_spec {
	const char *ifname;
	const char *name;
	uint64_t guid;
	const char *const *sets;
	uint8_t ports;
	bool bootstrap;
};

/** device_kernel() - can this kernel make NICs? Says what to do if not. OK or CANNOT */
int device_kernel(void);
/** device_sets_check() - are these parameters of a NIC? Says what is wrong. OK or CANNOT */
int device_sets_check(const char *const *sets);
/** device_make() - Return: 0 or a negative errno, with wire_error() */
int device_make(struct nl_sock *sk, const struct device_spec *spec);
/**
 * device_params() - parameters of the kernel NIC with the interface @ifname, as they are now
 * @of: in the order of tn_param_list. Return: as device_make()
 */
int device_params(struct nl_sock *sk, const char *ifname, uint64_t *of);
/** device_remove() - the interface @ifname of a kernel NIC; as device_make() */
int device_remove(struct nl_sock *sk, const char *ifname);

/**
 * device_open() - by whatever names it: "unix:PATH", "genl:NAME", or NAME alone of a
 * NIC in the kernel or of one whose socket is found
 * Says what is wrong. Return: OK or CANNOT.
 */
int device_open(const char *name, struct torus_dev **dev);
/**
 * device_kind() - exit status of an error: a name that no NIC or interface has is a wrong argument
 */
int device_kind(int err);
/** device_plug() - bind the port of "NAME:+x" to @lower; "" detaches. OK or CANNOT */
int device_plug(const char *text, const char *lower);

#endif /* DEVICE_H */

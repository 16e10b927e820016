/* SPDX-License-Identifier: GPL-2.0-only */
/* The kinds of NIC that a node of a lab may have, and the functions that nic.c calls of each. */
#ifndef NIC_BACKEND_H
#define NIC_BACKEND_H

#include <torus/torus.h>

#include "lab.h"
#include "output.h"

/**
 * struct nic_backend - one kind of NIC
 * @start, @running, @end, @open: as in nic.h
 * @wait: NULL: the NIC answers as soon as @start returns
 * @wires: sets the cable ends of @ports (mask) up or down by lab_end_up()
 * @plug: attaches the cable end made for a port; NULL: the NIC finds the cable end by its name
 * @cable: gets the name of the cable in a port, for torusemu; NULL: lab_port_name() is the name
 */
struct nic_backend {
	int (*start)(const struct lab *lab, uint32_t node, int netns, const char *program);
	int (*wait)(const struct lab *lab, uint32_t node);
	int (*running)(const struct lab *lab, uint32_t node);
	int (*end)(const struct lab *lab, uint32_t node);
	int (*open)(const struct lab *lab, uint32_t node, struct torus_dev **dev);
	int (*wires)(const struct lab *lab, uint32_t node, uint16_t ports);
	int (*plug)(const struct lab *lab, uint32_t node, unsigned int port);
	char *(*cable)(const struct lab *lab, uint32_t node, unsigned int port, char *buf);
};

extern const struct nic_backend nic_user;	/* each NIC has its own torusemu */
extern const struct nic_backend nic_packed;	/* all NICs are in one torusemu */
extern const struct nic_backend nic_kernel;	/* NICs of torus.ko */

/* Functions that several backends share: */

/** nic_failed() - print why a NIC could not be started. Return: CANNOT */
int nic_failed(const struct lab *lab, uint32_t node, const char *why);
/** nic_open_socket() - a function @open that uses the NIC's socket */
int nic_open_socket(const struct lab *lab, uint32_t node, struct torus_dev **dev);
/** nic_wires_inside() - a function @wires for cables that are interfaces in the node's namespace */
int nic_wires_inside(const struct lab *lab, uint32_t node, uint16_t ports);

#endif /* NIC_BACKEND_H */

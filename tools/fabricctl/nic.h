/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NIC of a lab's node: a torusemu of its own, one of many NICs in one torusemu, or a kernel NIC
 * in the node's namespace (nic_backend.h). Commands treat all three alike.
 */
#ifndef NIC_H
#define NIC_H

#include <torus/torus.h>

#include "lab.h"

/**
 * nic_start() - start a NIC with its cables; prints the error. Return: OK or CANNOT
 * @netns: descriptor of the node's namespace
 * @program: path of torusemu
 */
int nic_start(const struct lab *lab, uint32_t node, int netns, const char *program);
/** nic_wait() - wait until the NIC answers. Return: as nic_start() */
int nic_wait(const struct lab *lab, uint32_t node);
/**
 * nic_running() - Return: process id of the NIC or of its pack, or index of the kernel NIC's
 * interface; 0 if the NIC does not run
 */
int nic_running(const struct lab *lab, uint32_t node);
/** nic_end() - end a NIC at once, as a crash would. Return: 0 or a negative errno */
int nic_end(const struct lab *lab, uint32_t node);
/** nic_open() - as torus_open(), from any namespace */
int nic_open(const struct lab *lab, uint32_t node, struct torus_dev **dev);
/**
 * nic_wires() - set the cable ends of the ports in the mask @ports up or down, as lab_end_up() says
 */
int nic_wires(const struct lab *lab, uint32_t node, uint16_t ports);
/** nic_plug() - attach a new cable end to the NIC's port @port. Return: 0 or an errno */
int nic_plug(const struct lab *lab, uint32_t node, unsigned int port);
/** nic_cable() - get torusemu's name of the cable in a port. Return: @buf (IFNAMSIZ) */
char *nic_cable(const struct lab *lab, uint32_t node, unsigned int port, char *buf);
/** nic_sets_check() - check parameters of a NIC; prints the error. Return: OK or CANNOT */
int nic_sets_check(const struct lab *lab);

#endif /* NIC_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NIC of a lab's node: a torusemu, one of many in a torusemu, or one of the kernel
 * in the node's namespace (nic_backend.h). What a command does with it is the same for all.
 */
#ifndef NIC_H
#define NIC_H

#include <torus/torus.h>

#include "lab.h"

/**
 * nic_start() - with its cables; says what is wrong. OK or CANNOT
 * @netns: descriptor of the node's namespace
 * @program: path of torusemu
 */
int nic_start(const struct lab *lab, uint32_t node, int netns, const char *program);
/** nic_wait() - until it answers; as nic_start() */
int nic_wait(const struct lab *lab, uint32_t node);
/** nic_running() - Return: pid of its process or its pack's, index of its interface, or 0 */
int nic_running(const struct lab *lab, uint32_t node);
/** nic_end() - at once, as a crash would. Return: 0 or a negative errno */
int nic_end(const struct lab *lab, uint32_t node);
/** nic_open() - as torus_open(), wherever the caller is */
int nic_open(const struct lab *lab, uint32_t node, struct torus_dev **dev);
/** nic_wires() - cable ends of @ports (mask) up or down, as lab_end_up() wants them */
int nic_wires(const struct lab *lab, uint32_t node, uint16_t ports);
/** nic_cable() - what torusemu calls the cable in a port. Return: @buf (IFNAMSIZ) */
char *nic_cable(const struct lab *lab, uint32_t node, unsigned int port, char *buf);
/** nic_sets_check() - may these parameters be set? Says why not. OK or CANNOT */
int nic_sets_check(const struct lab *lab);

#endif /* NIC_H */

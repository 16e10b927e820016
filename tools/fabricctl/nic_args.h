/* SPDX-License-Identifier: GPL-2.0-only */
/* The words by which torusemu is asked for a NIC of a lab. */
#ifndef NIC_ARGS_H
#define NIC_ARGS_H

#include "lab.h"

#define ARGS_MAX 96

/** struct args - an argument list under construction; what it points to is its own */
struct args {
	char *arg[ARGS_MAX];
	int n;
};

void args_push(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** args_push_nic() - what a NIC is, by itself or in a pack */
void args_push_nic(struct args *a, const struct lab *lab, uint32_t node);
void args_free(struct args *a);

#endif /* NIC_ARGS_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the arguments of torusemu for a NIC of a lab. */
#ifndef NIC_ARGS_H
#define NIC_ARGS_H

#include "lab.h"

#define ARGS_MAX 96

/** struct args - an argument list under construction, which owns its texts */
struct args {
	char *arg[ARGS_MAX];
	int n;
};

void args_push(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** args_push_nic() - add the arguments of a NIC, for a torusemu of its own or for a pack */
void args_push_nic(struct args *a, const struct lab *lab, uint32_t node);
void args_free(struct args *a);

#endif /* NIC_ARGS_H */

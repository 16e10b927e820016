/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GUID_H
#define GUID_H

#include <stdint.h>

/**
 * guid_lasting() - Return: GUID of the NIC @name on this machine, the same at every start
 * Made from the name and /etc/machine-id; never 0.
 */
uint64_t guid_lasting(const char *name);

#endif /* GUID_H */

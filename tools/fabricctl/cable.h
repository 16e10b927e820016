/* SPDX-License-Identifier: GPL-2.0-only */
/* One cable of a lab, by the name of one of its ends. */
#ifndef CABLE_H
#define CABLE_H

#include "fault.h"
#include "lab.h"

/** cable_set() - cut or mend a cable. Return: OK or CANNOT */
int cable_set(const char *lab_name, const char *link, bool cut);
/** cable_swap() - exchange the far ends of two cables. Return: OK or CANNOT */
int cable_swap(const char *lab_name, const char *link, const char *other);
/** cable_fault() - inject a fault at a cable */
int cable_fault(const char *lab_name, const char *link, const struct fault_wish *wish);

#endif /* CABLE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* What would become of the fabric if a link or a node were excluded. */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include "command.h"

/** dry_run_exclude() - @what: NODE or LINK. Return: OK, PROBLEM pairs would be lost, CANNOT */
int dry_run_exclude(const struct ctl *ctl, const char *what);

#endif /* DRY_RUN_H */

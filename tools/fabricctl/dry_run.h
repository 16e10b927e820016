/* SPDX-License-Identifier: GPL-2.0-only */
/* Computes the fabric that would result from an exclusion of links or nodes. */
#ifndef DRY_RUN_H
#define DRY_RUN_H

#include "command.h"

/**
 * dry_run_exclude() - compute and show the effects of excluding all of these
 * @what: @n of NODE or LINK
 * Return: OK; PROBLEM if pairs would have no path; CANNOT.
 */
int dry_run_exclude(const struct ctl *ctl, char **what, int n);

#endif /* DRY_RUN_H */

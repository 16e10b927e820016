/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking links and nodes out of the fabric, and back. */
#ifndef CHANGE_H
#define CHANGE_H

#include "command.h"

/** change_exclusion() - @cmd: "exclude" or "include"; @what: @n of NODE or LINK */
int change_exclusion(const struct ctl *ctl, const char *cmd, char **what, int n);

#endif /* CHANGE_H */

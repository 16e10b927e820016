/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking a link or a node out of the fabric, and back. */
#ifndef CHANGE_H
#define CHANGE_H

#include "command.h"

/** change_exclusion() - @cmd: "exclude" or "include"; @what: NODE or LINK */
int change_exclusion(const struct ctl *ctl, const char *cmd, const char *what);

#endif /* CHANGE_H */

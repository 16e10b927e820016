/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks for the events of a manager, from its first one on or from now on. */
#ifndef HOOK_FOLLOW_H
#define HOOK_FOLLOW_H

#include "command.h"
#include "hook.h"

/**
 * hook_follow() - run hooks until the manager has been away for a minute
 * @since: number of the event after which to begin; NULL: begin with the next event
 * Prints the reason of the end. Return: the kind of that reason.
 */
int hook_follow(const struct ctl *ctl, const uint64_t *since, const struct hook *hook);

#endif /* HOOK_FOLLOW_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* The roles of senders in the fuzzers. */
#ifndef TESTS_VM_ROLE_H
#define TESTS_VM_ROLE_H

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/**
 * role_take() - takes @role, before a socket is opened: the user who opens it counts, too
 * @role: "root"; "none": nobody; "userns": root of a user namespace that does not own our network
 * Return: 0, or a negative errno.
 */
static inline int role_take(const char *role)
{
	if (!strcmp(role, "none"))
		return setgid(65534) || setuid(65534) ? -errno : 0;
	if (!strcmp(role, "userns"))
		return unshare(CLONE_NEWUSER) ? -errno : 0;
	return strcmp(role, "root") ? -EINVAL : 0;
}

#endif /* TESTS_VM_ROLE_H */

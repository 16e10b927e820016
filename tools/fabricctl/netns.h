/* SPDX-License-Identifier: GPL-2.0-only */
/* Named network namespaces, as ip-netns(8) keeps them. */
#ifndef NETNS_H
#define NETNS_H

#include <stdbool.h>
#include <sys/stat.h>

/** netns_home() - Return: descriptor of the caller's namespace, to return to */
int netns_home(void);
/** netns_create() - make a namespace, and enter it. Return: its descriptor or -errno */
int netns_create(const char *name);
/** netns_open() - Return: a descriptor; -ENOENT; -EINVAL if the file is not a namespace */
int netns_open(const char *name);
/** netns_enter() - Return: 0 or a negative errno */
int netns_enter(int fd);
/** netns_visit() - call @visit in a namespace. Return: the result of @visit, or a negative errno */
int netns_visit(const char *name, int (*visit)(void *arg), void *arg);
/**
 * netns_delete() - delete the name of a namespace; the namespace ends with its last user. Return:
 * 0, also if there is no such name
 */
int netns_delete(const char *name);
/**
 * netns_stat() - get the identity of a namespace, its device and inode. Return: 0 or a negative
 * errno
 */
int netns_stat(const char *name, struct stat *st);
/** netns_has() - Return: true if process @pid is in the namespace */
bool netns_has(const struct stat *ns, int pid);
/**
 * netns_hold() - get descriptors of the processes in any of @n namespaces, except the caller
 * @ns: namespaces; those whose st_ino is 0 are ignored
 * @fd: set to pidfds, of @max processes at most
 * Return: the number of descriptors.
 */
unsigned int netns_hold(const struct stat *ns, unsigned int n, int *fd, unsigned int max);

#endif /* NETNS_H */

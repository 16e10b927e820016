/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The protocols of systemd that daemons speak: sd_notify(3), and the journal's own. Both are single
 * datagrams to a socket, and nothing but systemd_ready() waits. libsystemd would do the same, but
 * it and the libraries that only it needs take 0.7 MiB of each manager.
 */
#ifndef UTIL_SYSTEMD_H
#define UTIL_SYSTEMD_H

#include <stdint.h>

/**
 * systemd_notify() - report the state of this process to systemd, as by sd_notify(3), if systemd
 * has asked for that and its queue is not full
 */
void systemd_notify(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * systemd_ready() - notify systemd that this process has started
 *
 * Waits some seconds if systemd's queue is full: systemd ends a service of which it does not learn
 * that it has started.
 */
void systemd_ready(void);

/**
 * systemd_watchdog() - Return: the time in us after which systemd considers this process as hung,
 * or 0
 */
uint64_t systemd_watchdog(void);

/**
 * systemd_journal() - write a line to the journal
 * @priority: of syslog(3); @kind: becomes the field TORUS_KIND, and the beginning of the message
 *
 * Return: 0 or a negative errno: there is no journal, or it takes nothing now.
 */
int systemd_journal(int priority, const char *kind, const char *text);

#endif /* UTIL_SYSTEMD_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to stderr, with syslog priorities in front under systemd. */
#ifndef EMU_LOG_H
#define EMU_LOG_H

#include <syslog.h>

/** log_init() - @name is put before each line; @level: LOG_ERR to LOG_DEBUG */
void log_init(const char *name, int level);
/** log_level() - number of "error", "warning", "info", "debug"; -1 for others */
int log_level(const char *text);

__attribute__((format(printf, 2, 3))) void log_print(int level, const char *fmt, ...);

#define log_err(...)	log_print(LOG_ERR, __VA_ARGS__)
#define log_warn(...)	log_print(LOG_WARNING, __VA_ARGS__)
#define log_info(...)	log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	log_print(LOG_DEBUG, __VA_ARGS__)

#endif /* EMU_LOG_H */

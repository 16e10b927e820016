/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to stderr, with syslog priorities in front under systemd. */
#ifndef EMU_LOG_H
#define EMU_LOG_H

#include <syslog.h>

/** log_init() - @level: LOG_ERR to LOG_DEBUG */
void log_init(int level);
/** log_level() - number of "error", "warning", "info", "debug"; -1 for others */
int log_level(const char *text);

/** log_print() - @who: name of the NIC, or what else it is about */
__attribute__((format(printf, 3, 4)))
void log_print(int level, const char *who, const char *fmt, ...);

#define log_err(who, ...)	log_print(LOG_ERR, who, __VA_ARGS__)
#define log_warn(who, ...)	log_print(LOG_WARNING, who, __VA_ARGS__)
#define log_info(who, ...)	log_print(LOG_INFO, who, __VA_ARGS__)
#define log_debug(who, ...)	log_print(LOG_DEBUG, who, __VA_ARGS__)

#endif /* EMU_LOG_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Log messages on standard error, with syslog priorities before them under systemd. */
#ifndef EMU_LOG_H
#define EMU_LOG_H

#include <syslog.h>

/** log_init() - set the level, LOG_ERR to LOG_DEBUG */
void log_init(int level);
/**
 * log_level() - Return: the LOG_ number of "error", "warning", "info" or "debug"; -1 if @text is
 * none of these
 */
int log_level(const char *text);

/** log_print() - print a message; @who: name of the NIC, or of another part of the program */
__attribute__((format(printf, 3, 4)))
void log_print(int level, const char *who, const char *fmt, ...);

#define log_err(who, ...)	log_print(LOG_ERR, who, __VA_ARGS__)
#define log_warn(who, ...)	log_print(LOG_WARNING, who, __VA_ARGS__)
#define log_info(who, ...)	log_print(LOG_INFO, who, __VA_ARGS__)
#define log_debug(who, ...)	log_print(LOG_DEBUG, who, __VA_ARGS__)

#endif /* EMU_LOG_H */

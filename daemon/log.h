/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: goes to the journal if systemd started this process, else to standard error. Writing
 * never blocks: lines that standard error does not take now are kept, up to 64 KiB; further lines
 * are dropped, and their number is logged.
 */
#ifndef LOG_H
#define LOG_H

#include <stdarg.h>
#include "daemon/fm/fm.h"

struct loop;

/** log_open() - open the log; @loop: NULL if there is none yet */
void log_open(struct loop *loop);
void log_close(void);
void log_level_set(enum fm_level level);
enum fm_level log_level(void);
/** log_level_parse() - parse the name of a level. Return: 0, or -EINVAL */
int log_level_parse(const char *text, enum fm_level *out);
const char *log_level_name(enum fm_level level);

/** log_line() - log one line; @kind is its subject: "link", "config", ... */
void log_line(enum fm_level level, const char *kind, const char *text);
void log_printf(enum fm_level level, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(kind, ...) log_printf(FM_ERROR, kind, __VA_ARGS__)
#define log_warning(kind, ...) log_printf(FM_WARNING, kind, __VA_ARGS__)
#define log_info(kind, ...) log_printf(FM_INFO, kind, __VA_ARGS__)
#define log_debug(kind, ...) log_printf(FM_DEBUG, kind, __VA_ARGS__)

/**
 * struct log_limit - rate limit of a log line that other hosts can cause: one line in @every ns
 * @next: when the next line may be written; @skipped: number of lines not written since the last
 *	line
 */
struct log_limit {
	uint64_t every;
	uint64_t next;
	uint64_t skipped;
};

/**
 * log_allowed() - Return: true if the line may be written now; @skipped: set to the number of lines
 * that were left out before it
 */
bool log_allowed(struct log_limit *l, uint64_t now, uint64_t *skipped);

#endif /* LOG_H */

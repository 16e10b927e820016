/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: to the journal when systemd started us, else to standard error.
 * Writing never blocks: what standard error does not take now is kept (up to
 * 64 KiB; then lines are dropped and their number is told).
 */
#ifndef LOG_H
#define LOG_H

#include <stdarg.h>
#include "daemon/fm/fm.h"

struct loop;

/** log_open() - @loop NULL: no loop yet */
void log_open(struct loop *loop);
void log_close(void);
void log_level_set(enum fm_level level);
enum fm_level log_level(void);
/** log_level_parse() - Return: 0, or -EINVAL */
int log_level_parse(const char *text, enum fm_level *out);
const char *log_level_name(enum fm_level level);

/** log_line() - one line; @kind groups it: "link", "config", ... */
void log_line(enum fm_level level, const char *kind, const char *text);
void log_printf(enum fm_level level, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(kind, ...) log_printf(FM_ERROR, kind, __VA_ARGS__)
#define log_warning(kind, ...) log_printf(FM_WARNING, kind, __VA_ARGS__)
#define log_info(kind, ...) log_printf(FM_INFO, kind, __VA_ARGS__)
#define log_debug(kind, ...) log_printf(FM_DEBUG, kind, __VA_ARGS__)

/**
 * struct log_limit - rate limit of a log line that others can provoke: at most one in @every ns
 * @next: when the next one may be written; @skipped: lines left out since the last one
 */
struct log_limit {
	uint64_t every;
	uint64_t next;
	uint64_t skipped;
};

/** log_allowed() - may the line be written now? @skipped: left out before it */
bool log_allowed(struct log_limit *l, uint64_t now, uint64_t *skipped);

#endif /* LOG_H */

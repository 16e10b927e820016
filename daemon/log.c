// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>
#include "daemon/log.h"
#include "daemon/loop.h"
#include "lib/util/systemd.h"

#define LINE_MAX_	1024
#define BACKLOG_MAX	65536
#define RETRY_AFTER	(500 * MS)

static struct {
	enum fm_level level;
	bool journal;
	struct loop_timer *timer;
	char *backlog;
	size_t len;
	uint64_t dropped;
} lg = { .level = FM_INFO };

static const char *const level_name[] = {
	[FM_ERROR] = "error",
	[FM_WARNING] = "warning",
	[FM_INFO] = "info",
	[FM_DEBUG] = "debug",
};

static const int level_syslog[] = {
	[FM_ERROR] = LOG_ERR,
	[FM_WARNING] = LOG_WARNING,
	[FM_INFO] = LOG_INFO,
	[FM_DEBUG] = LOG_DEBUG,
};

const char *log_level_name(enum fm_level level)
{
	return level_name[level];
}

int log_level_parse(const char *text, enum fm_level *out)
{
	for (unsigned int i = 0; i <= FM_DEBUG; i++) {
		if (!strcmp(text, level_name[i])) {
			*out = (enum fm_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

void log_level_set(enum fm_level level)
{
	lg.level = level;
}

enum fm_level log_level(void)
{
	return lg.level;
}

/* Uses the variable by which systemd passes the device and inode of the journal's stream. */
static bool stderr_is_journal(void)
{
	const char *text = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return text && sscanf(text, "%llu:%llu", &dev, &ino) == 2 && fstat(2, &st) == 0 &&
	       st.st_dev == (dev_t)dev && st.st_ino == (ino_t)ino;
}

/* Writes without waiting. A pipe for which poll() reports POLLOUT takes a whole line at once. */
static ssize_t write_now(const char *text, size_t len)
{
	struct pollfd p = { .fd = 2, .events = POLLOUT };
	ssize_t n;

	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
		return -EAGAIN;
	do {
		n = write(2, text, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static void keep_text(const char *text, size_t len)
{
	if (!lg.backlog)
		lg.backlog = malloc(BACKLOG_MAX);
	if (!lg.backlog || lg.len + len > BACKLOG_MAX) {
		lg.dropped++;
		return;
	}
	memcpy(lg.backlog + lg.len, text, len);
	lg.len += len;
}

/* Writes the lines in the backlog. Return: true if the backlog is empty. */
static bool flush_backlog(void)
{
	while (lg.len) {
		size_t n = lg.len < LINE_MAX_ ? lg.len : LINE_MAX_;
		ssize_t done = write_now(lg.backlog, n);

		if (done <= 0)
			return false;
		lg.len -= (size_t)done;
		memmove(lg.backlog, lg.backlog + done, lg.len);
	}
	free(lg.backlog);
	lg.backlog = NULL;
	if (lg.dropped) {
		char line[80];
		int n = snprintf(line, sizeof(line), "fabricd: warning: log: %llu lines dropped\n",
				 (unsigned long long)lg.dropped);

		lg.dropped = 0;
		keep_text(line, (size_t)n);
		return flush_backlog();
	}
	return true;
}

static void retry_flush(void *arg)
{
	(void)arg;
	if (!flush_backlog())
		loop_timer_set(lg.timer, loop_now() + RETRY_AFTER);
}

/* The journal takes the priority of a line from its first characters, "<3>": see sd-daemon(3). */
static void to_stderr(enum fm_level level, const char *kind, const char *text)
{
	char line[LINE_MAX_], priority[8] = "";
	ssize_t done = 0;
	int n;

	if (lg.journal)
		snprintf(priority, sizeof(priority), "<%d>", level_syslog[level] & 7);
	n = snprintf(line, sizeof(line), "%sfabricd: %s: %s: %s\n", priority, level_name[level],
		     kind, text);
	if (n >= (int)sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	if (flush_backlog())
		done = write_now(line, (size_t)n);
	if (done < 0)
		done = 0;
	if (done < n)
		keep_text(line + done, (size_t)(n - done));
	if (lg.len && lg.timer)
		loop_timer_set(lg.timer, loop_now() + RETRY_AFTER);
}

void log_open(struct loop *loop)
{
	lg.journal = stderr_is_journal();
	if (loop && !lg.timer)
		lg.timer = loop_timer_new(loop, retry_flush, NULL);
}

void log_close(void)
{
	flush_backlog();
	loop_timer_free(lg.timer);
	lg.timer = NULL;
	free(lg.backlog);
	lg.backlog = NULL;
	lg.len = 0;
}

void log_line(enum fm_level level, const char *kind, const char *text)
{
	if (level > lg.level)
		return;
	if (lg.journal && !systemd_journal(level_syslog[level], kind, text))
		return;
	to_stderr(level, kind, text);
}

void log_printf(enum fm_level level, const char *kind, const char *fmt, ...)
{
	char text[LINE_MAX_];
	va_list ap;

	if (level > lg.level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_line(level, kind, text);
}

bool log_allowed(struct log_limit *l, uint64_t now, uint64_t *skipped)
{
	if (now < l->next) {
		l->skipped++;
		return false;
	}
	*skipped = l->skipped;
	l->skipped = 0;
	l->next = now + l->every;
	return true;
}

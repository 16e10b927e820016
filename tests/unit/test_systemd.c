// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams to systemd and to its journal: what is in them, and what happens if nothing takes them. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/util/systemd.h"

/** sent - the last datagram, where to, and for how many seconds it waits for room */
static struct {
	unsigned int count;
	time_t waits;
	struct sockaddr_un to;
	socklen_t to_len;
	char text[2048];
	size_t len;
	int err;
} sent;

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct timeval wait;
	int type;
	socklen_t n = sizeof(type);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n), 0);
	assert_int_equal(type, SOCK_DGRAM);
	assert_true(flags & MSG_NOSIGNAL);
	n = sizeof(wait);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, &n), 0);
	assert_true(!(flags & MSG_DONTWAIT) == (wait.tv_sec > 0));
	sent.waits = wait.tv_sec;
	sent.count++;
	memcpy(&sent.to, msg->msg_name, msg->msg_namelen);
	sent.to_len = msg->msg_namelen;
	sent.len = 0;
	for (size_t i = 0; i < msg->msg_iovlen; i++) {
		memcpy(sent.text + sent.len, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len);
		sent.len += msg->msg_iov[i].iov_len;
	}
	errno = sent.err;
	return sent.err ? -1 : (ssize_t)sent.len;
}

static int forget(void **state)
{
	(void)state;
	memset(&sent, 0, sizeof(sent));
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

static void assert_sent(const char *text, size_t len)
{
	assert_int_equal(sent.count, 1);
	assert_int_equal(sent.len, len);
	assert_memory_equal(sent.text, text, len);
}

static void notification_goes_to_socket_of_systemd(void **state)
{
	(void)state;
	systemd_notify("READY=1");
	assert_int_equal(sent.count, 0);
	setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
	systemd_notify("RELOADING=1\nMONOTONIC_USEC=%u", 17);
	assert_sent("RELOADING=1\nMONOTONIC_USEC=17", 29);
	assert_string_equal(sent.to.sun_path, "/run/systemd/notify");
	assert_int_equal(sent.to_len, offsetof(struct sockaddr_un, sun_path) + 20);
}

/* An abstract address has no byte after its name. */
static void abstract_address_has_no_byte_after_name(void **state)
{
	(void)state;
	setenv("NOTIFY_SOCKET", "@notify", 1);
	systemd_notify("READY=1");
	assert_sent("READY=1", 7);
	assert_int_equal(sent.to_len, offsetof(struct sockaddr_un, sun_path) + 7);
	assert_memory_equal(sent.to.sun_path, "\0notify", 7);
}

/* systemd ends a service that does not report its start, so this message waits for room. */
static void ready_waits_for_room(void **state)
{
	(void)state;
	systemd_ready();
	assert_int_equal(sent.count, 0);
	setenv("NOTIFY_SOCKET", "/n", 1);
	systemd_ready();
	assert_sent("READY=1", 7);
	assert_int_equal(sent.waits, 5);
	systemd_notify("STATUS=running");
	assert_int_equal(sent.waits, 0);
}

/* The longest address that fits, and one that is longer; names that are none. */
static void only_addresses_that_fit_are_used(void **state)
{
	char path[sizeof(sent.to.sun_path) + 1];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	setenv("NOTIFY_SOCKET", path, 1);
	systemd_notify("READY=1");
	setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	systemd_notify("READY=1");
	setenv("NOTIFY_SOCKET", "", 1);
	systemd_notify("READY=1");
	setenv("NOTIFY_SOCKET", "@", 1);
	systemd_notify("READY=1");
	assert_int_equal(sent.count, 0);
	path[sizeof(path) - 2] = '\0';
	setenv("NOTIFY_SOCKET", path, 1);
	systemd_notify("READY=1");
	assert_int_equal(sent.count, 1);
	assert_int_equal(sent.to_len, sizeof(sent.to));
}

/* A status that is too long is cut, not written past its buffer. */
static void too_long_status_is_cut(void **state)
{
	(void)state;
	setenv("NOTIFY_SOCKET", "/n", 1);
	systemd_notify("STATUS=%01500d", 0);
	assert_int_equal(sent.count, 1);
	assert_int_equal(sent.len, 1023);
	assert_memory_equal(sent.text, "STATUS=000", 10);
}

static void watchdog_applies_only_to_own_process(void **state)
{
	char pid[24];

	(void)state;
	assert_int_equal(systemd_watchdog(), 0);
	setenv("WATCHDOG_USEC", "200000", 1);
	assert_int_equal(systemd_watchdog(), 200000);
	snprintf(pid, sizeof(pid), "%jd", (intmax_t)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(systemd_watchdog(), 200000);
	snprintf(pid, sizeof(pid), "%jd", (intmax_t)getpid() + 1);
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(systemd_watchdog(), 0);
}

/* Fields end with a line break, so the length of a message precedes it, which may have several lines. */
static void field_with_line_break_has_its_length(void **state)
{
	static const char line[] = "SYSLOG_IDENTIFIER=test_systemd\nPRIORITY=4\nTORUS_KIND=link\n"
		"MESSAGE\n\x14\0\0\0\0\0\0\0link: 1,0:+x\nis lost\n";

	(void)state;
	assert_int_equal(systemd_journal(LOG_WARNING, "link", "1,0:+x\nis lost"), 0);
	assert_string_equal(sent.to.sun_path, "/run/systemd/journal/socket");
	assert_sent(line, sizeof(line) - 1);
}

static void failed_message_is_reported_or_ignored(void **state)
{
	(void)state;
	sent.err = EAGAIN;
	assert_int_equal(systemd_journal(LOG_ERR, "start", "x"), -EAGAIN);
	sent.err = ENOENT;
	assert_int_equal(systemd_journal(LOG_ERR, "start", "x"), -ENOENT);
	setenv("NOTIFY_SOCKET", "/n", 1);
	systemd_notify("READY=1");
	assert_int_equal(sent.count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(notification_goes_to_socket_of_systemd, forget),
		cmocka_unit_test_setup(ready_waits_for_room, forget),
		cmocka_unit_test_setup(abstract_address_has_no_byte_after_name, forget),
		cmocka_unit_test_setup(only_addresses_that_fit_are_used, forget),
		cmocka_unit_test_setup(too_long_status_is_cut, forget),
		cmocka_unit_test_setup(watchdog_applies_only_to_own_process, forget),
		cmocka_unit_test_setup(field_with_line_break_has_its_length, forget),
		cmocka_unit_test_setup(failed_message_is_reported_or_ignored, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

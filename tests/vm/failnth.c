// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD=failnth.so FAILNTH=N COMMAND: while the command is in sendmsg() or sendto(), where the
 * kernel carries out a netlink message, the N-th allocation fails of those that the kernel's
 * filters select (/sys/kernel/debug/failslab). If one failed, the file FAILNTH_FILE is made at
 * exit.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static long left = -1; /* allocations until the failure; 0: it has happened */

static void write_nth(long n)
{
	char text[24];
	int fd = open("/proc/thread-self/fail-nth", O_WRONLY);
	int len = snprintf(text, sizeof(text), "%ld", n);

	if (fd < 0 || write(fd, text, (size_t)len) != len) {
		perror("failnth: /proc/thread-self/fail-nth");
		_exit(99);
	}
	close(fd);
}

static void begin(void)
{
	const char *n = getenv("FAILNTH");

	if (left < 0)
		left = n ? atol(n) : 0;
	if (left)
		write_nth(left);
}

/*
 * Ends a message. If it made fewer allocations than the one that was to fail, the next message
 * continues to count.
 */
static void end(void)
{
	char text[24] = "";
	int fd;

	if (!left)
		return;
	fd = open("/proc/thread-self/fail-nth", O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		_exit(99);
	close(fd);
	left = atol(text);
	if (left)
		write_nth(0);
	else if (getenv("FAILNTH_FILE"))
		close(open(getenv("FAILNTH_FILE"), O_CREAT | O_WRONLY, 0600));
}

__attribute__((visibility("default")))
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*next)(int, const struct msghdr *, int);
	ssize_t n;

	*(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
	begin();
	n = next(fd, msg, flags);
	end();
	return n;
}

__attribute__((visibility("default")))
ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to,
	       socklen_t to_len)
{
	ssize_t (*next)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	ssize_t n;

	*(void **)&next = dlsym(RTLD_NEXT, "sendto");
	begin();
	n = next(fd, data, len, flags, to, to_len);
	end();
	return n;
}

// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "tests/unit/calls.h"

static enum call wrong;
static unsigned int wrong_at, called, made[CALLS];
static long gives;
static int gives_err;
static bool given;

void call_gives(enum call call, unsigned int n, long value, int err)
{
	wrong = call;
	wrong_at = n;
	called = 0;
	gives = value;
	gives_err = err;
	given = false;
}

bool call_given(void)
{
	wrong_at = 0;
	return given;
}

unsigned int calls_made(enum call call)
{
	return made[call];
}

static bool goes_wrong(enum call call)
{
	made[call]++;
	if (call != wrong || !wrong_at || ++called != wrong_at)
		return false;
	given = true;
	errno = gives_err;
	return true;
}

#define WRAPPED(call, type, name, params, args)		\
type __real_##name params;				\
type __wrap_##name params;				\
type __wrap_##name params				\
{							\
	if (goes_wrong(call))				\
		return (type)gives;			\
	return __real_##name args;			\
}

WRAPPED(CALL_SOCKET, int, socket, (int family, int type, int protocol), (family, type, protocol))
WRAPPED(CALL_BIND, int, bind, (int fd, const struct sockaddr *a, socklen_t len), (fd, a, len))
WRAPPED(CALL_LISTEN, int, listen, (int fd, int n), (fd, n))
WRAPPED(CALL_CONNECT, int, connect, (int fd, const struct sockaddr *a, socklen_t len),
	(fd, a, len))
WRAPPED(CALL_ACCEPT, int, accept4, (int fd, struct sockaddr *a, socklen_t *len, int flags),
	(fd, a, len, flags))
WRAPPED(CALL_UNLINK, int, unlink, (const char *path), (path))
WRAPPED(CALL_RANDOM, ssize_t, getrandom, (void *data, size_t len, unsigned int flags),
	(data, len, flags))

unsigned int files_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

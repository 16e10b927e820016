// SPDX-License-Identifier: GPL-2.0-only
#include "sock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int spare = -1;

/* Another thread may have taken the descriptor that turn_away() had given up. */
static void keep_spare(void)
{
	if (spare < 0)
		spare = eventfd(0, EFD_CLOEXEC);
}

/* Removes a socket file without a listener, which is left after a process was killed. */
static int remove_stale(int fd, const struct sockaddr_un *at)
{
	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0)
		return -EADDRINUSE;
	if (errno == ENOENT)
		return 0;
	if (errno != ECONNREFUSED)
		return -errno;
	return unlink(at->sun_path) < 0 ? -errno : 0;
}

static int listen_at(const struct sockaddr_un *at, mode_t hidden)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int err;

	if (fd < 0)
		return -errno;
	err = remove_stale(fd, at);
	if (err)
		goto err_fd;
	mask = umask(hidden);
	err = bind(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 ? -errno : 0;
	umask(mask);
	if (!err && listen(fd, 16) < 0)
		err = -errno;
	if (!err) {
		keep_spare();
		return fd;
	}
err_fd:
	close(fd);
	return err;
}

static int listen_on_path(const char *path, mode_t hidden)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	return listen_at(&at, hidden);
}

int sock_listen(const char *path)
{
	return listen_on_path(path, 0177);
}

int sock_listen_all(const char *path)
{
	return listen_on_path(path, 0111);
}

static bool is_peer_root(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	return cred.uid == 0 || cred.uid == geteuid();
}

/* Accepts a client by the spare descriptor, and disconnects it. Return: -EMFILE */
static int turn_away(int fd, const void *refusal, size_t bytes)
{
	int client;

	if (spare >= 0)
		close(spare);
	spare = -1;
	client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (client >= 0) {
		if (bytes)
			send(client, refusal, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(client);
	}
	keep_spare();
	return -EMFILE;
}

int sock_accept_all(int fd, const void *refusal, size_t bytes)
{
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (client >= 0) {
		keep_spare();
		return client;
	}
	return errno == EMFILE || errno == ENFILE ? turn_away(fd, refusal, bytes) : -errno;
}

int sock_accept(int fd)
{
	int client = sock_accept_all(fd, NULL, 0);

	if (client < 0)
		return client;
	if (is_peer_root(client))
		return client;
	close(client);
	return -EPERM;
}

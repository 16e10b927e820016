// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "traffic_judge.h"

/* Sends or receives @size bytes. Return: 0; -EAGAIN after the socket's timeout; another -errno */
static int transfer_all(ssize_t (*io)(int, void *, size_t, int), int fd, void *buf, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = io(fd, (char *)buf + done, size - done, MSG_NOSIGNAL);

		if (n == 0)
			return done ? -ECONNRESET : 1;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		done += (size_t)n;
	}
	return 0;
}

static ssize_t write_some(int fd, void *buf, size_t size, int flags)
{
	return send(fd, buf, size, flags);
}

static void count_retransmits(int fd, struct flow *f)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return;
	f->retransmits = info.tcpi_total_retrans;
	f->needless = info.tcpi_dsack_dups;
}

void traffic_tcp_send(int fd, const struct load *load, struct flow *f)
{
	double start = traffic_now();
	static char buf[TRAFFIC_MAX];

	while (!f->err && traffic_pace(load, start, f->sent)) {
		record_fill(buf, load->size, f->sent, 0);
		f->err = transfer_all(write_some, fd, buf, load->size);
		f->sent += !f->err;
	}
	f->seconds = traffic_now() - start;
	shutdown(fd, SHUT_WR);
	/*
	 * Wait until the receiver closes the connection. It does so when it has all records; only
	 * then are the counts final.
	 */
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		;
	count_retransmits(fd, f);
}

void traffic_tcp_receive(int fd, struct flow *f)
{
	static struct judge j;
	static char buf[TRAFFIC_MAX];
	struct record rec;
	int err;

	j.f = f;
	while ((err = transfer_all(recv, fd, buf, sizeof(rec))) == 0) {
		memcpy(&rec, buf, sizeof(rec));
		if (rec.size < sizeof(rec) || rec.size > sizeof(buf)) {
			f->corrupt++;
			err = -EBADMSG;
			break;
		}
		err = transfer_all(recv, fd, buf + sizeof(rec), rec.size - sizeof(rec));
		if (err)
			break;
		judge_stream(&j, buf, traffic_now());
	}
	if (err < 0)
		f->err = err;
	shutdown(fd, SHUT_RDWR);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>

#include "conf.h"
#include "server.h"

static void on_end(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(arg);
}

static void on_sighup(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	server_reload(arg);
}

/* Serves until a signal ends the program. Return: the exit status. */
static int serve_requests(struct event_base *base, const struct conf *conf)
{
	struct server *s = server_new(base, conf);
	struct event *end[2], *reload;
	int status = 1;

	if (!s)
		return 1;
	end[0] = evsignal_new(base, SIGTERM, on_end, base);
	end[1] = evsignal_new(base, SIGINT, on_end, base);
	reload = evsignal_new(base, SIGHUP, on_sighup, s);
	if (end[0] && end[1] && reload && !evsignal_add(end[0], NULL) &&
	    !evsignal_add(end[1], NULL) && !evsignal_add(reload, NULL))
		status = conf->check || event_base_dispatch(base) >= 0 ? 0 : 1;
	for (unsigned int i = 0; i < 2; i++)
		if (end[i])
			event_free(end[i]);
	if (reload)
		event_free(reload);
	server_free(s);
	return status;
}

int main(int argc, char **argv)
{
	struct event_base *base;
	struct conf conf;
	int status = conf_take(&conf, argc, argv);

	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stderr, NULL, _IOLBF, 0);
	base = event_base_new();
	if (!base) {
		fputs("fabricweb: out of memory\n", stderr);
		return 1;
	}
	status = serve_requests(base, &conf);
	event_base_free(base);
	return status;
}

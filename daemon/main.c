// SPDX-License-Identifier: GPL-2.0-only
/* fabricd: the fabric manager of one node. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/arbiter.h"
#include "daemon/control.h"
#include "daemon/fabricd.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/nic.h"
#include "daemon/plug.h"
#include "daemon/priv.h"
#include "daemon/query.h"
#include "daemon/recorder.h"
#include "daemon/tester.h"
#include "daemon/wall.h"
#include "lib/util/priority.h"
#include "lib/util/systemd.h"

#define NICE (-10)

#define EXIT_USAGE 2

/** struct watchdog - timer that reports to systemd that the loop is running */
struct watchdog {
	struct loop_timer *timer;
	uint64_t every;
};

static void print_usage(FILE *to)
{
	fprintf(to,
		"Usage: fabricd [OPTION]...\n"
		"The fabric manager of a torus network, one for each node.\n"
		"\n"
		"  -c, --config FILE  read FILE instead of " CONFIG_PATH "\n"
		"      --check        only check the configuration\n"
		"      --dump-config[=json]\n"
		"                     show the values in force and their sources, as a\n"
		"                     configuration file or as JSON; the key is not shown\n"
		"      --record FILE  record all events and actions of the manager, for\n"
		"                     \"fabricsim replay\"\n"
		"  -h, --help         show this\n"
		"  -V, --version      show the version\n"
		"\n"
		"See fabricd(8) and fabricd.conf(5).\n");
}

static void log_complaint(void *arg, unsigned int line, const char *text)
{
	const char *path = arg;

	if (line)
		log_error("config", "%s:%u: %s", path, line, text);
	else
		log_error("config", "%s: %s", path, text);
}

/** enum task - what fabricd does with its configuration */
enum task { TASK_RUN, TASK_CHECK, TASK_DUMP, TASK_DUMP_JSON };

static int parse_dump(const char *form, enum task *task)
{
	*task = form ? TASK_DUMP_JSON : TASK_DUMP;
	if (!form || !strcmp(form, "json"))
		return -1;
	fprintf(stderr, "fabricd: --dump-config: '%s': must be 'json'\n", form);
	return EXIT_USAGE;
}

/* Return: -1 to continue, else the exit status. */
static int parse_args(int argc, char **argv, struct config_run *run, enum task *task)
{
	static const struct option opts[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, 'C' },
		{ "dump-config", optional_argument, NULL, 'D' },
		{ "record", required_argument, NULL, 'R' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int o;

	while ((o = getopt_long(argc, argv, "c:hV", opts, NULL)) != -1) {
		switch (o) {
		case 'c':
			run->path = optarg;
			run->chosen = true;
			break;
		case 'C':
			*task = TASK_CHECK;
			break;
		case 'D':
			if (parse_dump(optarg, task) >= 0)
				return EXIT_USAGE;
			break;
		case 'R':
			run->record = optarg;
			break;
		case 'h':
			print_usage(stdout);
			return 0;
		case 'V':
			printf("fabricd %s\n", TORUS_VERSION);
			return 0;
		default:
			print_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "fabricd: unexpected argument '%s': fabricd takes none\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

static int load_config(struct config *c, const struct config_run *run)
{
	return config_load(c, run->path, log_complaint, (void *)run->path);
}

static int load_key(struct fabricd *d)
{
	char text[AUTH_TEXT_MAX];
	int err;

	err = auth_open(&d->auth, &auth_key_ops, d->config.fm.fabric, d->config.fm.name,
			d->config.key_file, text);
	if (err)
		log_error("config", "%s: key_file: %s", d->run.path, text);
	return err;
}

/* Return: the exit status. */
static int dump_config(const struct fabricd *d, enum task task)
{
	json_t *j;

	if (task == TASK_DUMP) {
		config_print(stdout, &d->config, &d->run);
	} else {
		j = json_pack("{s:s, s:s, s:o}", "software", TORUS_VERSION, "file", d->run.path,
			      "config", config_json(&d->config, &d->run));
		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(j);
	}
	return fflush(stdout) || ferror(stdout);
}

static void on_stop(void *arg)
{
	struct fabricd *d = arg;

	systemd_notify("STOPPING=1");
	loop_stop(d->loop);
}

/** struct reload - a configuration that is read again; @text: its first error, or "" */
struct reload {
	const char *path;
	char text[STATE_TEXT_MAX];
};

/* Stores the first error in the configuration file for the status, and logs all others. */
static void take_complaint(void *arg, unsigned int line, const char *text)
{
	struct reload *r = arg;
	char at[16] = "";

	if (r->text[0]) {
		log_complaint((void *)r->path, line, text);
		return;
	}
	if (line)
		snprintf(at, sizeof(at), ":%u", line);
	snprintf(r->text, sizeof(r->text), "the file is not used, the former values stay: %s%s: %s",
		 r->path, at, text);
}

/* Begins the problem that the configuration has the error @text, or ends it if @text is "". */
static void set_config_problem(struct fabricd *d, const char *text)
{
	char event[STATE_TEXT_MAX + 8];

	if (*text || d->config_text[0]) {
		snprintf(event, sizeof(event), "%s%s", *text ? "" : "over: ",
			 *text ? text : d->config_text);
		fabricd_event(d, loop_wall(), "", *text ? FM_ERROR : FM_INFO, "config", event);
	}
	snprintf(d->config_text, sizeof(d->config_text), "%s", text);
}

/*
 * Called for SIGHUP: reads the configuration again, and applies the keys that may change while
 * fabricd runs.
 */
static void on_reload(void *arg)
{
	struct fabricd *d = arg;
	struct reload r = { .path = d->run.path, .text = "" };
	struct config c;
	int err;

	systemd_notify("RELOADING=1\nMONOTONIC_USEC=%llu",
		       (unsigned long long)(loop_now() / US));
	err = config_load(&c, r.path, take_complaint, &r);
	if (!err)
		log_level_set(c.level);
	set_config_problem(d, r.text);
	if (!err) {
		config_reload(&d->config, &c);
		log_info("config", "log level is %s; other keys but address4 and address6 are read "
			 "at start only", log_level_name(c.level));
		machine_event(d, &(struct record_event) {
			.kind = RECORD_PLAN, .now = loop_now(),
			.plan = { .plan = c.fm.plan, .given = c.fm.plan_given },
		});
	}
	systemd_notify("READY=1");
}

static void on_watchdog(void *arg)
{
	struct watchdog *w = arg;

	systemd_notify("WATCHDOG=1");
	loop_timer_set(w->timer, loop_now() + w->every);
}

static void watchdog_start(struct fabricd *d, struct watchdog *w)
{
	uint64_t us = systemd_watchdog();

	if (!us)
		return;
	w->timer = loop_timer_new(d->loop, on_watchdog, w);
	w->every = us * US / 2;
	if (w->timer)
		on_watchdog(w);
}

static int start_daemon(struct fabricd *d)
{
	int err;

	err = machine_start(d);
	if (!err)
		err = answer_start(d);
	if (err)
		return err;
	d->control = control_new(d, &err);
	if (!d->control) {
		log_error("control", "cannot listen on %s: %s", d->config.control,
			  err == -EADDRINUSE ? "another fabricd serves it" : strerror(-err));
		return err;
	}
	/* A recovery waits for the slowest manager, and jobs of users may occupy all processors. */
	priority_raise(NICE);
	err = priv_drop();
	if (err)
		log_error("start", "cannot drop privileges: %s", strerror(-err));
	return err;
}

static int run_daemon(struct fabricd *d)
{
	struct loop_signal *sig[3];
	struct watchdog dog = { NULL, 0 };
	int err;

	sig[0] = loop_signal_new(d->loop, SIGTERM, on_stop, d);
	sig[1] = loop_signal_new(d->loop, SIGINT, on_stop, d);
	sig[2] = loop_signal_new(d->loop, SIGHUP, on_reload, d);
	err = sig[0] && sig[1] && sig[2] ? start_daemon(d) : -ENOMEM;
	if (!err) {
		systemd_ready();
		log_info("start", "fabricd %s, fabric '%s', node '%s', service %s",
			 TORUS_VERSION, d->config.fm.fabric, d->config.fm.name,
			 d->config.fm.address);
		watchdog_start(d, &dog);
		err = loop_run(d->loop);
		log_info("start", "stopping");
	}
	control_free(d->control);
	machine_stop(d);
	arbiter_free(d->arbiter);
	state_free(d->state);
	nic_free(d->nic);
	tester_free(d->tester);
	plugs_free(d->plugs);
	stall_stop(d);
	keeper_free(d->keeper);
	query_free(d->query);
	svc_free(d->svc);
	loop_timer_free(d->fm_timer);
	loop_timer_free(d->trim_timer);
	wall_free(d->wall);
	loop_timer_free(d->wait_timer);
	lines_stop(d);
	errors_stop(d);
	loop_timer_free(dog.timer);
	for (unsigned int i = 0; i < 3; i++)
		loop_signal_free(sig[i]);
	return err;
}

int main(int argc, char **argv)
{
	static struct fabricd d;
	enum task task = TASK_RUN;
	int status, err;

	d.run.path = CONFIG_PATH;
	status = parse_args(argc, argv, &d.run, &task);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	/*
	 * Large answers are rare, so free memory is returned to the kernel at once. The threads
	 * need no arenas of their own.
	 */
	mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	mallopt(M_TRIM_THRESHOLD, 64 * 1024);
	mallopt(M_ARENA_MAX, 1);
	log_open(NULL);
	err = load_config(&d.config, &d.run);
	/*
	 * If this host may get the address later, systemd starts fabricd again: see
	 * fabricd.service.
	 */
	if (err)
		return err == -EADDRNOTAVAIL && task == TASK_RUN ? EXIT_FAILURE : EXIT_USAGE;
	if (task >= TASK_DUMP)
		return dump_config(&d, task);
	if (load_key(&d))
		return EXIT_USAGE;
	if (task == TASK_CHECK) {
		printf("%s is right\n", d.run.path);
		auth_close(&d.auth);
		return 0;
	}
	if (d.run.record) {
		d.recorder = recorder_open(d.run.record);
		if (!d.recorder) {
			log_error("start", "--record %s: %s", d.run.record, strerror(errno));
			auth_close(&d.auth);
			return EXIT_USAGE;
		}
	}
	log_level_set(d.config.level);
	d.loop = loop_new();
	d.events = events_new();
	if (!d.loop || !d.events) {
		log_error("start", "out of memory");
		return 1;
	}
	log_open(d.loop);
	status = run_daemon(&d) ? 1 : 0;
	log_close();
	events_free(d.events);
	loop_free(d.loop);
	recorder_close(d.recorder);
	auth_close(&d.auth);
	return status;
}

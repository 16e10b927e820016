/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon as a whole: the state that its parts share. */
#ifndef FABRICD_H
#define FABRICD_H

#include "daemon/auth.h"
#include "daemon/config.h"
#include "daemon/config_dump.h"
#include "daemon/errors.h"
#include "daemon/events.h"
#include "daemon/line.h"
#include "daemon/loop.h"
#include "daemon/meter.h"
#include "daemon/stall.h"
#include "daemon/state.h"
#include "daemon/svc.h"
#include "daemon/fm/fm.h"
#include "daemon/fm/status.h"

struct arbiter;
struct control;
struct keeper;
struct nic;
struct query;
struct record_event;
struct recorder;
struct request;
struct wall;
struct seal;
struct tester;
struct plugs;

/**
 * struct fabricd - the state of the process
 * @run: the command line
 * @fm: NULL while there is no NIC
 * @recorder: NULL: nothing is recorded
 * @own: this node's coordinates as text; "": it has none yet
 * @nic_text: the reason why there is no NIC
 * @seal: NULL while there is no NIC
 * @tester: links under test; @plugs: LEDs and plugs of interfaces
 * @refused_at, @refused_port: when and on which port @seal refused a packet last; 0: never
 * @refused_told: when an event reported that last
 * @waiting, @wait_timer: requests that are answered later (answer_wait.c)
 * @arbiter: NULL: none is configured
 * @keeper: adds events to the history
 * @state: NULL: no table had to be kept yet, or there is no directory for it
 * @state_text: what is wrong with the state file, or ""
 * @config_text: what is wrong with the file that SIGHUP told to read, or ""
 * @nports, @line: ports of the NIC, and the last event of each port's line
 * @lines: degraded lines of all nodes (line.h); @stalls: links that wait (stall.h)
 * @errors: bad cables (errors.h)
 * @told, @outline: the state reported to systemd, and the outline that it is made from
 */
struct fabricd {
	struct config config;
	struct config_run run;
	struct loop *loop;
	struct auth auth;
	struct svc *svc;
	struct nic *nic;
	uint64_t guid;		/* of the NIC */
	struct fm *fm;
	struct loop_timer *fm_timer;
	struct wall *wall;	/* NULL: the kernel cannot report that the clock is set */
	struct recorder *recorder;
	struct query *query;
	struct request *waiting;
	struct loop_timer *wait_timer;
	struct control *control;
	struct events *events;
	struct keeper *keeper;
	char own[TORUS_TEXT_MAX];
	char nic_text[256];
	struct seal *seal;
	struct tester *tester;
	struct plugs *plugs;
	uint64_t refused_at, refused_told;
	unsigned int refused_port;
	struct arbiter *arbiter;
	struct state *state;
	char state_text[STATE_TEXT_MAX];
	char config_text[STATE_TEXT_MAX];
	uint8_t nports;
	struct line line[TORUS_MAX_PORTS];
	struct lines lines;
	struct stalls stalls;
	struct errors errors;
	enum fm_state told;
	struct fm_outline outline;
	struct meter meter;
};

/* machine.c: the manager between NIC and service network */
int machine_start(struct fabricd *d);
void machine_stop(struct fabricd *d);
/**
 * machine_event() - record an event, and pass it to the state machine
 * All events go this way, so that a recording is complete.
 * Return: what the state machine returned; -ENODEV: there is none.
 */
int machine_event(struct fabricd *d, const struct record_event *e);
/** fabricd_refused_text() - describe the last packet without a valid seal. Return: @buf */
const char *fabricd_refused_text(const struct fabricd *d, char *buf, size_t room);
/** fabricd_event() - log and keep an event that happened at @node; "": at this node */
void fabricd_event(struct fabricd *d, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text);

#endif /* FABRICD_H */

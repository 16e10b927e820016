/* SPDX-License-Identifier: GPL-2.0-only */
/* The state that all parts of the daemon share. */
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
 * @run: options of the command line
 * @fm: the state machine; NULL while there is no NIC
 * @trim_timer: returns free memory to the kernel some time after a change; @trim_due: it is set
 * @recorder: writes a recording; NULL: nothing is recorded
 * @own: this node's coordinates as text; "": it has none yet
 * @nic_text: the reason why there is no NIC
 * @nic_gone: the reported problem that the NIC is gone; "": there is none
 * @seal: seals management packets; NULL while there is no NIC
 * @tester: links under test; @plugs: LEDs and plugs of interfaces
 * @refused_at, @refused_port: time and port of the last packet that @seal refused; 0: no packet was
 *	refused
 * @refused_reported: time of the last event that reported refused packets
 * @waiting, @wait_timer: requests that are answered later (answer_wait.c)
 * @arbiter: the site's arbiter; NULL: no arbiter is configured
 * @keeper: adds events to the history
 * @state: keeps the table on the disk; NULL: no table had to be kept yet, or there is no directory
 *	for it
 * @state_text: what is wrong with the state file, or ""
 * @config_text: what is wrong with the file that was read after SIGHUP, or ""
 * @nports: number of ports of the NIC; @line: the last event about the line of each port
 * @lines: degraded lines of all nodes (line.h); @stalls: links whose packets wait for credits
 *	(stall.h)
 * @errors: bad cables (errors.h)
 * @reported, @outline: the state reported to systemd, and the outline of the table from which this
 *	state follows
 */
struct fabricd {
	struct config config;
	struct config_run run;
	struct loop *loop;
	struct auth auth;
	struct svc *svc;
	struct nic *nic;
	uint64_t guid;		/* GUID of the NIC */
	struct fm *fm;
	struct loop_timer *fm_timer;
	struct loop_timer *trim_timer;
	bool trim_due;
	struct wall *wall;	/* NULL: the kernel cannot report that the clock is set */
	struct recorder *recorder;
	struct query *query;
	struct request *waiting;
	struct loop_timer *wait_timer;
	struct control *control;
	struct events *events;
	struct keeper *keeper;
	struct history_pull *pull;	/* the root's question for events of this candidate */
	char own[TORUS_TEXT_MAX];
	char nic_text[256], nic_gone[256];
	struct seal *seal;
	struct tester *tester;
	struct plugs *plugs;
	uint64_t refused_at, refused_reported;
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
	enum fm_state reported;
	struct fm_outline outline;
	struct meter meter;
};

/* machine.c: the manager between NIC and service network */
int machine_start(struct fabricd *d);
void machine_stop(struct fabricd *d);
/**
 * machine_event() - record an event, and pass it to the state machine
 * All events of the state machine are passed by this function, so that a recording is complete.
 * Return: what the state machine returned; -ENODEV if there is no state machine.
 */
int machine_event(struct fabricd *d, const struct record_event *e);
/** fabricd_refused_text() - describe the last packet without a valid seal. Return: @buf */
const char *fabricd_refused_text(const struct fabricd *d, char *buf, size_t room);
/**
 * fabricd_event() - write an event into the log and the list of events; @node: the node where it
 * happened; "": this node
 */
void fabricd_event(struct fabricd *d, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text);

#endif /* FABRICD_H */

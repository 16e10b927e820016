/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon as a whole: the state that its parts share. */
#ifndef FABRICD_H
#define FABRICD_H

#include "daemon/auth.h"
#include "daemon/config.h"
#include "daemon/config_dump.h"
#include "daemon/events.h"
#include "daemon/line.h"
#include "daemon/loop.h"
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

/**
 * struct fabricd - one for the process
 * @run: the command line
 * @fm: NULL while there is no NIC
 * @recorder: NULL: nothing is recorded
 * @own: coordinates as text, "" while unknown
 * @nic_text: why there is no NIC
 * @seal: NULL while there is no NIC
 * @refused_at, @refused_port: when and where it refused a packet last; 0: never
 * @refused_told: when that was logged last
 * @waiting, @wait_timer: requests that are answered later (answer_wait.c)
 * @arbiter: NULL: there is none
 * @keeper: of the history; NULL: there is none
 * @state: NULL: no table had to be kept yet, or there is no directory for it
 * @state_text: the fault of the state file, or ""
 * @nports, @line: of the NIC
 * @lines: of all NICs (line.h); @stalls: links that wait (stall.h)
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
	struct wall *wall;	/* NULL: the kernel cannot tell when the clock is set */
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
	uint64_t refused_at, refused_told;
	unsigned int refused_port;
	struct arbiter *arbiter;
	struct state *state;
	char state_text[STATE_TEXT_MAX];
	uint8_t nports;
	struct line line[TORUS_MAX_PORTS];
	struct lines lines;
	struct stalls stalls;
	enum fm_state told;
	struct fm_outline outline;
};

/* machine.c: the manager between NIC and service network */
int machine_start(struct fabricd *d);
void machine_stop(struct fabricd *d);
/**
 * machine_event() - give the manager an event: the only way in, so that it is recorded
 * Return: what the manager returned; -ENODEV: there is none.
 */
int machine_event(struct fabricd *d, const struct record_event *e);
/** fabricd_refused_text() - of the last packet without a seal, as text for people. Return: @buf */
const char *fabricd_refused_text(const struct fabricd *d, char *buf, size_t room);
/** fabricd_event() - log it and keep it; of @node, "" for this one */
void fabricd_event(struct fabricd *d, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text);

#endif /* FABRICD_H */

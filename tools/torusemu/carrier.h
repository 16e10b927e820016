/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The carrier of Ethernet devices. The kernel needs its RTNL lock to report the carrier, and other
 * processes may hold this lock for long, for example to remove hundreds of devices. So a thread
 * asks the kernel, and the NICs of the process continue meanwhile.
 */
#ifndef EMU_CARRIER_H
#define EMU_CARRIER_H

#include <pthread.h>

#include "loop.h"

struct carrier_question;
struct port;

/**
 * struct carriers - the questions of one process
 * @thread: asks the kernel, if @running; else carrier_ask() asks the kernel itself
 * @lock: protects @todo, @answered and @stop
 * @wake: signalled when there are questions in @todo
 * @wakeup: descriptor that wakes the loop if there are answers
 * The other members are private to carrier.c.
 */
struct carriers {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct carrier_question *todo, *answered;
	struct watch wakeup;
	bool running, stop;
};

/** carriers_init() - initialise; until carriers_start(), questions are answered at once */
void carriers_init(struct carriers *c);
/** carriers_start() - start the thread, with the privileges of the caller. Return: 0 or -errno */
int carriers_start(struct carriers *c, struct loop *loop);
/** carriers_fini() - end the thread, and free @c; called when no port has a question any more */
void carriers_fini(struct carriers *c, struct loop *loop);

/** carrier_ask() - ask for the carrier of the device of @port; ether_set_state() gets the answer */
void carrier_ask(struct carriers *c, struct port *port);
/** carrier_forget() - drop the question of @port */
void carrier_forget(struct port *port);

#endif /* EMU_CARRIER_H */

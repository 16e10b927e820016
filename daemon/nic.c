// SPDX-License-Identifier: GPL-2.0-only
/*
 * One daemon manages one NIC. With "auto" it uses the only NIC of the host, and waits while there
 * is no NIC or several; another NIC that appears later changes nothing. A NIC of the kernel causes
 * a uevent (hotplug.c); for the sockets of NICs in user space, this file searches at intervals that
 * grow.
 *
 * Calls of the NIC are jobs of a queue (nicq.c), on a connection that only its thread uses: the
 * search for the NIC, all actions, questions of users, and reading the state again after events
 * were lost. The NIC's events come to the loop, on another connection.
 *
 * After a failed call the NIC does not count as lost: the thread opens the connection again if it
 * broke, and the manager repeats the action. The NIC counts as lost if its event connection ends,
 * or if CALLS_LATE calls in a row failed because its connection broke. If calls merely get no
 * answer, this may mean that the host has no processor time for the NIC: then it counts as lost
 * only some time after CALLS_LATE of them (nic_new()). Until then the manager keeps its table and
 * its connections, and goes on as soon as the NIC answers. No recovery waits for this manager,
 * because it reports to the root that its NIC does not answer (fm/node/task.c).
 *
 * Tests: tests/unit/test_nic_call.c, tests/netns/test_slow_nic.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>
#include "daemon/hotplug.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/nic_impl.h"
#include "daemon/nicq.h"

#define RETRY_MIN	(100 * MS)
#define RETRY_MAX	(5 * SEC)
#define CALLS_LATE	3
#define ROWS_AT_ONCE	4096

bool nic_broken(int err)
{
	switch (err) {
	case -ENODEV:
	case -ECONNRESET:
	case -EPIPE:
	case -ENOTCONN:
	case -ECONNREFUSED:
	case -EBADF:
		return true;
	default:
		return false;
	}
}

static void lose_nic(struct nic *nic, int err)
{
	if (nic->lost || !nic->dev)
		return;
	nic->lost = err;
	loop_timer_set(nic->timer, 0);
}

/*
 * Return: true if the NIC has not answered CALLS_LATE calls in a row, and @patience has passed
 * since then.
 */
static bool is_overdue(const struct nic *nic)
{
	return loop_now() >= nic->late_at + (CALLS_LATE - 1) * CALL_MAX_MS * MS + nic->patience;
}

void nic_answer(struct nic *nic, int err)
{
	if (err != -ETIMEDOUT && !nic_broken(err)) {
		nic->late = 0;
		return;
	}
	if (!nic->late++)
		nic->late_at = loop_now();
	if (nic->late >= CALLS_LATE && (nic_broken(err) || is_overdue(nic)))
		lose_nic(nic, err);
	else if (!nic->lost)
		log_warning("nic", "the NIC did not answer a request: %s", strerror(-err));
}

void nic_give_up(struct nic *nic)
{
	lose_nic(nic, -ENODEV);
}

/* --- rows of the NIC ------------------------------------------------------- */

static int read_rows(struct torus_dev *dev, uint64_t *rows, uint32_t n, uint64_t *version)
{
	uint32_t done = 0;

	while (done < n) {
		uint32_t got = n - done < ROWS_AT_ONCE ? n - done : ROWS_AT_ONCE;
		int err = torus_rows_get(dev, done, rows + done, &got, version);

		if (err || !got)
			return err ? err : -EIO;
		done += got;
	}
	return 0;
}

/* Reads all rows of the NIC @info; the caller frees @rows. Return: 0 or a negative errno. */
static int rows_of(struct torus_dev *dev, const struct torus_device *info, uint64_t **rows,
		   uint64_t *version)
{
	uint32_t n = torus_nodes(&info->shape);
	uint64_t *r = calloc(n ? n : 1, sizeof(*r));
	int err = r ? read_rows(dev, r, n, version) : -ENOMEM;

	if (err)
		free(r);
	else
		*rows = r;
	return err;
}

/* --- events of the NIC ----------------------------------------------------- */

static void on_event(const struct torus_event *ev, void *arg)
{
	struct nic *nic = arg;

	switch (ev->group) {
	case TORUS_GROUP_LINK:
		nic->ops->link(nic->arg, &ev->link);
		break;
	case TORUS_GROUP_MGMT:
		nic->ops->mgmt(nic->arg, ev->port, ev->data, ev->len);
		break;
	case TORUS_GROUP_PARK:
		nic->ops->park(nic->arg, &ev->park);
		break;
	default:
		break;
	}
}

/**
 * struct reading - a job that reads the state of the NIC because events were lost
 *
 * During this job the loop reads no events from the socket; it handles them after the state that
 * was read.
 */
struct reading {
	struct nicq_job job;
	struct nic *nic;
	struct calls *calls;
	uint32_t life;
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int n;
	struct torus_park park;
};

static int run_reading(struct nicq_job *job)
{
	struct reading *r = (struct reading *)job;
	struct torus_dev *dev;
	int err;

	if (r->life != r->nic->life)
		return -ENODEV;
	err = nic_calls_dev(r->calls, &dev);
	r->n = TORUS_MAX_PORTS;
	if (!err)
		err = torus_links_get(dev, r->links, &r->n);
	if (!err)
		err = torus_park_get(dev, &r->park);
	nic_calls_end(r->calls, err);
	return err;
}

static void reading_done(struct nicq_job *job)
{
	struct reading *r = (struct reading *)job;
	struct nic *nic = r->nic;

	if (r->life != nic->life) {
		free(r);
		return;
	}
	nic_answer(nic, job->err);
	if ((nic_broken(job->err) || job->err == -ETIMEDOUT) && !nic->lost) {
		nicq_add(nic->queue, job);
		return;
	}
	if (job->err)
		lose_nic(nic, job->err);
	for (unsigned int i = 0; !job->err && i < r->n; i++)
		nic->ops->link(nic->arg, &r->links[i]);
	if (!job->err)
		nic->ops->park(nic->arg, &r->park);
	loop_fd_set(nic->watch, LOOP_READ);
	free(r);
}

static int read_again(struct nic *nic)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	log_debug("nic", "events of the NIC were lost: its whole state is read again");
	r->job.run = run_reading;
	r->job.done = reading_done;
	r->nic = nic;
	r->calls = nic->calls;
	r->life = nic->life;
	loop_fd_set(nic->watch, 0);
	nicq_add(nic->queue, &r->job);
	return 0;
}

static void on_readable(void *arg, unsigned int what)
{
	struct nic *nic = arg;
	int err;

	(void)what;
	err = torus_events_read(nic->dev, on_event, nic);
	if (err == -ENOBUFS) {
	/*
	 * If there is no memory for the job, search for the NIC again, because lost events are not
	 * repeated.
	 */
		if (read_again(nic))
			lose_nic(nic, -ENOMEM);
		return;
	}
	if (err && err != -EAGAIN && err != -EINTR && err != -ENOMEM)
		lose_nic(nic, -ENODEV);
}

/* --- search for the NIC ---------------------------------------------------- */

/**
 * struct look - a job that searches for the NIC
 * @why: the reason why no NIC was found, as text
 * @calls: the connection of a NIC that was lost because it did not answer, or NULL; after the
 *	search, the connection of the NIC that was found
 * @events, @info, @links, @park, @rows: event connection and state of the NIC that was found
 */
struct look {
	struct nicq_job job;
	struct nic *nic;
	uint32_t life;
	char why[256];
	struct torus_dev *events;
	struct calls *calls;
	struct torus_device info;
	struct torus_link links[TORUS_MAX_PORTS];
	struct torus_park park;
	uint64_t *rows;
	struct nic_note note;
};

/** struct listing - number of NICs that torus_list() finds, and the name of the first NIC */
struct listing {
	char first[128];
	unsigned int n;
};

static int on_listed(const char *where, void *arg)
{
	struct listing *l = arg;

	if (!l->n++)
		snprintf(l->first, sizeof(l->first), "%s", where);
	return 0;
}

static int __attribute__((format(printf, 3, 4)))
no_nic_here(struct look *l, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
	return err;
}

/* Chooses the NIC to open. Return: 0, with its name in @where, or a negative errno. */
static int choose_nic(struct look *l, char *where, size_t room)
{
	struct listing found = { .n = 0 };
	int err;

	snprintf(where, room, "%s", l->nic->where);
	if (strcmp(where, "auto"))
		return 0;
	err = torus_list(on_listed, &found);
	if (err < 0)
		return no_nic_here(l, err, "cannot look for NICs: %s", strerror(-err));
	if (!found.n)
		return no_nic_here(l, -ENODEV, "no NIC here yet");
	if (found.n > 1)
		return no_nic_here(l, -ENOTUNIQ,
				   "%u NICs here, the first is %s: name one in the key 'device'",
				   found.n, found.first);
	snprintf(where, room, "%s", found.first);
	return 0;
}

static int open_both(struct look *l)
{
	const char *where = l->calls->where;
	int err = l->calls->dev ? 0 : torus_open(where, &l->calls->dev);

	if (!err)
		err = torus_open(where, &l->events);
	if (err)
		return no_nic_here(l, err, "cannot open the NIC: %s", torus_error(NULL));
	torus_timeout_set(l->calls->dev, CALL_MAX_MS);
	torus_timeout_set(l->events, CALL_MAX_MS);
	/* Subscribe before the state is read, so that no change in between is missed. */
	err = torus_events_open(l->events, (1u << TORUS_GROUPS) - 1);
	if (err)
		return no_nic_here(l, err, "cannot read NIC %s: %s", where, torus_error(l->events));
	return 0;
}

static int read_all(struct look *l)
{
	struct torus_dev *dev = l->calls->dev;
	unsigned int n = TORUS_MAX_PORTS;
	uint64_t version;
	int err = torus_device_get(dev, &l->info);

	if (!err)
		err = torus_links_get(dev, l->links, &n);
	if (!err)
		err = torus_park_get(dev, &l->park);
	if (!err && l->info.placed)
		err = rows_of(dev, &l->info, &l->rows, &version);
	if (!err && n != l->info.nports)
		err = -EPROTO;
	if (err)
		return no_nic_here(l, err, "cannot read NIC %s: %s", l->calls->where,
				   torus_error(dev));
	l->calls->guid = l->info.guid;
	l->calls->epoch = l->info.epoch;
	return 0;
}

static bool is_kernel(const struct calls *calls)
{
	return !strncmp(calls->where, "genl:", 5);
}

static int run_look(struct nicq_job *job)
{
	struct look *l = (struct look *)job;
	const struct torus_device *info = &l->info;
	struct torus_plan plan;
	int err;

	if (!l->calls)
		l->calls = calloc(1, sizeof(*l->calls));
	if (!l->calls)
		return no_nic_here(l, -ENOMEM, "out of memory");
	err = l->calls->dev ? 0 : choose_nic(l, l->calls->where, sizeof(l->calls->where));
	if (!err)
		err = open_both(l);
	if (!err)
		err = read_all(l);
	plan = info->plan;
	if (!plan.len4)
		torus_plan_default(&plan);
	if (!err && is_kernel(l->calls) && info->placed)
		nic_interface_place(info, &info->shape, &info->coords, &plan, &l->note);
	return err;
}

static void calls_free(struct calls *calls)
{
	if (calls)
		torus_close(calls->dev);
	free(calls);
}

/*
 * Keeps the connection of a NIC that does not answer. The next search uses the same connection
 * (nicq.c).
 */
static void keep_calls(struct nic *nic, struct look *l)
{
	if (l->job.err != -ETIMEDOUT || !l->calls || !l->calls->dev)
		return;
	nic->calls = l->calls;
	l->calls = NULL;
}

static void look_free(struct look *l)
{
	torus_close(l->events);
	calls_free(l->calls);
	free(l->rows);
	free(l);
}

/* Takes over the connections of a NIC that was found. Return: 0 or a negative errno. */
static int bind_nic(struct nic *nic, struct look *l)
{
	nic->watch = loop_fd_new(nic->loop, torus_events_fd(l->events), LOOP_READ, on_readable,
				 nic);
	if (!nic->watch)
		return -ENOMEM;
	nic->dev = l->events;
	nic->calls = l->calls;
	l->events = NULL;
	l->calls = NULL;
	nic->late = 0;
	nic->why[0] = '\0';
	nic->retry = RETRY_MIN;
	nic->kernel = is_kernel(nic->calls);
	nic_note_log(&l->note);
	log_info("nic", "%s: %s '%s', guid %016llx, %u ports", nic->calls->where,
		 l->info.driver, l->info.name, (unsigned long long)l->info.guid,
		 l->info.nports);
	nic->ops->found(nic->arg, &l->info, l->links, &l->park, l->rows);
	return 0;
}

static void note_absent(struct nic *nic, const char *why)
{
	if (!strcmp(why, nic->why))
		return;
	snprintf(nic->why, sizeof(nic->why), "%s", why);
	nic->ops->absent(nic->arg, why);
}

static void look_later(struct nic *nic)
{
	loop_timer_set(nic->timer, loop_now() + nic->retry);
	nic->retry = nic->retry * 2 > RETRY_MAX ? RETRY_MAX : nic->retry * 2;
}

static void look_done(struct nicq_job *job)
{
	struct look *l = (struct look *)job;
	struct nic *nic = l->nic;

	if (l->life == nic->life) {
		nic->looking = false;
		keep_calls(nic, l);
		if (job->err)
			note_absent(nic, l->why[0] ? l->why : strerror(-job->err));
		if (job->err || bind_nic(nic, l))
			look_later(nic);
	}
	look_free(l);
}

static void start_look(struct nic *nic)
{
	struct look *l = calloc(1, sizeof(*l));

	if (!l) {
		look_later(nic);
		return;
	}
	l->job.run = run_look;
	l->job.done = look_done;
	l->nic = nic;
	l->life = nic->life;
	l->calls = nic->calls;
	nic->calls = NULL;
	nic->looking = true;
	nicq_add(nic->queue, &l->job);
}

/* --- loss of the NIC --------------------------------------------------------- */

static int run_nothing(struct nicq_job *job)
{
	(void)job;
	return 0;
}

static void closing_done(struct nicq_job *job)
{
	calls_free((struct calls *)job);
}

/* Adds a job that closes the connection, after the jobs that still use it. */
static void close_calls(struct nic *nic)
{
	nic->calls->closing.run = run_nothing;
	nic->calls->closing.done = closing_done;
	nicq_add(nic->queue, &nic->calls->closing);
	nic->calls = NULL;
}

static void unbind_nic(struct nic *nic)
{
	nic->life++;
	if (nic->lost != -ETIMEDOUT)
		close_calls(nic);
	loop_fd_free(nic->watch);
	nic->watch = NULL;
	torus_close(nic->dev);
	nic->dev = NULL;
	nic->lost = 0;
	nic->no_memory = 0;
}

static void on_nic_timer(void *arg)
{
	struct nic *nic = arg;

	if (nic->lost) {
		const char *why = strerror(-nic->lost);

		unbind_nic(nic);
		nic->ops->gone(nic->arg, why);
	} else if (nic->no_memory) {
		uint32_t tag = nic->no_memory;

		nic->no_memory = 0;
		nic->ops->done(nic->arg, tag, -ENOMEM, NULL, 0);
	}
	if (!nic->dev && !nic->looking)
		start_look(nic);
}

static void on_hotplug(void *arg)
{
	struct nic *nic = arg;

	if (nic->dev)
		return;
	nic->retry = RETRY_MIN;
	loop_timer_set(nic->timer, 0);
}

struct nic *nic_new(struct loop *loop, const char *where, uint64_t patience,
		    const struct nic_ops *ops, void *arg)
{
	struct nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	nic->loop = loop;
	nic->ops = ops;
	nic->arg = arg;
	nic->patience = patience;
	nic->retry = RETRY_MIN;
	snprintf(nic->where, sizeof(nic->where), "%s", where);
	nic->timer = loop_timer_new(loop, on_nic_timer, nic);
	nic->queue = nic->timer ? nicq_new(loop) : NULL;
	if (!nic->queue) {
		loop_timer_free(nic->timer);
		free(nic);
		return NULL;
	}
	if (strncmp(where, "unix:", 5)) {
		nic->hotplug = hotplug_new(loop, on_hotplug, nic);
		if (!nic->hotplug)
			log_warning("nic", "cannot watch for new NICs: %s", strerror(errno));
	}
	loop_timer_set(nic->timer, 0);
	return nic;
}

const struct histogram *nic_times(const struct nic *nic)
{
	return nicq_times(nic->queue);
}

void nic_free(struct nic *nic)
{
	if (!nic)
		return;
	if (nic->dev)
		unbind_nic(nic);
	nic->life++;
	nicq_free(nic->queue);
	calls_free(nic->calls);
	loop_timer_free(nic->timer);
	hotplug_free(nic->hotplug);
	free(nic);
}

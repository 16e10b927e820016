// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The thread takes one password after the other. A mutex protects the data that it shares with the
 * loop. By a descriptor it wakes the loop when a password was compared.
 */
#include <crypt.h>
#include <event2/event.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "hasher.h"

#define JOBS_MAX	32
#define JOBS_OF_ONE	4	/* most passwords of one client that wait */

/**
 * struct job - a password
 * @turn: passwords of lower turns come first
 * @shared: another job that came before it has the same one
 */
struct job {
	TAILQ_ENTRY(job) entry;
	struct users_try try;
	struct source from;
	hasher_done *done;
	void *arg;
	uint64_t turn;
	enum hasher_result result;
	bool shared;
};

TAILQ_HEAD(jobs, job);

/**
 * struct hasher - the thread
 * @mutex: guards all that follows it
 * @waiting, @compared: passwords before and after
 * @now: the password that is being hashed, or NULL
 * @turn, @last: the turn and the client of the password that was taken last
 */
struct hasher {
	pthread_t thread;
	struct event *event;
	int fd;
	pthread_mutex_t mutex;
	pthread_cond_t more;
	struct jobs waiting, compared;
	struct job *now;
	uint64_t turn;
	struct source last;
	bool ends;
};

/*
 * Return: the turn of a client's next password. In a turn each client has one password. A new
 * client begins with the next turn: it waits for at most one password of each other client, and
 * cannot overtake others by connecting again.
 */
static uint64_t choose_turn_of(const struct hasher *h, const struct source *from)
{
	uint64_t turn = h->turn;
	const struct job *j;

	TAILQ_FOREACH(j, &h->waiting, entry)
		if (source_is_same(&j->from, from) && j->turn > turn)
			turn = j->turn;
	return turn + 1;
}

/*
 * Return: true if job @a is done before job @b. Within a turn, the client whose password was hashed
 * last comes after the others, which have waited for that one.
 */
static bool goes_before(const struct hasher *h, const struct job *a, const struct job *b)
{
	if (a->turn != b->turn)
		return a->turn < b->turn;
	return source_is_same(&b->from, &h->last) && !source_is_same(&a->from, &h->last);
}

static struct job *take_next_job(struct hasher *h)
{
	struct job *j, *next = TAILQ_FIRST(&h->waiting);

	TAILQ_FOREACH(j, &h->waiting, entry)
		if (goes_before(h, j, next))
			next = j;
	TAILQ_REMOVE(&h->waiting, next, entry);
	h->turn = next->turn;
	h->last = next->from;
	return next;
}

static bool is_same_try(const struct users_try *a, const struct users_try *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->hash, b->hash) &&
	       !strcmp(a->password, b->password);
}

/* Gives the result of @done to all requests that wait with the same password, as of one page. */
static void finish_same(struct hasher *h, const struct job *done)
{
	struct job *j = TAILQ_FIRST(&h->waiting), *next;

	for (; j; j = next) {
		next = TAILQ_NEXT(j, entry);
		if (!is_same_try(&j->try, &done->try))
			continue;
		j->result = done->result;
		TAILQ_REMOVE(&h->waiting, j, entry);
		TAILQ_INSERT_TAIL(&h->compared, j, entry);
	}
}

static void *hash_passwords(void *arg)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	static const uint64_t one = 1;
	struct hasher *h = arg;

	pthread_mutex_lock(&h->mutex);
	for (;;) {
		struct job *j;

		while (!h->ends && TAILQ_EMPTY(&h->waiting))
			pthread_cond_wait(&h->more, &h->mutex);
		if (h->ends)
			break;
		j = h->now = take_next_job(h);
		pthread_mutex_unlock(&h->mutex);
		j->result = data && users_compare(&j->try, data) ? HASHER_RIGHT : HASHER_WRONG;
		pthread_mutex_lock(&h->mutex);
		h->now = NULL;
		TAILQ_INSERT_TAIL(&h->compared, j, entry);
		finish_same(h, j);
		if (write(h->fd, &one, sizeof(one)) < 0)
			break;
	}
	pthread_mutex_unlock(&h->mutex);
	free(data);
	return NULL;
}

static void finish_job(struct job *j)
{
	j->done(j->arg, &j->try, j->result);
	OPENSSL_cleanse(&j->try, sizeof(j->try));
	free(j);
}

static void on_compared(evutil_socket_t fd, short what, void *arg)
{
	struct jobs compared = TAILQ_HEAD_INITIALIZER(compared);
	struct hasher *h = arg;
	struct job *j;
	uint64_t n;

	(void)what;
	if (read(fd, &n, sizeof(n)) < 0)
		return;
	pthread_mutex_lock(&h->mutex);
	TAILQ_CONCAT(&compared, &h->compared, entry);
	pthread_mutex_unlock(&h->mutex);
	while ((j = TAILQ_FIRST(&compared)) != NULL) {
		TAILQ_REMOVE(&compared, j, entry);
		finish_job(j);
	}
}

/* Return: true if the same password is being hashed, or waits for that, anyway. */
static bool is_expected(const struct hasher *h, const struct users_try *try)
{
	const struct job *j;

	if (h->now && is_same_try(&h->now->try, try))
		return true;
	TAILQ_FOREACH(j, &h->waiting, entry)
		if (is_same_try(&j->try, try))
			return true;
	return false;
}

/* Return: how many passwords of a client wait; NULL: of all. */
static unsigned int count_jobs(const struct hasher *h, const struct source *from)
{
	const struct job *j;
	unsigned int n = 0;

	TAILQ_FOREACH(j, &h->waiting, entry)
		n += !j->shared && (!from || source_is_same(&j->from, from));
	return n;
}

/*
 * Return: the last password of the client of which most wait, if these are more than @from would
 * have with a further one; else NULL.
 */
static struct job *find_last_of_most(struct hasher *h, const struct source *from)
{
	unsigned int most = count_jobs(h, from) + 2;
	struct job *j, *found = NULL;

	TAILQ_FOREACH(j, &h->waiting, entry) {
		unsigned int n = j->shared ? 0 : count_jobs(h, &j->from);

		if (n >= most) {
			most = n;
			found = j;
		}
	}
	return found;
}

/* Removes a password that waits, with all that are the same, and adds them to @left. */
static void leave_job(struct hasher *h, const struct job *which, struct jobs *left)
{
	struct job *j = TAILQ_FIRST(&h->waiting), *next;
	const struct users_try try = which->try;

	for (; j; j = next) {
		next = TAILQ_NEXT(j, entry);
		if (!is_same_try(&j->try, &try))
			continue;
		j->result = HASHER_LEFT;
		TAILQ_REMOVE(&h->waiting, j, entry);
		TAILQ_INSERT_TAIL(left, j, entry);
	}
}

/* Makes room for one more password of a client. Return: false if there is none. */
static bool admit_password(struct hasher *h, const struct source *from, struct jobs *left)
{
	bool is_now = h->now && source_is_same(&h->now->from, from);
	struct job *last;

	if (count_jobs(h, from) + is_now >= JOBS_OF_ONE)
		return false;
	if (count_jobs(h, NULL) < JOBS_MAX)
		return true;
	last = find_last_of_most(h, from);
	if (last)
		leave_job(h, last, left);
	return last;
}

bool hasher_add(struct hasher *h, const struct users_try *try, const struct source *from,
		hasher_done *done, void *arg)
{
	struct jobs left = TAILQ_HEAD_INITIALIZER(left);
	struct job *j = malloc(sizeof(*j)), *other;
	bool room;

	if (!j)
		return false;
	*j = (struct job){ .try = *try, .from = *from, .done = done, .arg = arg };
	pthread_mutex_lock(&h->mutex);
	j->shared = is_expected(h, try);
	room = j->shared || admit_password(h, from, &left);
	if (room) {
		j->turn = choose_turn_of(h, from);
		TAILQ_INSERT_TAIL(&h->waiting, j, entry);
		pthread_cond_signal(&h->more);
	}
	pthread_mutex_unlock(&h->mutex);
	if (!room)
		free(j);
	while ((other = TAILQ_FIRST(&left)) != NULL) {
		TAILQ_REMOVE(&left, other, entry);
		finish_job(other);
	}
	return room;
}

/* The thread must not get signals, which the loop handles. */
static bool start_hashing(struct hasher *h)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&h->thread, NULL, hash_passwords, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !rc;
}

struct hasher *hasher_new(struct event_base *base)
{
	struct hasher *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	TAILQ_INIT(&h->waiting);
	TAILQ_INIT(&h->compared);
	pthread_mutex_init(&h->mutex, NULL);
	pthread_cond_init(&h->more, NULL);
	h->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->event = h->fd < 0 ? NULL : event_new(base, h->fd, EV_READ | EV_PERSIST, on_compared, h);
	if (h->event && !event_add(h->event, NULL) && start_hashing(h))
		return h;
	if (h->event)
		event_free(h->event);
	if (h->fd >= 0)
		close(h->fd);
	free(h);
	return NULL;
}

void hasher_free(struct hasher *h)
{
	struct job *j;

	pthread_mutex_lock(&h->mutex);
	h->ends = true;
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->mutex);
	pthread_join(h->thread, NULL);
	TAILQ_CONCAT(&h->waiting, &h->compared, entry);
	while ((j = TAILQ_FIRST(&h->waiting)) != NULL) {
		TAILQ_REMOVE(&h->waiting, j, entry);
		j->result = HASHER_LEFT;
		finish_job(j);
	}
	event_free(h->event);
	close(h->fd);
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->mutex);
	free(h);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mutex that is locked twice by one thread, or that a thread unlocks or waits with which has not
 * locked it, ends the program. Link with -Wl,--wrap=... for each function below.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __real_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);

static int check_mutex(int err, const char *call)
{
	if (err) {
		fprintf(stderr, "not ok - %s: error %d\n", call, err);
		abort();
	}
	return err;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	pthread_mutexattr_t checked;
	int err;

	(void)attr;
	pthread_mutexattr_init(&checked);
	pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
	err = __real_pthread_mutex_init(m, &checked);
	pthread_mutexattr_destroy(&checked);
	return check_mutex(err, "pthread_mutex_init");
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	return check_mutex(__real_pthread_mutex_lock(m), "pthread_mutex_lock");
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	return check_mutex(__real_pthread_mutex_unlock(m), "pthread_mutex_unlock");
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
	return check_mutex(__real_pthread_mutex_destroy(m), "pthread_mutex_destroy");
}

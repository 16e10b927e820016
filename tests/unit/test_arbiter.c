// SPDX-License-Identifier: GPL-2.0-only
/* The program that is an arbiter: its input, and all errors that its answer can have. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/arbiter.h"
#include "daemon/log.h"

#define PATIENCE (10 * SEC)

static struct loop *loop;
static char dir[] = "/tmp/test_arbiter.XXXXXX";
static struct arbiter_answer got;
static unsigned int answers;

static void on_answer(void *arg, const struct arbiter_answer *is)
{
	(void)arg;
	got = *is;
	answers++;
	loop_stop(loop);
}

static void on_late(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void run_for(uint64_t ns)
{
	struct loop_timer *t = loop_timer_new(loop, on_late, NULL);

	loop_timer_set(t, loop_now() + ns);
	assert_int_equal(loop_run(loop), 0);
	loop_timer_free(t);
}

/* Return: the path of file @name in the directory of this test. */
static const char *path(const char *name)
{
	static char text[2][sizeof(dir) + 20];
	static unsigned int k;

	k = !k;
	snprintf(text[k], sizeof(text[k]), "%s/%s", dir, name);
	return text[k];
}

/* Writes the shell script that is the arbiter. */
static struct arbiter *script(const char *text, uint64_t max)
{
	int fd;

	unlink(path("arbiter"));
	fd = open(path("arbiter"), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_true(dprintf(fd, "#!/bin/sh\ncd %s\n%s\n", dir, text) > 0);
	close(fd);
	answers = 0;
	return arbiter_new(loop, path("arbiter"), "green", max, on_answer, NULL);
}

/* Makes the arbiter answer a question about epoch 7 with this text. */
static void check_answer(const char *text, enum fm_verdict verdict, uint64_t high, const char *why)
{
	struct arbiter *a = script(text, PATIENCE);

	arbiter_ask(a, 7, 0xabc);
	assert_int_equal(answers, 0);
	run_for(PATIENCE);
	assert_int_equal(answers, 1);
	assert_true(got.epoch == 7);
	if (got.verdict != verdict || got.high != high || strcmp(got.why, why))
		fail_msg("%s: verdict %u of %llu: %s", text, got.verdict,
			 (unsigned long long)got.high, got.why);
	arbiter_free(a);
}

static void arbiter_gets_claim_epoch_guid_and_no_other_files(void **state)
{
	char line[200] = "";
	FILE *f;

	(void)state;
	check_answer("echo \"$@\" $TORUS_FABRIC $(ls /proc/self/fd | wc -l) > asked; cat; echo "
		     "granted", FM_GRANTED, 0, "");
	f = fopen(path("asked"), "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	/* Four files: input, output, errors, and the one of ls. */
	assert_string_equal(line, "claim 7 0000000000000abc green 4\n");
}

static void each_valid_answer_gives_its_verdict(void **state)
{
	(void)state;
	check_answer("echo granted", FM_GRANTED, 0, "");
	check_answer("printf granted", FM_GRANTED, 0, "");
	check_answer("echo granted; echo and more", FM_GRANTED, 0, "");
	check_answer("echo refused", FM_REFUSED, 0, "it gave no reason");
	check_answer("echo refused 41", FM_REFUSED, 41, "it gave no reason");
	check_answer("echo refused 18446744073709551615 held by 0abc", FM_REFUSED, UINT64_MAX,
		     "held by 0abc");
	check_answer("echo refused not quorate", FM_REFUSED, 0, "not quorate");
	check_answer("echo refused 18446744073709551616", FM_REFUSED, 0, "18446744073709551616");
	check_answer("echo refused 111111111111111111111111111111", FM_REFUSED, 0,
		     "111111111111111111111111111111");
	check_answer("echo unknown", FM_UNKNOWN, 0, "it does not know");
	check_answer("echo unknown no way to etcd", FM_UNKNOWN, 0, "no way to etcd");
}

static void invalid_answer_is_unknown_with_its_text(void **state)
{
	(void)state;
	check_answer("true", FM_UNKNOWN, 0, "it gave no answer");
	check_answer("echo", FM_UNKNOWN, 0, "it gave no answer");
	check_answer("echo; echo granted", FM_UNKNOWN, 0, "it gave no answer");
	check_answer("echo granted 7", FM_UNKNOWN, 0, "it answered 'granted 7'");
	check_answer("echo grantedly", FM_UNKNOWN, 0, "it answered 'grantedly'");
	check_answer("echo GRANTED", FM_UNKNOWN, 0, "it answered 'GRANTED'");
	check_answer("echo ' granted'", FM_UNKNOWN, 0, "it answered ' granted'");
	check_answer("printf 'a\\000\\033\\377b'", FM_UNKNOWN, 0, "it answered 'a???b'");
	check_answer("printf 'granted\\000'", FM_UNKNOWN, 0, "it answered 'granted?'");
	/* Much more than is read, though less than a pipe takes. */
	check_answer("head -c 60000 /dev/zero | tr '\\000' x", FM_UNKNOWN, 0,
		     "it answered 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'");
	check_answer("echo granted; exit 3", FM_UNKNOWN, 0, "it ended with status 3");
	check_answer("echo granted; exit 127", FM_UNKNOWN, 0, "it ended with status 127");
	check_answer("echo granted; kill -9 $$", FM_UNKNOWN, 0, "it ended by signal 9");
	check_answer("echo granted; kill -PIPE $$", FM_UNKNOWN, 0, "it ended by signal 13");
}

static bool lives(const char *name)
{
	char line[32];
	FILE *f = fopen(path(name), "r");
	bool yes;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	yes = !kill(atoi(line), 0);
	return yes;
}

/* Checks that the arbiter, or a process that it has started, is gone within some time. */
static void is_gone(const char *name)
{
	for (unsigned int i = 0; i < 500 && lives(name); i++)
		run_for(10 * MS);
	assert_false(lives(name));
}

static void arbiter_that_is_too_slow_is_killed_with_its_child(void **state)
{
	struct arbiter *a = script("sleep 60 & echo $! > child; echo $$ > self; echo granted; wait",
				   300 * MS);
	uint64_t began = loop_now();

	(void)state;
	arbiter_ask(a, 7, 1);
	run_for(PATIENCE);
	assert_int_equal(answers, 1);
	assert_true(loop_now() >= began + 300 * MS);
	assert_int_equal(got.verdict, FM_UNKNOWN);
	assert_string_equal(got.why, "no answer within 300 ms");
	is_gone("self");
	assert_int_equal(answers, 1);
	arbiter_free(a);
}

/* A process that the arbiter leaves behind is not waited for, and is killed. */
static void child_that_arbiter_leaves_is_killed(void **state)
{
	struct arbiter *a = script("sleep 60 & echo $! > child; echo granted", PATIENCE);
	uint64_t began = loop_now();

	(void)state;
	arbiter_ask(a, 7, 1);
	run_for(PATIENCE);
	assert_int_equal(got.verdict, FM_GRANTED);
	assert_true(loop_now() < began + PATIENCE);
	is_gone("child");
	arbiter_free(a);
}

/* Only the last of two questions is answered; the program that was asked the first is killed. */
static void only_last_question_is_answered(void **state)
{
	struct arbiter *a = script("echo $$ > self.$2; test $2 = 8 || sleep 60; echo granted",
				   PATIENCE);

	(void)state;
	arbiter_ask(a, 7, 1);
	while (access(path("self.7"), F_OK))
		run_for(10 * MS);
	run_for(50 * MS);
	arbiter_ask(a, 8, 1);
	run_for(PATIENCE);
	assert_int_equal(answers, 1);
	assert_true(got.epoch == 8 && got.verdict == FM_GRANTED);
	is_gone("self.7");
	assert_int_equal(answers, 1);
	/* The manager ends in the middle of a question. */
	arbiter_ask(a, 7, 1);
	arbiter_free(a);
	run_for(50 * MS);
	assert_int_equal(answers, 1);
}

static void missing_arbiter_answers_unknown(void **state)
{
	struct arbiter *a = arbiter_new(loop, "/nowhere/arbiter", "green", PATIENCE, on_answer,
					NULL);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		answers = 0;
		arbiter_ask(a, 9, 1);
		assert_int_equal(answers, 0);
		run_for(PATIENCE);
		assert_int_equal(answers, 1);
		assert_true(got.epoch == 9 && got.verdict == FM_UNKNOWN);
		assert_string_equal(got.why, "/nowhere/arbiter: No such file or directory");
	}
	arbiter_free(a);
	a = arbiter_new(loop, "/etc", "green", PATIENCE, on_answer, NULL);
	arbiter_ask(a, 9, 1);
	run_for(PATIENCE);
	assert_string_equal(got.why, "/etc: Permission denied");
	arbiter_free(a);
}

static int begin(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	log_open(NULL);
	loop = loop_new();
	return !loop || !mkdtemp(dir);
}

static int end(void **state)
{
	char rm[64];

	(void)state;
	loop_free(loop);
	log_close();
	snprintf(rm, sizeof(rm), "rm -r %s", dir);
	return system(rm);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(arbiter_gets_claim_epoch_guid_and_no_other_files),
		cmocka_unit_test(each_valid_answer_gives_its_verdict),
		cmocka_unit_test(invalid_answer_is_unknown_with_its_text),
		cmocka_unit_test(arbiter_that_is_too_slow_is_killed_with_its_child),
		cmocka_unit_test(child_that_arbiter_leaves_is_killed),
		cmocka_unit_test(only_last_question_is_answered),
		cmocka_unit_test(missing_arbiter_answers_unknown),
	};

	return cmocka_run_group_tests_name("arbiter", all, begin, end);
}

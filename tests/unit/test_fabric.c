// SPDX-License-Identifier: GPL-2.0-only
/* Requests to a fabric manager that is played by the test. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include <torus/fabric.h>

static char path[] = "/tmp/test_fabric.XXXXXX";
static int listener = -1;
static struct torus_fabric *fabric;

/**
 * struct script - what the manager does on one connection
 * @reply: sent when a line has come; NULL: nothing
 * @pieces: bytes of a send, 0 for all at once
 * @hang_up: close after the reply
 * @request: the line that came
 */
static struct script {
	const char *reply;
	size_t pieces;
	bool hang_up;
	char request[70000];
} script;

static void send_reply(int fd, const struct script *s)
{
	size_t len = s->reply ? strlen(s->reply) : 0, at, n;

	for (at = 0; at < len; at += n) {
		n = s->pieces && s->pieces < len - at ? s->pieces : len - at;
		if (send(fd, s->reply + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			return;
		if (s->pieces)
			usleep(100);
	}
}

/* Serves one connection after the other until the listener is shut down. */
static void *serve(void *arg)
{
	struct script *s = arg;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		size_t len = 0;
		ssize_t n;

		while ((n = recv(fd, s->request + len, sizeof(s->request) - 1 - len, 0)) > 0) {
			len += (size_t)n;
			if (s->request[len - 1] != '\n')
				continue;
			s->request[len - 1] = '\0';
			len = 0;
			send_reply(fd, s);
			if (s->hang_up)
				break;
		}
		close(fd);
	}
	return NULL;
}

static pthread_t thread;

static int open_fabric(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	(void)state;
	memset(&script, 0, sizeof(script));
	strcpy(sa.sun_path, path);
	unlink(path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, &script), 0);
	assert_int_equal(torus_fabric_open(path, &fabric), 0);
	return 0;
}

static int close_fabric(void **state)
{
	(void)state;
	torus_fabric_close(fabric);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
	unlink(path);
	return 0;
}

static void test_call_returns_reply_in_any_pieces(void **state)
{
	static const size_t pieces[] = { 0, 1, 7 };
	char *reply;
	unsigned int i;

	(void)state;
	script.reply = "{\"ok\":true,\"data\":[1,2,3]}\n";
	for (i = 0; i < 3; i++) {
		script.pieces = pieces[i];
		assert_int_equal(torus_fabric_call(fabric, "{\"cmd\":\"x\"}", &reply, 2000), 0);
		assert_string_equal(reply, "{\"ok\":true,\"data\":[1,2,3]}");
		assert_string_equal(script.request, "{\"cmd\":\"x\"}");
		free(reply);
	}
}

static void test_next_returns_further_lines_of_reply(void **state)
{
	char *reply;

	(void)state;
	script.reply = "{\"ok\":true,\"more\":true}\n{\"b\":1}\n{\"c\":";
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 2000), 0);
	assert_string_equal(reply, "{\"ok\":true,\"more\":true}");
	free(reply);
	assert_int_equal(torus_fabric_next(fabric, &reply, 2000), 0);
	assert_string_equal(reply, "{\"b\":1}");
	free(reply);
	/* Half a line is no reply; waiting for the rest does not end the connection. */
	assert_int_equal(torus_fabric_next(fabric, &reply, 20), -ETIMEDOUT);
	assert_true(torus_fabric_fd(fabric) >= 0);
}

static void test_large_reply_and_request_are_whole(void **state)
{
	size_t len = 3u << 20;
	char *big = malloc(len + 2), *reply;

	(void)state;
	memset(big, 'a', len);
	strcpy(big + len, "\n");
	script.reply = big;
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 5000), 0);
	assert_int_equal(strlen(reply), len);
	free(reply);
	free(big);
	/* A request of the largest size, one that is larger, and one in two lines. */
	big = malloc((64 << 10) + 2);
	memset(big, 'b', (64 << 10) + 1);
	big[(64 << 10) + 1] = '\0';
	script.reply = "{}\n";
	assert_int_equal(torus_fabric_call(fabric, big, &reply, 2000), -EINVAL);
	big[64 << 10] = '\0';
	assert_int_equal(torus_fabric_call(fabric, big, &reply, 2000), 0);
	assert_string_equal(script.request, big);
	free(reply);
	free(big);
	assert_int_equal(torus_fabric_call(fabric, "{}\n{}", &reply, 2000), -EINVAL);
}

static void test_too_large_reply_is_refused(void **state)
{
	size_t len = (32u << 20) + 10;
	char *big = malloc(len + 1), *reply;

	(void)state;
	memset(big, 'a', len);
	big[len] = '\0';
	script.reply = big;
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 5000), -EMSGSIZE);
	script.reply = "{}\n";
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 2000), 0);
	free(reply);
	free(big);
}

/*
 * After a failure the next call makes a new connection, so a late reply cannot be mistaken for its
 * own.
 */
static void test_call_after_failure_makes_new_connection(void **state)
{
	char *reply;

	(void)state;
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 30), -ETIMEDOUT);
	assert_int_equal(torus_fabric_fd(fabric), -1);
	assert_int_equal(torus_fabric_next(fabric, &reply, 30), -ENOTCONN);
	script.reply = "{\"half\":";
	script.hang_up = true;
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 2000), -ECONNRESET);
	assert_non_null(strstr(torus_fabric_error(fabric), "closed"));
	script.reply = "{}\n";
	assert_int_equal(torus_fabric_call(fabric, "{}", &reply, 2000), 0);
	assert_string_equal(reply, "{}");
	free(reply);
}

static void test_place_has_shape_and_coordinates_of_node(void **state)
{
	struct torus_shape shape;
	struct torus_coords at;

	(void)state;
	script.reply = "{\"ok\":true,\"data\":{\"node\":[3,0],\"name\":\"n3-0\",\"id\":3,"
		       "\"address\":\"10.3.0.0\",\"shape\":[4,2],\"own\":true}}\n";
	assert_int_equal(torus_fabric_place(fabric, &shape, &at), 0);
	assert_string_equal(script.request, "{\"cmd\":\"coord\"}");
	assert_int_equal(shape.ndims, 2);
	assert_int_equal(shape.size[0], 4);
	assert_int_equal(shape.size[1], 2);
	assert_int_equal(shape.size[5], 1);
	assert_int_equal(at.c[0], 3);
	assert_int_equal(torus_fabric_node(fabric, "n3-0", &at), 0);
	assert_string_equal(script.request, "{\"cmd\":\"coord\",\"name\":\"n3-0\"}");
	assert_int_equal(torus_fabric_node(fabric, "a\"b\\c\n", &at), 0);
	assert_string_equal(script.request, "{\"cmd\":\"coord\",\"name\":\"a\\\"b\\\\c\\n\"}");
	assert_int_equal(torus_fabric_node(fabric, "\xff\xfe", &at), -EINVAL);
}

static void test_each_refusal_and_bad_reply_has_its_error(void **state)
{
	static const struct {
		const char *reply;
		int err;
		const char *text;
	} t[] = {
		{ "{\"ok\":false,\"code\":\"usage\",\"error\":\"node 'z': unknown\"}\n", -EINVAL,
		  "node 'z': unknown" },
		{ "{\"ok\":false,\"code\":\"denied\",\"error\":\"no\"}\n", -EACCES, "no" },
		{ "{\"ok\":false,\"code\":\"not-ready\",\"error\":\"wait\"}\n", -EAGAIN, "wait" },
		{ "{\"ok\":false,\"code\":\"unreachable\",\"error\":\"root\"}\n", -EHOSTUNREACH,
		  "root" },
		{ "{\"ok\":false,\"code\":\"failed\",\"error\":\"broken\"}\n", -EIO, "broken" },
		{ "{\"ok\":false}\n", -EIO, "refused" },
		{ "\n", -EBADMSG, NULL }, { "nonsense\n", -EBADMSG, NULL },
		{ "[]\n", -EBADMSG, NULL }, { "{}\n", -EBADMSG, NULL },
		{ "{\"ok\":1}\n", -EBADMSG, NULL }, { "{\"ok\":true}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":[]}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":null,\"node\":null}}\n", -EAGAIN, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":null}}\n", -EAGAIN, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[],\"node\":[]}}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":[1]}}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":[1,4]}}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":[1,-1]}}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[4,4],\"node\":[1,\"1\"]}}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[4,70000],\"node\":[1,1]}}\n", -EBADMSG, NULL },
		{ "{\"ok\":true,\"data\":{\"shape\":[1,1,1,1,1,1,1],\"node\":[0]}}\n", -EBADMSG,
		  NULL },
	};
	struct torus_shape shape;
	struct torus_coords at;
	unsigned int i;
	int err;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		script.reply = t[i].reply;
		err = torus_fabric_place(fabric, &shape, &at);
		if (err != t[i].err)
			fail_msg("%s: %d, expected %d", t[i].reply, err, t[i].err);
		assert_true(*torus_fabric_error(fabric));
		if (t[i].text)
			assert_string_equal(torus_fabric_error(fabric), t[i].text);
	}
}

static void test_open_without_manager_reports_reason(void **state)
{
	struct torus_fabric *f;

	(void)state;
	assert_int_equal(torus_fabric_open("/nonexistent/control", &f), -ENOENT);
	assert_string_equal(torus_fabric_error(NULL), "/nonexistent/control: No such file or "
			    "directory; is fabricd running?");
	assert_int_equal(torus_fabric_open("", &f), -ENAMETOOLONG);
	setenv("TORUS_CONTROL", "/nonexistent/2", 1);
	assert_int_equal(torus_fabric_open(NULL, &f), -ENOENT);
	assert_non_null(strstr(torus_fabric_error(NULL), "/nonexistent/2"));
	setenv("TORUS_CONTROL", path, 1);
	assert_int_equal(torus_fabric_open(NULL, &f), 0);
	torus_fabric_close(f);
	torus_fabric_close(NULL);
}

#define TEST(t) cmocka_unit_test_setup_teardown(test_##t, open_fabric, close_fabric)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(call_returns_reply_in_any_pieces),
		TEST(next_returns_further_lines_of_reply),
		TEST(large_reply_and_request_are_whole),
		TEST(too_large_reply_is_refused),
		TEST(call_after_failure_makes_new_connection),
		TEST(place_has_shape_and_coordinates_of_node),
		TEST(each_refusal_and_bad_reply_has_its_error),
		TEST(open_without_manager_reports_reason),
	};
	int fd = mkstemp(path);

	if (fd < 0) {
		perror(path);
		return 1;
	}
	close(fd);
	return cmocka_run_group_tests_name("fabric", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manager's actions at a NIC behind a socket: how they end if the NIC does them, refuses them,
 * closes the connection, or goes away with one of them under way.
 */
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "client_nic.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/nic.h"
#include "daemon/nic_impl.h"
#include "lib/netdev.h"
#include "lib/util/times.h"

#define PORTS 6
#define PATIENCE (3 * SEC)
#define RING 4

/* How the NIC reacts to actions. */
enum manners { DOES, REFUSES, HANGS_UP, SILENT };

static struct loop *loop;
static struct nic *n;
static _Atomic unsigned int manners;
static _Atomic uint32_t epoch;
static _Atomic uint64_t guid;
static _Atomic int events;	/* the connection that has subscribed */
static _Atomic bool no_memory;
static _Atomic bool plans;	/* the NIC reports its address plan, which is the default one */
static _Atomic int placed;	/* its place in a ring of RING nodes; -1: it has none */
/* port and first byte of each sent management packet; then "|" for a count */
static char sent[64];

/* The calls that the owner got. */
static struct {
	unsigned int found, gone, done, links, link, park;
	uint32_t tag;
	int err;
	bool counted;
	uint64_t parked, lost;
} reported;

static struct nic_question question[129];
static unsigned int answered;
static int answer_err;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return no_memory ? NULL : __real_calloc(count, size);
}

/* The interface of the NIC, as it was set up last, and the place that the NIC had then. */
static struct {
	unsigned int times;
	uint32_t node, old_node, ifindex;
	uint8_t len4, old_len4;
	bool moved;
	int placed, err;
} interface;

int __wrap_lt_netdev_place(const struct lt_netdev *netdev, char *text, size_t len);

int __wrap_lt_netdev_place(const struct lt_netdev *netdev, char *text, size_t len)
{
	interface.times++;
	interface.node = netdev->node;
	interface.moved = netdev->old;
	interface.old_node = netdev->old_node;
	interface.ifindex = netdev->ifindex;
	interface.len4 = netdev->plan->len4;
	interface.old_len4 = netdev->old_plan->len4;
	interface.placed = placed;
	snprintf(text, len, "it does not want to");
	return interface.err;
}

static void put_place(struct nl_msg *msg)
{
	uint16_t size = RING, at = (uint16_t)placed;

	if (placed < 0)
		return;
	nla_put(msg, TORUS_A_SHAPE, sizeof(size), &size);
	nla_put(msg, TORUS_A_COORDS, sizeof(at), &at);
	nla_put_u32(msg, TORUS_A_NODE, at);
}

/* Takes a place that the manager gives it. */
static void take_place(const struct nlmsghdr *req)
{
	struct nlattr *at = nlmsg_find_attr((struct nlmsghdr *)req, GENL_HDRLEN, TORUS_A_COORDS);

	if (at)
		placed = *(uint16_t *)nla_data(at);
}

static void put_device_info(struct nl_msg *msg)
{
	nla_put_string(msg, TORUS_A_NAME, "n");
	nla_put_string(msg, TORUS_A_DRIVER, "fake");
	nla_put_u64(msg, TORUS_A_GUID, guid);
	nla_put_u32(msg, TORUS_A_EPOCH, epoch);
	nla_put_u8(msg, TORUS_A_PORT_COUNT, PORTS);
	nla_put_u32(msg, TORUS_A_IFINDEX, 17);
	put_place(msg);
	if (plans) {
		struct torus_plan plan;

		torus_plan_default(&plan);
		nla_put(msg, TORUS_A_NET4, sizeof(plan.net4), plan.net4);
		nla_put_u8(msg, TORUS_A_NET4_LEN, plan.len4);
		nla_put(msg, TORUS_A_NET6, sizeof(plan.net6), plan.net6);
		nla_put_u8(msg, TORUS_A_NET6_LEN, plan.len6);
	}
	put_counters(msg, TORUS_A_NODE_COUNTERS, TORUS_NC_COUNT, 100);
}

static void answer_links(int fd, const struct nlmsghdr *req)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		struct nl_msg *msg = fake_reply(req, TORUS_CMD_LINK_GET, NLM_F_MULTI);

		put_link(msg, p);
		fake_send(fd, msg);
	}
	fake_done(fd, req, 0, NULL, 0);
}

static void answer_get(int fd, const struct nlmsghdr *req, unsigned int cmd)
{
	struct nl_msg *msg = fake_reply(req, cmd, 0);

	if (cmd == TORUS_CMD_DEVICE_GET)
		put_device_info(msg);
	else
		put_park(msg);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void note_sent(const struct nlmsghdr *req, unsigned int cmd)
{
	struct nlattr *port = nlmsg_find_attr((struct nlmsghdr *)req, GENL_HDRLEN, TORUS_A_PORT);
	struct nlattr *data = nlmsg_find_attr((struct nlmsghdr *)req, GENL_HDRLEN, TORUS_A_DATA);
	size_t len = strlen(sent);

	if (cmd == TORUS_CMD_PARK_GET)
		snprintf(sent + len, sizeof(sent) - len, "|");
	else if (cmd == TORUS_CMD_MGMT_SEND && port && data)
		snprintf(sent + len, sizeof(sent) - len, "%u%c", nla_get_u8(port), *(char *)nla_data(data));
}

static void answer(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int cmd = ((struct genlmsghdr *)nlmsg_data(req))->cmd;

	(void)f;
	note_sent(req, cmd);
	if (cmd == TORUS_CMD_SUBSCRIBE)
		events = fd;
	if (cmd == TORUS_CMD_DEVICE_SET && manners == DOES)
		take_place(req);
	if (cmd == TORUS_CMD_LINK_GET)
		answer_links(fd, req);
	else if (cmd == TORUS_CMD_DEVICE_GET || cmd == TORUS_CMD_PARK_GET)
		answer_get(fd, req, cmd);
	else if (cmd == TORUS_CMD_SUBSCRIBE || manners == DOES)
		fake_ack(fd, req, 0, NULL);
	else if (manners == REFUSES)
		fake_ack(fd, req, -EBUSY, NULL);
	else if (manners == HANGS_UP)
		shutdown(fd, SHUT_RDWR);
}

static void on_found(void *arg, const struct torus_device *d, const struct torus_link *links,
		     const struct torus_park *park, const uint64_t *rows)
{
	(void)arg;
	assert_int_equal(d->guid, 5);
	assert_int_equal(links[PORTS - 1].port, PORTS - 1);
	assert_int_equal(park->parked, 1);
	assert_null(rows);
	reported.found++;
	loop_stop(loop);
}

static void on_gone(void *arg, const char *why)
{
	(void)arg;
	(void)why;
	reported.gone++;
	loop_stop(loop);
}

static void on_absent(void *arg, const char *why)
{
	(void)arg;
	(void)why;
}

static void on_done(void *arg, uint32_t tag, int err, const struct torus_park *park, uint64_t lost)
{
	(void)arg;
	reported.done++;
	reported.tag = tag;
	reported.err = err;
	reported.counted = park;
	reported.parked = park ? park->parked : 0;
	reported.lost = lost;
	loop_stop(loop);
}

static void on_links(void *arg, const struct torus_link *links, unsigned int nlinks)
{
	(void)arg;
	assert_int_equal(nlinks, PORTS);
	for (unsigned int p = 0; p < PORTS; p++)
		assert_int_equal(links[p].port, p);
	reported.links++;
	loop_stop(loop);
}

static void on_link(void *arg, const struct torus_link *link)
{
	(void)arg;
	assert_int_equal(link->port, reported.link);
	reported.link++;
}

static void on_park(void *arg, const struct torus_park *park)
{
	(void)arg;
	assert_int_equal(park->parked, 1);
	reported.park++;
	loop_stop(loop);
}

static const struct nic_ops ops = {
	.found = on_found, .gone = on_gone, .absent = on_absent, .done = on_done, .links = on_links,
	.link = on_link, .park = on_park,
};

static int begin(void **state)
{
	open_nic(state);
	log_level_set(FM_ERROR);
	memset(&reported, 0, sizeof(reported));
	answered = 0;
	manners = DOES;
	epoch = 1;
	guid = 5;
	placed = -1;
	nic.fn = answer;
	loop = loop_new();
	n = nic_new(loop, where, PATIENCE, &ops, NULL);
	assert_non_null(n);
	loop_run(loop);
	assert_int_equal(reported.found, 1);
	return 0;
}

static int end(void **state)
{
	nic_free(n);
	loop_free(loop);
	return close_nic(state);
}

/* Checks that action @tag ends with @err, and not before its end is awaited. */
static void ends(uint32_t tag, int err)
{
	unsigned int done = reported.done;

	loop_run(loop);
	assert_int_equal(reported.done, done + 1);
	assert_int_equal(reported.tag, tag);
	assert_int_equal(reported.err, err);
}

static void test_actions_end_in_order_with_results(void **state)
{
	const uint32_t node[] = { 1, 3 };
	const uint64_t row[] = { 5, 6 };
	struct torus_shape shape = { 1, { 4, 1, 1, 1, 1, 1 } };
	struct torus_coords at = { { 2 } };
	struct torus_plan plan;

	(void)state;
	/* This NIC reports no address plan, so it has the default one, and may know no other. */
	torus_plan_default(&plan);
	nic_place_set(n, 1, &shape, &at, &plan);
	ends(1, 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_DEVICE_SET);
	assert_null(fake_attr(&nic, TORUS_A_NET4));
	/* A NIC that reports a plan gets the default one, too, in case that it has another. */
	plans = true;
	nic_place_set(n, 1, &shape, &at, &plan);
	ends(1, 0);
	plans = false;
	assert_non_null(fake_attr(&nic, TORUS_A_NET4_LEN));
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_NET4_LEN)), plan.len4);
	assert_int_equal(torus_plan_parse4("192.168.0.0/16", &plan), 0);
	nic_place_set(n, 1, &shape, &at, &plan);
	ends(1, 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_DEVICE_SET);
	assert_non_null(fake_attr(&nic, TORUS_A_SHAPE));
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_NET4_LEN)), 16);
	assert_int_equal(nla_get_u8(fake_attr(&nic, TORUS_A_NET6_LEN)), 32);
	nic_rows_write(n, 2, 7, node, row, 2);
	ends(2, 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_ROWS_COMMIT);
	assert_int_equal(nla_get_u64(fake_attr(&nic, TORUS_A_VERSION)), 7);
	nic_rows_write(n, 3, 8, NULL, NULL, 0);
	ends(3, 0);
	nic_mgmt_send(n, 1, "x", 1);
	nic_park_resolve(n, 1, 9, 4);
	nic_park_replay(n, 4, 8, 5);
	ends(4, 0);
	assert_int_equal(nla_get_u16(fake_attr(&nic, TORUS_A_PORTS)), 5);
	nic_release(n, 5, 8, true);
	ends(5, 0);
	assert_non_null(fake_attr(&nic, TORUS_A_GIVE_UP));
	assert_false(reported.counted);
	nic_count(n, 6, false);
	ends(6, 0);
	assert_true(reported.counted);
	assert_int_equal(reported.parked, 1);
	assert_int_equal(reported.lost, 0);
	nic_count(n, 7, true);
	ends(7, 0);
	assert_int_equal(reported.lost, 100 + TORUS_NC_LOST);
	assert_int_equal(reported.done, 9);
}

static void place_at(uint32_t tag, int16_t at, const struct torus_plan *plan, int err)
{
	struct torus_shape shape = { 1, { RING, 1, 1, 1, 1, 1 } };
	struct torus_coords c = { { at } };

	nic_place_set(n, tag, &shape, &c, plan);
	ends(tag, err);
}

/*
 * The interface of a NIC of the kernel is set up after the NIC has its place, and then without the
 * addresses of the place before; it stays as it is if the NIC refuses. The place of the NIC does not
 * depend on its interface.
 */
static void test_interface_is_set_up_when_nic_has_its_place(void **state)
{
	struct torus_plan plan, other;

	(void)state;
	memset(&interface, 0, sizeof(interface));
	torus_plan_default(&plan);
	other = plan;
	assert_int_equal(torus_plan_parse4("192.168.0.0/16", &other), 0);
	place_at(1, 2, &plan, 0);
	/* the interface of torusemu does not belong to the manager */
	assert_int_equal(interface.times, 0);
	n->kernel = true;
	placed = -1;
	place_at(2, 2, &plan, 0);
	assert_int_equal(interface.times, 1);
	assert_int_equal(interface.ifindex, 17);
	assert_int_equal(interface.node, 2);
	assert_false(interface.moved);
	assert_int_equal(interface.placed, 2);
	interface.err = -EIO;
	place_at(3, 3, &other, 0);
	assert_int_equal(interface.times, 2);
	assert_int_equal(interface.node, 3);
	assert_true(interface.moved);
	assert_int_equal(interface.old_node, 2);
	assert_int_equal(interface.placed, 3);
	assert_int_equal(interface.len4, other.len4);
	assert_int_equal(interface.old_len4, plan.len4);
	manners = REFUSES;
	place_at(4, 1, &plan, -EBUSY);
	assert_int_equal(interface.times, 2);
}

/*
 * Only one management packet of a port waits; after that the last one is sent. Other calls wait for
 * no more than that.
 */
static void test_only_last_management_packet_of_port_waits(void **state)
{
	(void)state;
	memset(sent, 0, sizeof(sent));
	for (char c = 'a'; c < 'f'; c++)
		nic_mgmt_send(n, 1, &c, 1);
	nic_mgmt_send(n, 2, "z", 1);
	nic_count(n, 1, false);
	ends(1, 0);
	nic_count(n, 2, false);
	ends(2, 0);
	assert_string_equal(sent, "1a2z|1e|");
	/* Nothing is left over. */
	nic_mgmt_send(n, 1, "g", 1);
	nic_count(n, 3, false);
	ends(3, 0);
	nic_count(n, 4, false);
	ends(4, 0);
	assert_string_equal(sent, "1a2z|1e|1g||");
	/* One that is refused is not in the way of the next. */
	manners = REFUSES;
	memset(sent, 0, sizeof(sent));
	nic_mgmt_send(n, 1, "h", 1);
	nic_mgmt_send(n, 1, "i", 1);
	nic_count(n, 5, false);
	ends(5, 0);
	nic_count(n, 6, false);
	ends(6, 0);
	assert_string_equal(sent, "1h|1i|");
}

static bool by_root_9(void)
{
	struct nlattr *e = fake_attr(&nic, TORUS_A_ROOT_EPOCH), *g = fake_attr(&nic, TORUS_A_ROOT_GUID);

	return e && g && nla_get_u64(e) == 7 && nla_get_u64(g) == 9;
}

/* Orders name the root that gives them, also on a connection that was opened again. */
static void test_orders_name_root_that_gives_them(void **state)
{
	(void)state;
	nic_release(n, 1, 8, true);
	ends(1, 0);
	assert_null(fake_attr(&nic, TORUS_A_ROOT_EPOCH));
	manners = REFUSES;
	nic_root_set(n, 2, 7, 9);
	ends(2, -EBUSY);
	manners = DOES;
	nic_release(n, 3, 8, true);
	ends(3, 0);
	assert_null(fake_attr(&nic, TORUS_A_ROOT_EPOCH));
	nic_root_set(n, 4, 7, 9);
	ends(4, 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_DEVICE_SET);
	assert_true(by_root_9());
	nic_release(n, 5, 8, true);
	ends(5, 0);
	assert_true(by_root_9());
	manners = HANGS_UP;
	nic_release(n, 6, 8, true);
	ends(6, -ENODEV);
	manners = DOES;
	nic_release(n, 7, 8, true);
	ends(7, 0);
	assert_true(by_root_9());
}

/* Links are read while the loop goes on, but not before what was asked for already. */
static void test_links_are_read_while_loop_goes_on(void **state)
{
	(void)state;
	nic_links_get(n);
	assert_int_equal(reported.links, 0);
	loop_run(loop);
	assert_int_equal(reported.links, 1);
	nic_release(n, 1, 7, true);
	nic_links_get(n);
	ends(1, 0);
	for (unsigned int i = 0; i < 100; i++)
		nic_links_get(n);
	nic_release(n, 2, 7, true);
	while (reported.done < 2)
		loop_run(loop);
	assert_int_equal(reported.links, 2);
}

/* --- questions of users --------------------------------------------------------- */

static int run_links(struct nic_question *q, struct torus_dev *to)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int nlinks = TORUS_MAX_PORTS;

	(void)q;
	return torus_links_get(to, links, &nlinks);
}

static int run_park(struct nic_question *q, struct torus_dev *to)
{
	struct torus_park park;

	(void)q;
	return torus_park_get(to, &park);
}

static void on_answer(struct nic_question *q, int err)
{
	(void)q;
	answered++;
	answer_err = err;
	loop_stop(loop);
}

static int asks_now(struct nic_question *q, int (*run)(struct nic_question *q, struct torus_dev *to))
{
	*q = (struct nic_question) { .run = run, .done = on_answer };
	return nic_ask(n, q);
}

static void answers(unsigned int count, int err)
{
	while (answered < count)
		loop_run(loop);
	assert_int_equal(answer_err, err);
	answered = 0;
}

static void asks_links(struct nic_question *q, int err)
{
	assert_int_equal(asks_now(q, run_links), 0);
	assert_int_equal(answered, 0);
	answers(1, err);
}

/*
 * Actions that come later go before waiting questions, which are not urgent; and the number of
 * waiting questions is limited.
 */
static void test_actions_go_before_waiting_questions(void **state)
{
	unsigned int i;

	(void)state;
	asks_links(&question[0], 0);
	memset(sent, 0, sizeof(sent));
	manners = SILENT;		/* no answer to this, which holds up the others */
	nic_release(n, 1, 7, true);
	while (fake_cmd(&nic) != TORUS_CMD_RELEASE)
		usleep(1000);
	manners = DOES;
	assert_int_equal(asks_now(&question[0], run_park), 0);
	assert_int_equal(asks_now(&question[1], run_park), 0);
	nic_drop(&question[1]);
	nic_mgmt_send(n, 1, "a", 1);
	nic_mgmt_send(n, 2, "b", 1);
	ends(1, -ETIMEDOUT);
	answers(2, -ECANCELED);
	assert_string_equal(sent, "1a2b|");
	for (i = 0; i < 128; i++)
		assert_int_equal(asks_now(&question[i], run_links), 0);
	assert_int_equal(asks_now(&question[i], run_links), -EBUSY);
	answers(128, 0);
	assert_int_equal(asks_now(&question[i], run_links), 0);
	answers(1, 0);
	assert_int_equal(reported.gone, 0);
}

/* The NIC is lost: questions to it are not answered by another one. */
static void test_questions_of_lost_nic_get_no_device(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(asks_now(&question[i], run_links), 0);
	nic_give_up(n);
	assert_int_equal(asks_now(&question[20], run_links), -ENODEV);
	while (reported.found < 2)
		loop_run(loop);
	answers(20, -ENODEV);
	asks_links(&question[0], 0);
}

/* Holds the thread of the queue up until the test says so. */
static sem_t held, goes_on;

static int run_held(struct nic_question *q, struct torus_dev *to)
{
	(void)q;
	(void)to;
	sem_post(&held);
	while (sem_wait(&goes_on))
		;
	return 0;
}

/* Asks a question that holds the queue up. */
static void hold_up(struct nic_question *q)
{
	sem_init(&held, 0, 0);
	sem_init(&goes_on, 0, 0);
	assert_int_equal(asks_now(q, run_held), 0);
	while (sem_wait(&held))
		;
}

/* If 16 calls wait, no management packet is added to them, because it is sent again anyway. */
static void test_management_packet_is_not_added_to_16_calls(void **state)
{
	(void)state;
	hold_up(&question[0]);
	memset(sent, 0, sizeof(sent));
	for (uint32_t tag = 1; tag <= 15; tag++)
		nic_release(n, tag, 7, true);
	nic_mgmt_send(n, 1, "a", 1);
	nic_mgmt_send(n, 2, "b", 1);
	sem_post(&goes_on);
	answers(1, 0);
	while (reported.done < 15)
		loop_run(loop);
	nic_count(n, 16, false);
	ends(16, 0);
	assert_string_equal(sent, "1a|");
}

/* There is no memory for an action: it ends so, but not before it is awaited. */
static void test_action_without_memory_ends_later_with_error(void **state)
{
	(void)state;
	no_memory = true;
	nic_release(n, 1, 7, true);
	nic_mgmt_send(n, 1, "a", 1);	/* nobody waits for that one */
	no_memory = false;
	assert_int_equal(reported.done, 0);
	ends(1, -ENOMEM);
	nic_release(n, 2, 7, true);
	ends(2, 0);
	assert_int_equal(reported.done, 2);
}

/*
 * The NIC is lost while actions wait: none of them is done at the NIC that is found then, for which
 * the manager decides anew. It hears of none of them either.
 */
static void test_waiting_actions_of_lost_nic_are_not_done(void **state)
{
	(void)state;
	hold_up(&question[0]);
	memset(sent, 0, sizeof(sent));
	nic_mgmt_send(n, 1, "a", 1);
	nic_count(n, 1, true);
	nic_rows_write(n, 2, 8, NULL, NULL, 0);
	nic_give_up(n);
	while (!reported.gone)
		loop_run(loop);
	sem_post(&goes_on);
	while (reported.found < 2)
		loop_run(loop);
	answers(1, -ENODEV);
	assert_string_equal(sent, "|");		/* a count: the NIC is read when it is found */
	assert_int_equal(reported.done, 0);
	/* Later questions are done, also at the port whose packet was never sent. */
	nic_mgmt_send(n, 1, "b", 1);
	nic_count(n, 3, false);
	ends(3, 0);
	assert_string_equal(sent, "|1b|");
}

/* A refusal concerns the manager only; the NIC is kept. */
static void test_refused_action_keeps_nic(void **state)
{
	(void)state;
	manners = REFUSES;
	nic_rows_write(n, 1, 7, NULL, NULL, 0);
	ends(1, -EBUSY);
	for (uint32_t tag = 2; tag < 10; tag++) {
		nic_release(n, tag, 7, true);
		ends(tag, -EBUSY);
	}
	assert_int_equal(reported.gone, 0);
	asks_links(&question[0], 0);
}

/* The connection of the actions breaks: it is opened again for the next one. */
static void test_broken_connection_is_opened_again(void **state)
{
	(void)state;
	for (uint32_t tag = 1; tag < 10; tag += 2) {
		manners = HANGS_UP;
		nic_release(n, tag, 7, true);
		ends(tag, -ENODEV);
		manners = DOES;
		nic_release(n, tag + 1, 7, true);
		ends(tag + 1, 0);
	}
	assert_int_equal(reported.gone, 0);
	/* A NIC that was restarted is not the one that the manager began with. */
	manners = HANGS_UP;
	nic_release(n, 11, 7, true);
	ends(11, -ENODEV);
	manners = DOES;
	epoch = 2;
	nic_release(n, 12, 7, true);
	ends(12, -ENODEV);
}

/* A NIC with another GUID is not taken for the lost one, even if its life has the same number. */
static void test_nic_of_another_guid_is_not_taken(void **state)
{
	(void)state;
	manners = HANGS_UP;
	nic_release(n, 1, 7, true);
	ends(1, -ENODEV);
	manners = DOES;
	guid = 6;
	nic_release(n, 2, 7, true);
	ends(2, -ENODEV);
	guid = 5;
	nic_release(n, 3, 7, true);
	ends(3, 0);
}

/* Three connections in a row break: the NIC counts as lost, and is looked for again. */
static void test_nic_with_three_broken_connections_is_lost(void **state)
{
	(void)state;
	manners = HANGS_UP;
	for (uint32_t tag = 1; tag <= 3; tag++) {
		nic_release(n, tag, 7, true);
		ends(tag, -ENODEV);
	}
	assert_int_equal(reported.gone, 0);
	loop_run(loop);
	assert_int_equal(reported.gone, 1);
	loop_run(loop);
	assert_int_equal(reported.found, 2);
}

/*
 * A NIC without processor time answers no call: it counts as lost not after three calls, but
 * PATIENCE later. If it answers before, all goes on.
 */
static void test_nic_without_answer_is_lost_only_after_time_limit(void **state)
{
	uint32_t tag = 1;

	(void)state;
	manners = SILENT;
	for (; tag <= 4; tag++) {
		nic_release(n, tag, 7, true);
		ends(tag, -ETIMEDOUT);
	}
	manners = DOES;
	nic_release(n, tag, 7, true);
	ends(tag++, 0);
	assert_int_equal(reported.gone, 0);
	manners = SILENT;
	while (!reported.gone && tag < 30) {
		unsigned int done = reported.done;

		nic_release(n, tag++, 7, true);
		while (reported.done == done && !reported.gone)
			loop_run(loop);
	}
	assert_int_equal(reported.gone, 1);
	assert_true(tag > 9);
	assert_int_equal(reported.found, 1);
}

/*
 * The NIC is lost while an action is under way: the manager learns of the loss, and of no end of an
 * action.
 */
static void test_lost_nic_ends_no_action(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s", nic.path);
	manners = SILENT;
	nic_release(n, 1, 7, true);
	fake_stop(&nic);
	while (!reported.gone)
		loop_run(loop);
	assert_int_equal(nic_ask(n, &question[0]), -ENODEV);
	manners = DOES;
	fake_start(&nic, path, answer);
	while (reported.found < 2)
		loop_run(loop);
	nic_release(n, 2, 7, true);
	ends(2, 0);
}

/* The NIC says that events were lost. */
static void lose_events(void)
{
	struct nl_msg *msg = nlmsg_alloc();

	nlmsg_put(msg, 0, 0, NLMSG_OVERRUN, 0, 0);
	fake_send(events, msg);
}

/*
 * Events are lost: all that they would have reported is read. Without memory for that the NIC is
 * found again, and read whole; else the manager would never learn of a link that is down.
 */
static void test_lost_events_read_everything_again(void **state)
{
	(void)state;
	lose_events();
	loop_run(loop);
	assert_int_equal(reported.link, PORTS);
	assert_int_equal(reported.park, 1);
	no_memory = true;
	lose_events();
	loop_run(loop);
	no_memory = false;
	assert_int_equal(reported.gone, 1);
	loop_run(loop);
	assert_int_equal(reported.found, 2);
	assert_int_equal(reported.park, 1);
}

/* The daemon ends with an action under way, and questions behind it. */
static void test_ending_daemon_cancels_questions(void **state)
{
	(void)state;
	nic_release(n, 1, 7, true);
	nic_count(n, 2, true);
	assert_int_equal(asks_now(&question[0], run_links), 0);
	assert_int_equal(asks_now(&question[1], run_links), 0);
	assert_int_equal(reported.done + answered, 0);
	nic_free(n);
	n = NULL;
	assert_int_equal(answered, 2);
	assert_int_equal(answer_err, -ECANCELED);
}

#define NIC_TEST(t) cmocka_unit_test_setup_teardown(test_##t, begin, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		NIC_TEST(actions_end_in_order_with_results),
		NIC_TEST(interface_is_set_up_when_nic_has_its_place),
		NIC_TEST(only_last_management_packet_of_port_waits),
		NIC_TEST(orders_name_root_that_gives_them),
		NIC_TEST(links_are_read_while_loop_goes_on),
		NIC_TEST(refused_action_keeps_nic),
		NIC_TEST(actions_go_before_waiting_questions),
		NIC_TEST(questions_of_lost_nic_get_no_device),
		NIC_TEST(management_packet_is_not_added_to_16_calls),
		NIC_TEST(action_without_memory_ends_later_with_error),
		NIC_TEST(waiting_actions_of_lost_nic_are_not_done),
		NIC_TEST(broken_connection_is_opened_again),
		NIC_TEST(nic_of_another_guid_is_not_taken),
		NIC_TEST(nic_with_three_broken_connections_is_lost),
		NIC_TEST(nic_without_answer_is_lost_only_after_time_limit),
		NIC_TEST(lost_nic_ends_no_action),
		NIC_TEST(lost_events_read_everything_again),
		NIC_TEST(ending_daemon_cancels_questions),
	};

	return CLIENT_TESTS("nic_call", tests);
}

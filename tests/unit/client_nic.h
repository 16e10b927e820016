/* SPDX-License-Identifier: GPL-2.0-only */
/* A client and the NIC that answers it: set-up and checks that all tests of the client share. */
#ifndef TESTS_CLIENT_NIC_H
#define TESTS_CLIENT_NIC_H

#include "fake_nic.h"

extern struct fake nic;
extern struct torus_dev *dev;
extern char client_dir[];	/* where the NIC's socket is */
extern char where[80];

void answer_ok(struct fake *f, int fd, struct nlmsghdr *req);
void answer_nothing(struct fake *f, int fd, struct nlmsghdr *req);
void put_counters(struct nl_msg *msg, int type, unsigned int n, uint64_t base);
void put_device(struct nl_msg *msg);
void put_link(struct nl_msg *msg, unsigned int port);
void put_park(struct nl_msg *msg);
void answer_gets(struct fake *f, int fd, struct nlmsghdr *req);
int open_nic(void **state);
int close_nic(void **state);
long now_ms(void);
void assert_usable(void);
void answer_refused_mutely(struct fake *f, int fd, struct nlmsghdr *req);

#define TEST(t) cmocka_unit_test_setup_teardown(test_##t, open_nic, close_nic)

/* Runs a group of tests in a temporary directory. */
#define CLIENT_TESTS(name, tests) ({						\
	int failed_ = 1;							\
	if (!mkdtemp(client_dir)) {						\
		perror(client_dir);						\
	} else {								\
		failed_ = cmocka_run_group_tests_name(name, tests, NULL, NULL);	\
		rmdir(client_dir);						\
	}									\
	failed_;								\
})

#endif /* TESTS_CLIENT_NIC_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client's words for a request that the NIC refuses: the error, and the attribute that it is
 * about.
 */
#include <errno.h>
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

static void answer_refused(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, -EBUSY, "port 3 is attached to 'px'");
}

/* Refuses as kernels without NETLINK_CAP_ACK do: the whole request comes before the text. */
static void answer_refused_uncapped(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc_size(4096);
	int err = -ERANGE;

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 0, NLM_F_ACK_TLVS);
	nlmsg_append(msg, &err, sizeof(err), 0);
	nlmsg_append(msg, req, req->nlmsg_len, NLMSG_ALIGNTO);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "too far");
	fake_send(fd, msg);
}

static void answer_positive(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	fake_ack(fd, req, 17, NULL);
}

static void answer_short_ack(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 4, 0);
	fake_send(fd, msg);
}

/* Answers with an error whose text has no terminating zero. */
static void answer_endless_text(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsgerr body = { .error = -EIO, .msg = *req };

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 0, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	nlmsg_append(msg, &body, sizeof(body), NLMSG_ALIGNTO);
	nla_put(msg, NLMSGERR_ATTR_MSG, 4, "abcd");
	fake_send(fd, msg);
}

/*
 * Refuses as the kernel's own checks do: a text without a name, the attribute's offset, and the
 * limits.
 */
static void refuse_attr(int fd, struct nlmsghdr *req, uint32_t offs, const char *text, uint64_t max)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsgerr body = { .error = -ERANGE, .msg = *req };
	struct nlattr *policy;

	nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 0, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	nlmsg_append(msg, &body, sizeof(body), NLMSG_ALIGNTO);
	if (text)
		nla_put_string(msg, NLMSGERR_ATTR_MSG, text);
	nla_put_u32(msg, NLMSGERR_ATTR_OFFS, offs);
	if (max) {
		policy = nla_nest_start(msg, NLMSGERR_ATTR_POLICY);
		nla_put_u64(msg, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, max);
		nla_nest_end(msg, policy);
	}
	fake_send(fd, msg);
}

static uint32_t offset_of(struct nlmsghdr *req, int type, int within)
{
	struct nlattr *a = nlmsg_find_attr(req, GENL_HDRLEN, type);

	if (within)
		a = nla_find(nla_data(a), nla_len(a), within);
	return (uint32_t)((char *)a - (char *)req);
}

static void answer_out_of_range(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, offset_of(req, TORUS_A_PORT, 0), "integer out of range", 5);
}

static void answer_named(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, offset_of(req, TORUS_A_PORT, 0), "PORT is 3, this NIC has 2", 0);
}

static void answer_textless(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, offset_of(req, TORUS_A_ADMIN, 0), NULL, 0);
}

static void answer_no_such_name(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, offset_of(req, TORUS_A_LOWER, 0), "no such device", 0);
}

/* The refusal of a name that is not too long does not mention its length. */
static void test_refused_name_does_not_reveal_its_length(void **state)
{
	(void)state;
	nic.fn = answer_no_such_name;
	assert_int_equal(torus_attach(dev, 1, "eth9"), -ERANGE);
	assert_string_equal(torus_error(dev), "link attach: LOWER 'eth9': no such device "
			    "(Numerical result out of range)");
	assert_usable();
}

static void answer_past_the_end(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, req->nlmsg_len + 4, "integer out of range", 0);
}

static void answer_in_the_header(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, 3, "integer out of range", 0);
}

static void answer_bad_ber(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	refuse_attr(fd, req, offset_of(req, TORUS_A_FAULT, TORUS_FAULT_BER), "integer out of range", 0);
}

static void test_refusal_names_attribute_inside_nest(void **state)
{
	struct torus_fault fault = { .ber = 2000000000000000000ull };

	(void)state;
	nic.fn = answer_bad_ber;
	assert_int_equal(torus_fault_set(dev, 1, &fault), -ERANGE);
	assert_string_equal(torus_error(dev), "link set: BER is 2000000000000000000, must be 0 to "
			    "1000000000000000000: integer out of range (Numerical result out of range)");
	assert_usable();
}

static void test_refusal_contains_error_and_attribute(void **state)
{
	static const struct {
		fake_fn fn;
		int err;
		const char *text;
	} t[] = {
		{ answer_refused, -EBUSY,
		  "link set: port 3 is attached to 'px' (Device or resource busy)" },
		{ answer_refused_mutely, -EPERM, "link set: Operation not permitted" },
		{ answer_refused_uncapped, -ERANGE,
		  "link set: too far (Numerical result out of range)" },
		{ answer_positive, -EBADMSG, "link set: answered with error 17" },
		{ answer_short_ack, -EBADMSG,
		  "link set: its acknowledgement is cut short (Bad message)" },
		{ answer_endless_text, -EIO, "link set: Input/output error" },
		{ answer_out_of_range, -ERANGE, "link set: PORT is 3, must be 0 to 5: integer out of "
		  "range (Numerical result out of range)" },
		{ answer_named, -ERANGE,
		  "link set: PORT is 3, this NIC has 2 (Numerical result out of range)" },
		{ answer_textless, -ERANGE,
		  "link set: ADMIN is 1 (Numerical result out of range)" },
		{ answer_past_the_end, -ERANGE,
		  "link set: integer out of range (Numerical result out of range)" },
		{ answer_in_the_header, -ERANGE,
		  "link set: integer out of range (Numerical result out of range)" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		nic.fn = t[i].fn;
		assert_int_equal(torus_admin_set(dev, 3, true), t[i].err);
		assert_string_equal(torus_error(dev), t[i].text);
	}
	assert_usable();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refusal_contains_error_and_attribute),
		TEST(refusal_names_attribute_inside_nest),
		TEST(refused_name_does_not_reveal_its_length),
	};

	return CLIENT_TESTS("client_refusals", tests);
}

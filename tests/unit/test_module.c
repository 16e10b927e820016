// SPDX-License-Identifier: GPL-2.0-only
/* Plugs, read from memories that the test has written, by the tables of the standards. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/module.h"

/**
 * struct memory - of a plug: what is at 0x50 in the lower half, in pages 0 and 0x11, and at 0x51
 * @fails: address and page that cannot be read; 0: none
 */
struct memory {
	uint8_t low[128], page0[128], page11[128], second[128];
	unsigned int fails, error;
};

static struct memory mem;

static int read_plug(void *arg, uint8_t i2c, uint8_t page, uint8_t offset, uint8_t len, uint8_t *to)
{
	unsigned int where = (unsigned int)i2c << 16 | (unsigned int)page << 8 | offset;

	assert_ptr_equal(arg, &mem);
	assert_int_equal(len, 128);
	if (where == mem.fails)
		return -(int)mem.error;
	switch (where) {
	case 0x500000:
		memcpy(to, mem.low, len);
		return 0;
	case 0x500080:
		memcpy(to, mem.page0, len);
		return 0;
	case 0x501180:
		memcpy(to, mem.page11, len);
		return 0;
	case 0x510000:
		memcpy(to, mem.second, len);
		return 0;
	default:
		fail_msg("reads %06x", where);
		return -EIO;
	}
}

static int setup(void **state)
{
	(void)state;
	memset(&mem, 0, sizeof(mem));
	return 0;
}

static void put(uint8_t *at, const char *text, size_t len)
{
	memset(at, ' ', len);
	memcpy(at, text, strlen(text));
}

static void put16(uint8_t *at, unsigned int v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static struct module seen(int wanted)
{
	struct module m;

	assert_int_equal(module_read(read_plug, &mem, &m), wanted);
	return m;
}

static void is_ours(const struct module *m, const char *kind)
{
	assert_string_equal(m->kind, kind);
	assert_string_equal(m->vendor, "ACME Cables");
	assert_string_equal(m->part, "X-1000");
	assert_string_equal(m->serial, "SN 42");
	assert_string_equal(m->date, "261126");
}

static void sfp_memory_gives_its_values(void **state)
{
	struct module m;

	(void)state;
	mem.low[0] = 3;
	put(mem.low + 20, "ACME Cables", 16);
	put(mem.low + 40, "X-1000", 16);
	put(mem.low + 56, "A1", 4);
	put(mem.low + 68, "SN 42", 16);
	put(mem.low + 84, "261126", 8);
	mem.low[92] = 0x60;
	put16(mem.second + 96, 0xff80);		/* half a degree below zero */
	put16(mem.second + 98, 33000);
	put16(mem.second + 102, 5000);
	put16(mem.second + 104, 1);
	m = seen(0);
	is_ours(&m, "SFP");
	assert_string_equal(m.revision, "A1");
	assert_true(m.measured);
	assert_float_equal(m.celsius, -0.5, 1e-9);
	assert_float_equal(m.volts, 3.3, 1e-9);
	assert_int_equal(m.ntx, 1);
	assert_float_equal(m.tx_mw[0], 0.5, 1e-9);
	assert_int_equal(m.nrx, 1);
	assert_float_equal(m.rx_mw[0], 0.0001, 1e-9);
	/* Without monitors, with those that the host calibrates, or behind another page. */
	for (unsigned int i = 0; i < 4; i++) {
		mem.low[92] = (uint8_t[]){ 0x20, 0x50, 0x64, 0x60 }[i];
		if (i == 3) {
			mem.fails = 0x510000;
			mem.error = EIO;
		}
		m = seen(0);
		is_ours(&m, "SFP");
		assert_false(m.measured || m.ntx || m.nrx);
	}
}

static void qsfp_memory_gives_its_values(void **state)
{
	static const struct { uint8_t id; const char *kind; } t[] = {
		{ 0x0c, "QSFP" }, { 0x0d, "QSFP+" }, { 0x11, "QSFP28" },
	};
	struct module m;

	(void)state;
	put(mem.page0 + 20, "ACME Cables", 16);
	put(mem.page0 + 40, "X-1000", 16);
	put(mem.page0 + 56, "B", 2);
	put(mem.page0 + 68, "SN 42", 16);
	put(mem.page0 + 84, "261126", 8);
	put16(mem.low + 22, 40 << 8);
	put16(mem.low + 26, 32000);
	for (unsigned int i = 0; i < 4; i++) {
		put16(mem.low + 34 + 2 * i, 1000 * (i + 1));
		put16(mem.low + 50 + 2 * i, i == 2 ? 9000 : 0);
	}
	for (unsigned int i = 0; i < 3; i++) {
		mem.low[0] = t[i].id;
		m = seen(0);
		is_ours(&m, t[i].kind);
		assert_string_equal(m.revision, "B");
		assert_float_equal(m.celsius, 40, 1e-9);
		assert_float_equal(m.volts, 3.2, 1e-9);
		assert_int_equal(m.nrx, 4);
		assert_int_equal(m.ntx, 4);
		assert_float_equal(m.rx_mw[3], 0.4, 1e-9);
		assert_float_equal(m.tx_mw[2], 0.9, 1e-9);
		assert_float_equal(m.tx_mw[3], 0, 1e-9);
	}
	/* A copper cable has neither light nor monitors. */
	memset(mem.low + 1, 0, 127);
	m = seen(0);
	assert_false(m.measured || m.ntx || m.nrx);
	mem.fails = 0x500080;
	mem.error = EBUSY;
	seen(-EBUSY);
}

static void cmis_memory_gives_its_values(void **state)
{
	static const struct { uint8_t id; const char *kind; } t[] = {
		{ 0x18, "QSFP-DD" }, { 0x19, "OSFP" }, { 0x1e, "QSFP+ CMIS" },
	};
	struct module m;

	(void)state;
	put(mem.page0 + 1, "ACME Cables", 16);
	put(mem.page0 + 20, "X-1000", 16);
	put(mem.page0 + 36, "C7", 2);
	put(mem.page0 + 38, "SN 42", 16);
	put(mem.page0 + 54, "261126", 8);
	put16(mem.low + 14, 25 << 8 | 128);
	put16(mem.low + 16, 33100);
	for (unsigned int i = 0; i < 8; i++) {
		put16(mem.page11 + 26 + 2 * i, 10000 + i);
		put16(mem.page11 + 58 + 2 * i, 20000 + i);
	}
	for (unsigned int i = 0; i < 3; i++) {
		mem.low[0] = t[i].id;
		m = seen(0);
		is_ours(&m, t[i].kind);
		assert_string_equal(m.revision, "C7");
		assert_float_equal(m.celsius, 25.5, 1e-9);
		assert_float_equal(m.volts, 3.31, 1e-9);
		assert_int_equal(m.ntx, 8);
		assert_int_equal(m.nrx, 8);
		assert_float_equal(m.tx_mw[7], 1.0007, 1e-9);
		assert_float_equal(m.rx_mw[1], 2.0001, 1e-9);
	}
	mem.fails = 0x501180;
	mem.error = EOPNOTSUPP;
	assert_int_equal(seen(0).ntx, 0);
	mem.fails = 0;
	mem.low[2] = 0x80;		/* a flat memory */
	memset(mem.page11, 0xff, sizeof(mem.page11));
	assert_int_equal(seen(0).nrx, 0);
	mem.fails = 0x500080;
	seen(-EOPNOTSUPP);
}

static void unknown_module_and_odd_texts_are_handled(void **state)
{
	struct module m;

	(void)state;
	mem.low[0] = 0x7f;
	seen(-EPROTONOSUPPORT);
	mem.fails = 0x500000;
	mem.error = EOPNOTSUPP;
	seen(-EOPNOTSUPP);
	mem.fails = 0;
	/* Texts without an end, with bytes that no terminal should get, and of blanks alone. */
	mem.low[0] = 3;
	memset(mem.low + 20, 'V', 16);
	memcpy(mem.low + 40, "a\033[31m\377\0b             ", 16);
	memset(mem.low + 68, ' ', 16);
	m = seen(0);
	assert_string_equal(m.vendor, "VVVVVVVVVVVVVVVV");
	assert_string_equal(m.part, "a?[31m??b");
	assert_string_equal(m.serial, "");
	assert_string_equal(m.date, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sfp_memory_gives_its_values, setup),
		cmocka_unit_test_setup(qsfp_memory_gives_its_values, setup),
		cmocka_unit_test_setup(cmis_memory_gives_its_values, setup),
		cmocka_unit_test_setup(unknown_module_and_odd_texts_are_handled, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

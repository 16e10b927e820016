// SPDX-License-Identifier: GPL-2.0-only
/* Init packets: each byte is where init.c puts it, and values out of range are refused. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stage.h"

static const struct fm_init example = {
	.placed = true,
	.settled = true,
	.received = true,
	.port = 5,
	.ndims = 3,
	.size = { 0x102, 3, 4 },
	.position = { 0x101, 2, 3 },
	.guid = 0x0102030405060708,
	.root_guid = 0x1112131415161718,
	.epoch = 0x2122232425262728,
	.fabric = "fab",
	.name = "n",
	.root_address = "10.0.0.1:7471",
	.doubt = 4,
	.nends = 2,
	.end = { { 0x3132333435363738, 9 }, { 0, 0 } },
};

static const uint8_t bytes[] = {
	't', 'I', 'N', 'I', 3, 7, 5, 3,
	8, 7, 6, 5, 4, 3, 2, 1,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	2, 1, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0,
	1, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
	3, 'f', 'a', 'b', 1, 'n',
	13, '1', '0', '.', '0', '.', '0', '.', '1', ':', '7', '4', '7', '1',
	4, 2,
	0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 9,
	0, 0, 0, 0, 0, 0, 0, 0, 0,
};

static void same(const struct fm_init *a, const struct fm_init *b)
{
	assert_int_equal(a->placed, b->placed);
	assert_int_equal(a->settled, b->settled);
	assert_int_equal(a->received, b->received);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->asks, b->asks);
	assert_int_equal(a->epoch, b->epoch);
	assert_int_equal(a->port, b->port);
	assert_int_equal(a->ndims, b->ndims);
	assert_int_equal(a->doubt, b->doubt);
	assert_int_equal(a->nends, b->nends);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
		assert_int_equal(a->end[p].guid, b->end[p].guid);
		assert_int_equal(a->end[p].port, b->end[p].port);
	}
	assert_int_equal(a->guid, b->guid);
	assert_int_equal(a->root_guid, b->root_guid);
	assert_memory_equal(a->size, b->size, sizeof(a->size));
	assert_memory_equal(a->position, b->position, sizeof(a->position));
	assert_string_equal(a->fabric, b->fabric);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->root_address, b->root_address);
}

/* Parses an Init at the end of a readable page: reading past it ends by a signal. */
static int take(const uint8_t *buf, size_t len, struct fm_init *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static uint8_t *edge;

	if (!edge) {
		edge = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		assert_true(edge != MAP_FAILED);
		assert_int_equal(mprotect(edge + page, page, PROT_NONE), 0);
		edge += page;
	}
	memset(edge - page, 'x', page);
	memcpy(edge - len, buf, len);
	return fm_init_get(edge - len, len, out);
}

static int comes(const struct fm_init *i)
{
	uint8_t buf[TORUS_MGMT_MAX];
	struct fm_init out;
	size_t len = fm_init_put(buf, i);
	int err = fm_init_get(buf, len, &out);

	if (!err)
		same(&out, i);
	return err;
}

static void init_has_documented_bytes(void **state)
{
	uint8_t buf[TORUS_MGMT_MAX];
	struct fm_init out;

	(void)state;
	memset(buf, 0xee, sizeof(buf));
	assert_int_equal(fm_init_put(buf, &example), sizeof(bytes));
	assert_memory_equal(buf, bytes, sizeof(bytes));
	memset(&out, 0xff, sizeof(out));
	assert_int_equal(fm_init_get(bytes, sizeof(bytes), &out), 0);
	same(&out, &example);
}

/* Each flag is a bit of its own; no others are known. */
static void unknown_flags_of_init_are_refused(void **state)
{
	struct fm_init i = example;
	uint8_t buf[TORUS_MGMT_MAX];

	(void)state;
	for (unsigned int f = 0; f < 32; f++) {
		i.placed = f & 1;
		i.settled = f & 2;
		i.received = f & 4;
		i.lost = f & 8;
		i.asks = f & 16;
		fm_init_put(buf, &i);
		assert_int_equal(buf[5], f);
		assert_int_equal(comes(&i), f & 2 && !(f & 1) ? -EBADMSG : 0);
	}
	for (unsigned int f = 5; f < 8; f++) {
		memcpy(buf, bytes, sizeof(bytes));
		buf[5] |= (uint8_t)(1u << f);
		assert_int_equal(fm_init_get(buf, sizeof(bytes), &i), -EBADMSG);
	}
}

/* An Init is refused if it is cut off anywhere, longer, of another version, or none at all. */
static void malformed_init_is_refused(void **state)
{
	uint8_t buf[sizeof(bytes) + 1];
	struct fm_init out;

	(void)state;
	memcpy(buf, bytes, sizeof(bytes));
	buf[sizeof(bytes)] = 0;
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(take(bytes, len, &out), -EBADMSG);
	assert_int_equal(fm_init_get(buf, sizeof(buf), &out), -EBADMSG);
	for (unsigned int i = 0; i < 4; i++) {
		memcpy(buf, bytes, sizeof(bytes));
		buf[i] ^= 1;
		assert_int_equal(fm_init_get(buf, sizeof(bytes), &out), -EBADMSG);
	}
	for (unsigned int v = 0; v < 256; v++) {
		memcpy(buf, bytes, sizeof(bytes));
		buf[4] = (uint8_t)v;
		assert_int_equal(fm_init_get(buf, sizeof(bytes), &out),
				 v == FM_INIT_VERSION ? 0 : -EPROTONOSUPPORT);
		/* The first five bytes are enough to recognise an Init. */
		assert_int_equal(take(buf, 5, &out),
				 v == FM_INIT_VERSION ? -EBADMSG : -EPROTONOSUPPORT);
		assert_int_equal(take(buf, 4, &out), -EBADMSG);
	}
}

/* Texts have at most the allowed length, and consist of printable ASCII. */
static void texts_of_init_are_short_printable_ascii(void **state)
{
	struct fm_init i = example, out;
	uint8_t buf[TORUS_MGMT_MAX];
	size_t len;

	(void)state;
	memset(i.fabric, 'f', TORUS_NAME_MAX);
	memset(i.name, ' ', TORUS_NAME_MAX);
	memset(i.root_address, '~', FM_ADDR_MAX - 1);
	assert_int_equal(comes(&i), 0);
	i = example;
	i.fabric[0] = i.name[0] = i.root_address[0] = '\0';
	assert_int_equal(comes(&i), 0);
	for (unsigned int c = 0; c < 256; c++) {
		memcpy(buf, bytes, sizeof(bytes));
		buf[73] = (uint8_t)c;	/* a byte of the name */
		assert_int_equal(fm_init_get(buf, sizeof(bytes), &out),
				 c >= ' ' && c <= '~' ? 0 : -EBADMSG);
	}
	for (unsigned int k = 0; k < 3; k++) {
		static const size_t max[] = { TORUS_NAME_MAX, TORUS_NAME_MAX, FM_ADDR_MAX - 1 };

		for (size_t more = 0; more < 2; more++) {
			memcpy(buf, bytes, 68);
			len = 68;
			for (unsigned int t = 0; t < 3; t++) {
				buf[len] = (uint8_t)(t == k ? max[t] + more : 0);
				memset(buf + len + 1, 'x', buf[len]);
				len += 1u + buf[len];
			}
			memset(buf + len, 0, 2);
			len += 2;
			assert_int_equal(take(buf, len, &out), more ? -EBADMSG : 0);
			/* The last byte of a text that may be this long is missing. */
			assert_int_equal(take(buf, len - 1, &out), -EBADMSG);
		}
		/* The same with all but one byte missing. */
		assert_int_equal(take(buf, 70, &out), -EBADMSG);
	}
}

/* An Init with a text that is refused is refused, even if its other fields follow there. */
static void fields_within_refused_text_are_not_read(void **state)
{
	static const uint8_t texts[][13] = {
		/* The service address is too long, or has fewer bytes than it says. */
		{ 0, 0, 0xff, 0, 0 }, { 0, 0, 20, 0, 0 },
		/* It begins with a doubt of 1 and one other end, of nine bytes. */
		{ 0, 0, 9, 1, 1, 'a', 'b', 'c', 'd', 'e', 'f', 'g' },
	};
	uint8_t buf[128] = { 0 };
	struct fm_init out;

	(void)state;
	memcpy(buf, bytes, 68);
	for (unsigned int k = 0; k < 3; k++) {
		memcpy(buf + 68, texts[k], sizeof(texts[k]));
		assert_int_equal(take(buf, k < 2 ? 73 : 82, &out), -EBADMSG);
	}
}

static void init_has_at_most_all_dimensions(void **state)
{
	struct fm_init i = { .name = "n" };

	(void)state;
	for (unsigned int n = 0; n < 256; n++) {
		i.ndims = (uint8_t)n;
		assert_int_equal(comes(&i), n <= TORUS_MAX_DIMS ? 0 : -EBADMSG);
	}
}

/*
 * An Init has the other ends of at most all ports, at ports that NICs can have, and no more doubt
 * than the most.
 */
static void init_has_ends_of_at_most_all_ports(void **state)
{
	struct fm_init i = example;
	uint8_t buf[TORUS_MGMT_MAX];
	size_t len;

	(void)state;
	for (unsigned int n = 0; n <= TORUS_MAX_PORTS; n++) {
		i.nends = (uint8_t)n;
		for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
			i.end[p] = (struct fm_end) { p < n ? ~0ULL - p : 0, p < n ? (uint8_t)p : 0 };
		assert_int_equal(comes(&i), 0);
	}
	len = fm_init_put(buf, &i);
	/* The count of ports is one more than a NIC can have, with the bytes of that port. */
	buf[len - 9 * TORUS_MAX_PORTS - 1]++;
	memset(buf + len, 0, 9);
	assert_int_equal(take(buf, len + 9, &i), -EBADMSG);
	i = example;
	i.end[1].port = TORUS_MAX_PORTS - 1;
	assert_int_equal(comes(&i), 0);
	i.end[1].port = TORUS_MAX_PORTS;
	assert_int_equal(comes(&i), -EBADMSG);
	for (unsigned int doubt = 0; doubt < 256; doubt++) {
		i = example;
		i.doubt = (uint8_t)doubt;
		assert_int_equal(comes(&i), doubt <= FM_DOUBT_MAX ? 0 : -EBADMSG);
	}
	/* The longest one is as long as an Init may be at most, or shorter. */
	i = example;
	memset(i.fabric, 'f', TORUS_NAME_MAX);
	memset(i.name, 'n', TORUS_NAME_MAX);
	memset(i.root_address, 'a', FM_ADDR_MAX - 1);
	i.nends = TORUS_MAX_PORTS;
	assert_in_range(fm_init_put(buf, &i), 1, FM_INIT_MAX);
}

/* An Init cannot have an epoch above the highest. */
static void init_with_epoch_above_maximum_is_refused(void **state)
{
	struct fm_init i = example;

	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		i.epoch = 1ULL << bit;
		assert_int_equal(comes(&i), i.epoch <= FM_EPOCH_MAX ? 0 : -EBADMSG);
	}
	i.epoch = FM_EPOCH_MAX + 1;
	assert_int_equal(comes(&i), -EBADMSG);
}

/* An Init has only ports and dimensions that a fabric can have. */
static void init_with_impossible_port_is_refused(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 10; n++)
		for (unsigned int p = 0; p < 16; p++) {
			struct fm_init i = example;

			i.ndims = (uint8_t)n;
			i.port = (uint8_t)p;
			for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
				i.size[d] = 4;
				i.position[d] = 3;
			}
			assert_int_equal(comes(&i), n && n <= TORUS_MAX_DIMS && p < 2 * n ?
					 0 : -EBADMSG);
			/* An Init that only asks need not know the number of dimensions. */
			i.placed = i.settled = false;
			assert_int_equal(comes(&i), n <= TORUS_MAX_DIMS && p < TORUS_MAX_PORTS &&
					 (!n || p < 2 * n) ? 0 : -EBADMSG);
		}
}

/* Parses sizes and positions of dimension @d; @settled: the position is within the size. */
static int sized(unsigned int d, unsigned int size, int32_t position, bool settled)
{
	struct fm_init i = example;

	i.settled = settled;
	for (unsigned int j = 0; j < 3; j++) {
		i.size[j] = 1;
		i.position[j] = 0;
	}
	i.size[d] = (uint16_t)size;
	i.position[d] = position;
	return comes(&i);
}

static void init_with_position_outside_size_is_refused(void **state)
{
	struct fm_init i = example;

	(void)state;
	for (unsigned int d = 0; d < 3; d++) {
		assert_int_equal(sized(d, TORUS_MAX_SIZE, TORUS_MAX_SIZE - 1, true), 0);
		assert_int_equal(sized(d, TORUS_MAX_SIZE, TORUS_MAX_SIZE, true), -EBADMSG);
		assert_int_equal(sized(d, TORUS_MAX_SIZE + 1, 0, true), -EBADMSG);
		assert_int_equal(sized(d, 2, -1, true), -EBADMSG);
		assert_int_equal(sized(d, 2, 1, true), 0);
		assert_int_equal(sized(d, 2, 2, true), -EBADMSG);
		assert_int_equal(sized(d, 0, 0, true), -EBADMSG);
		/* Positions are not reduced by any size yet. */
		assert_int_equal(sized(d, 0, 0, false), 0);
		assert_int_equal(sized(d, 0, TORUS_MAX_NODES, false), 0);
		assert_int_equal(sized(d, 0, TORUS_MAX_NODES + 1, false), -EBADMSG);
		assert_int_equal(sized(d, 0, -TORUS_MAX_NODES, false), 0);
		assert_int_equal(sized(d, 0, -TORUS_MAX_NODES - 1, false), -EBADMSG);
		assert_int_equal(sized(d, TORUS_MAX_SIZE + 1, 0, false), -EBADMSG);
	}
	/* The largest number of nodes, and a larger one. */
	i.size[0] = TORUS_MAX_SIZE;
	i.size[1] = TORUS_MAX_NODES / TORUS_MAX_SIZE;
	i.size[2] = 1;
	i.position[2] = 0;
	assert_int_equal(comes(&i), 0);
	i.size[2] = 2;
	assert_int_equal(comes(&i), -EBADMSG);
	/* Sizes that are not known count as one. */
	i.settled = false;
	i.size[0] = 0;
	assert_int_equal(comes(&i), 0);
	/* Values beyond the dimensions do not matter. */
	i = example;
	i.size[3] = 0xffff;
	i.position[5] = INT32_MIN;
	assert_int_equal(comes(&i), 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(init_has_documented_bytes),
		cmocka_unit_test(unknown_flags_of_init_are_refused),
		cmocka_unit_test(malformed_init_is_refused),
		cmocka_unit_test(texts_of_init_are_short_printable_ascii),
		cmocka_unit_test(fields_within_refused_text_are_not_read),
		cmocka_unit_test(init_has_at_most_all_dimensions),
		cmocka_unit_test(init_has_ends_of_at_most_all_ports),
		cmocka_unit_test(init_with_epoch_above_maximum_is_refused),
		cmocka_unit_test(init_with_impossible_port_is_refused),
		cmocka_unit_test(init_with_position_outside_size_is_refused),
	};

	return cmocka_run_group_tests_name("fm_init", all, NULL, NULL);
}

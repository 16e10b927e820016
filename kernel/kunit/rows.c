// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables are replaced while other threads read and write them. All rows of a table of version v are
 * equal, and made from v. So a reader that gets two different rows, or a row of another version,
 * has read parts of two tables.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/mm.h>

#include "lab.h"

#define NODES		4096	/* number of nodes of the ring */
/*
 * On one processor, threads meet only at the few places where one lets others run, so few rounds
 * are enough.
 */
#define ROUNDS		(IS_ENABLED(CONFIG_SMP) ? 150 : 20)

/* Return: the row of version @v: it has the version in bits that only a relay row uses. */
static u64 row_of(u64 v)
{
	return LAB_ROW | 1 | (v & TORUS_ROW_NODE_MASK) << TORUS_ROW_RELAY_SHIFT;
}

static int write_table(struct torus_soft *s, u64 v)
{
	int err = lab_version(s, TORUS_CMD_ROWS_BEGIN, v);

	for (u32 first = 0; !err && first < NODES; first += NODES / 4)
		err = lab_put(s, v, first, row_of(v), NODES / 4);
	return err ?: lab_version(s, TORUS_CMD_ROWS_COMMIT, v);
}

/* Return: how many rows are not of the active version; ~0 if there is no active table. */
static u32 wrong_rows(struct torus_soft *s, u64 *version)
{
	u32 n = 0, wrong = 0;
	const u64 *row;

	torus_soft_lock(s);
	if (!tn_nic_rows(s->soft.nic, &n, version))
		wrong = ~0u;
	row = tn_nic_rows_get(s->soft.nic, 0, n);
	for (u32 i = 0; i < n; i++)
		wrong += row[i] != row_of(*version);
	torus_soft_unlock_read(s);
	return wrong;
}

static void rows_take_effect_only_by_begin_put_commit(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	u64 version;

	KUNIT_EXPECT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 1), -ENODEV);
	lab_place(test, s, NODES);
	KUNIT_EXPECT_EQ(test, lab_put(s, 1, 0, row_of(1), 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 1), -ESTALE);
	KUNIT_ASSERT_EQ(test, write_table(s, 1), 0);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
	KUNIT_EXPECT_EQ(test, version, 1ull);
	/* A table can be committed only once. */
	KUNIT_EXPECT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 1), -ESTALE);
}

static void refused_rows_leave_table_as_it_was(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	u64 version;

	lab_place(test, s, NODES);
	KUNIT_ASSERT_EQ(test, write_table(s, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 2), 0);
	KUNIT_EXPECT_EQ(test, lab_put(s, 2, NODES - 1, row_of(2), 2), -ERANGE);
	KUNIT_EXPECT_EQ(test, lab_put(s, 2, NODES, row_of(2), 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, lab_put(s, 2, 0, LAB_ROW | 1ull << 60, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, lab_put(s, 2, 0, LAB_ROW | 1 << 2, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
	KUNIT_EXPECT_EQ(test, version, 1ull);
}

/* A second begin abandons the table of the first: no row of that remains. */
static void second_begin_abandons_first_table(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	u64 version;

	lab_place(test, s, NODES);
	KUNIT_ASSERT_EQ(test, write_table(s, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 2), 0);
	KUNIT_ASSERT_EQ(test, lab_put(s, 2, 0, row_of(2), NODES / 2), 0);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 1), 0);
	KUNIT_EXPECT_EQ(test, lab_put(s, 2, 0, row_of(2), 1), -ESTALE);
	KUNIT_EXPECT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 2), -ESTALE);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 1), 0);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
}

/*
 * A NIC keeps its table when a restarted manager sets the place that the NIC has, and when it sets
 * a place for whose tables there is no memory.
 */
static void same_or_failed_place_keeps_rows(struct kunit *test)
{
	static const struct torus_shape large = { .ndims = 2, .size = { 4096, 4096, 1, 1, 1, 1 } };
	static const struct torus_coords at;
	struct torus_soft *s = lab_nic(test, 4, 0);
	u64 version;

	lab_place(test, s, NODES);
	KUNIT_ASSERT_EQ(test, write_table(s, 1), 0);
	lab_place(test, s, NODES);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
	KUNIT_EXPECT_EQ(test, version, 1ull);
	if (tn_nic_table_size(&large) >> PAGE_SHIFT > totalram_pages())
		KUNIT_EXPECT_EQ(test, lab_set_place(s, &large, &at), -ENOMEM);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
	KUNIT_EXPECT_EQ(test, version, 1ull);
}

/* what the threads that use one NIC share */
struct crowd {
	struct torus_soft *s;
	atomic_t left;				/* threads that still run */
	atomic64_t next;			/* version of the next table to be written */
	atomic_t committed, stale, failed;	/* numbers of tables by their end */
	/* numbers of tables that readers saw, and of those with mixed rows */
	atomic_t seen, torn;
	struct completion done;
};

static int leave(struct crowd *c)
{
	if (atomic_dec_and_test(&c->left))
		complete(&c->done);
	return 0;
}

static int writer(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < ROUNDS; i++) {
		int err = write_table(c->s, (u64)atomic64_inc_return(&c->next));

		atomic_inc(!err ? &c->committed : err == -ESTALE ? &c->stale : &c->failed);
		/*
		 * Sleep sometimes, so that other threads read some of the tables, even if this
		 * thread is fast.
		 */
		if (i % 4)
			cond_resched();
		else
			schedule_timeout_uninterruptible(1);
	}
	return leave(c);
}

static int reader(void *arg)
{
	struct crowd *c = arg;
	u64 version, last = 0;

	for (int i = 0; i < ROUNDS * 4; i++) {
		if (wrong_rows(c->s, &version))
			atomic_inc(&c->torn);
		if (version != last)
			atomic_inc(&c->seen);
		last = version;
		schedule_timeout_uninterruptible(i % 16 ? 0 : 1);
	}
	return leave(c);
}

static void crowd_run(struct kunit *test, struct crowd *c, int writers, int readers)
{
	*c = (struct crowd) { .s = lab_nic(test, 2, 0) };
	lab_place(test, c->s, NODES);
	KUNIT_ASSERT_EQ(test, write_table(c->s, 1), 0);
	atomic64_set(&c->next, 1);
	atomic_set(&c->left, writers + readers);
	init_completion(&c->done);
	for (int i = 0; i < writers + readers; i++)
		if (IS_ERR(kthread_run(i < writers ? writer : reader, c, "torus-kunit")))
			leave(c);
	wait_for_completion(&c->done);
}

static void readers_never_see_rows_of_two_tables(struct kunit *test)
{
	static struct crowd c;

	crowd_run(test, &c, 1, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.committed), ROUNDS);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.torn), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&c.seen), 2);
}

/*
 * Two threads write: each gets an error when the other begins, and all rows of a committed table
 * were written by one of them.
 */
static void concurrent_writers_leave_whole_table(struct kunit *test)
{
	static struct crowd c;
	u64 version;

	crowd_run(test, &c, 2, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.failed), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.torn), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.committed) + atomic_read(&c.stale), 2 * ROUNDS);
	KUNIT_EXPECT_GT(test, atomic_read(&c.committed), 0);
	KUNIT_EXPECT_EQ(test, wrong_rows(c.s, &version), 0u);
}

/* A table is begun in slices, and another writer begins between any two requests. */
static void interleaved_writers_leave_whole_table(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	u64 version;

	lab_place(test, s, NODES);
	KUNIT_ASSERT_EQ(test, write_table(s, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 2), 0);
	KUNIT_ASSERT_EQ(test, lab_put(s, 2, 0, row_of(2), NODES / 2), 0);
	KUNIT_ASSERT_EQ(test, write_table(s, 3), 0);
	KUNIT_EXPECT_EQ(test, lab_put(s, 2, NODES / 2, row_of(2), NODES / 2), -ESTALE);
	KUNIT_EXPECT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 2), -ESTALE);
	KUNIT_EXPECT_EQ(test, wrong_rows(s, &version), 0u);
	KUNIT_EXPECT_EQ(test, version, 3ull);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rows_take_effect_only_by_begin_put_commit),
	KUNIT_CASE(refused_rows_leave_table_as_it_was),
	KUNIT_CASE(second_begin_abandons_first_table),
	KUNIT_CASE(same_or_failed_place_keeps_rows),
	KUNIT_CASE(interleaved_writers_leave_whole_table),
	KUNIT_CASE(readers_never_see_rows_of_two_tables),
	KUNIT_CASE(concurrent_writers_leave_whole_table),
	{}
};

struct kunit_suite torus_rows_suite = { .name = "torus-rows", .test_cases = cases };

// SPDX-License-Identifier: GPL-2.0-only
/* fabricctl map: costs on the rows of the NICs, files for launchers, those of jobs, and files that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <torus/route.h>
#include "tests/unit/fake_manager.h"
#include "tests/unit/program.h"

static char csv[64], side[64];

/* Writes a file, and runs "fabricctl map ARGS FILE" with that file. */
static void map_of(const char *text, const char *args, int status)
{
	char line[512];
	FILE *f = fopen(csv, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	snprintf(line, sizeof(line), "map %s %s", args, csv);
	expect(line, status);
}

static void write_side_bytes(const char *text, size_t n)
{
	FILE *f = fopen(side, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static void write_side(const char *text)
{
	write_side_bytes(text, strlen(text));
}

static json_int_t number_at(const json_t *j, const char *object, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(j, object), key));
}

static void map_shows_costs_of_given_placement(void **state)
{
	json_t *j;

	(void)state;
	/* Nodes 0 and 5 are 1,1 apart; 0 and 3 are neighbours by the cable that closes the ring. */
	map_of("from,to,bytes\n# halo\n\n0, 5 ,100\n0,3,10\r\n0,5,50\n2,2,7\n", "--json", 0);
	j = printed();
	assert_int_equal(json_integer_value(json_object_get(j, "ranks")), 6);
	assert_int_equal(json_integer_value(json_object_get(j, "slots")), 16);
	assert_int_equal(number_at(j, "given", "bytes"), 160);
	assert_int_equal(number_at(j, "given", "local_bytes"), 7);
	assert_int_equal(number_at(j, "given", "hop_bytes"), 310);
	assert_int_equal(number_at(j, "given", "pairs"), 2);
	assert_int_equal(number_at(j, "given", "hops"), 3);
	assert_int_equal(number_at(j, "given", "dilation"), 2);
	assert_int_equal(number_at(j, "given", "load"), 150);
	assert_true(json_is_null(json_object_get(j, "improved")));
	assert_int_equal(json_array_size(json_object_get(j, "placement")), 6);
	json_decref(j);
	map_of("0,5,100\n", "--score", 0);
	has(out, "hop-bytes                   ");
	has(out, "hops of a byte                  2.000\n");
	assert_null(strstr(out, "RANK"));
	map_of("0,5,100\n", "", 0);
	has(out, "   5  1,1   n1-1     0\n");
}

static void map_goes_round_faults_and_leaves_out_dead_nodes(void **state)
{
	json_t *j;

	(void)state;
	fake.excluded[0] = 1;	/* 0,0:+x */
	torus_exclusions_close(&fake.shape, fake.excluded);
	fake_rows(&fake);
	map_of("0,1,100\n", "--json", 0);
	j = printed();
	assert_int_equal(number_at(j, "given", "hop_bytes"), 300);
	json_decref(j);
	/* A node that is down has no slot. */
	fake.dead[2] = true;
	map_of("0,2,100\n", "--format rubik", 0);
	assert_string_equal(out, "0 0\n1 0\n3 0\n");
	fake.silent[0] = true;
	map_of("0,1,100\n", "--score", 1);
	has(err, "100 bytes are between nodes that no known path joins");
}

static void map_with_improve_shows_lower_costs(void **state)
{
	json_t *j;

	(void)state;
	map_of("0,10,100\n10,0,100\n3,9,8\n", "--improve --json", 0);
	j = printed();
	assert_int_equal(number_at(j, "given", "hop_bytes"), 832);
	assert_int_equal(number_at(j, "improved", "hop_bytes"), 208);
	json_decref(j);
	map_of("0,10,100\n10,0,100\n3,9,8\n", "-i -s --seed 9", 0);
	has(out, "AS GIVEN  IMPROVED\n");
}

static void placement_is_written_in_each_format(void **state)
{
	(void)state;
	map_of("0,3,1\n", "--format openmpi --slots 2", 0);
	assert_string_equal(out, "rank 0=n0-0 slot=0\nrank 1=n0-0 slot=1\nrank 2=n1-0 slot=0\n"
				 "rank 3=n1-0 slot=1\n");
	map_of("0,3,1\n", "--format mpich --slots 2", 0);
	assert_string_equal(out, "n0-0:2\nn1-0:2\n");
	map_of("0,3,1\n", "--format slurm --hosts n2-0,n1-1:2,n0-0", 0);
	assert_string_equal(out, "n2-0\nn1-1\nn1-1\nn0-0\n");
	map_of("0,3,1\n", "--format rubik --hosts n2-0,n1-1:2,n0-0", 0);
	assert_string_equal(out, "2 0\n1 1\n1 1\n0 0\n");
	map_of("0,1,1\n", "--ranks 3 --format slurm", 0);
	assert_string_equal(out, "n0-0\nn1-0\nn2-0\n");
}

static void ranks_of_a_job_are_written_by_number_in_each_format(void **state)
{
	(void)state;
	expect("job hosts mine", 0);
	assert_string_equal(out, "n1-0\nn0-0\nn0-1\nn1-1\n");
	expect("job hosts mine --format openmpi", 0);
	assert_string_equal(out, "rank 0=n1-0 slot=0\nrank 1=n0-0 slot=0\nrank 2=n0-1 slot=0\n"
				 "rank 3=n1-1 slot=0\n");
	expect("job hosts mine --format mpich --slots 3", 0);
	assert_string_equal(out, "n1-0:3\nn0-0:3\nn0-1:3\nn1-1:3\n");
	expect("job hosts mine --format slurm --slots 2", 0);
	assert_string_equal(out, "n1-0\nn1-0\nn0-0\nn0-0\nn0-1\nn0-1\nn1-1\nn1-1\n");
	expect("job hosts mine --format rubik", 0);
	assert_string_equal(out, "1 0\n0 0\n0 1\n1 1\n");
	fake.dead[1] = true;
	expect("job hosts mine --format slurm", 3);
	assert_string_equal(out, "n0-0\nn0-1\nn1-1\n");
	has(err, "1 node of job 'mine' is down or out of service, without ranks here: 'fabricctl job "
	    "show mine' names it");
	expect("job hosts mine", 3);
	assert_string_equal(out, "n0-0\nn0-1\nn1-1\n");
	has(err, "1 node of job 'mine' is down or out of service, and not named here");
	expect("job hosts mine --json", 3);
	has(out, "n1-0");
	has(err, "1 node of job 'mine' is down or out of service: ");
	fake.dead[0] = fake.dead[4] = fake.dead[5] = true;
	expect("job hosts mine --format slurm", 2);
	has(err, "there is no slot: no node of the job is up and in service");
	assert_string_equal(out, "");
}

static void verify_and_show_of_a_job_name_a_dead_node_and_the_next_step(void **state)
{
	(void)state;
	fake_rows(&fake);
	expect("job show mine", 0);
	assert_null(strstr(out, "next "));
	expect("job verify mine", 0);
	fake.dead[1] = true;
	expect("job verify mine", 1);
	has(out, "node 1,0 is down: its routes are not checked\n");
	has(out, "1 culprit\n");
	has(out, "job show mine");
	expect("job verify mine --json", 1);
	has(out, "\"ok\":false");
	expect("job show mine", 1);
	has(out, "links --bad");
	has(out, "shows its cables; start the node");
}

static void job_list_names_the_user_and_the_second_of_the_start(void **state)
{
	(void)state;
	fake.job = true;
	expect("job list", 0);
	has(out, " root(0)@n1-0 ");
	has(out, " 2023-11-1");
	assert_null(strstr(out, ".000"));
}

static void map_places_ranks_on_the_nodes_of_a_job(void **state)
{
	(void)state;
	map_of("0,3,1\n", "--job mine --format rubik", 0);
	assert_string_equal(out, "1 0\n0 0\n0 1\n1 1\n");
	/* A ring of four whose neighbours are two apart in the order of the job */
	map_of("0,2,1\n2,1,1\n1,3,1\n3,0,1\n", "--job mine --improve --score --json", 0);
	has(out, "\"slots\":4,");
	has(out, "\"hop_bytes\":4,");
	map_of("0,4,1\n", "--job mine", 2);
	has(err, "5 ranks are more than the 4 slots of the nodes");
	fake.dead[1] = true;
	map_of("0,2,1\n", "--job mine --format slurm", 0);
	assert_string_equal(out, "n0-0\nn0-1\nn1-1\n");
}

static void topology_is_exported_for_slurm(void **state)
{
	char args[256];

	(void)state;
	expect("export slurm", 0);
	has(out, "SwitchName=x-3 Nodes=n0-3,n1-3,n2-3,n3-3\nSwitchName=xy Switches=x-0,x-1,x-2,x-3\n");
	/* Slurm still knows a dead node. */
	fake.dead[1] = true;
	expect("export slurm --torus3d", 0);
	has(out, "        dims: {x: 4, y: 4, z: 1}\n        nodes: \"n0-0,n1-0,n2-0,");
	snprintf(args, sizeof(args), "export slurm -o %s", side);
	expect(args, 0);
	assert_string_equal(out, "");
	expect("export slurm -o /no/such/file", 2);
	has(err, "cannot write '/no/such/file': No such file");
}

static void hosts_and_placement_are_read_from_files(void **state)
{
	char args[256];

	(void)state;
	write_side("# hosts\nn3-3 slots=2\n\n1,2\n  n0-1:1\n");
	snprintf(args, sizeof(args), "--format rubik --hosts @%s", side);
	map_of("0,3,1\n", args, 0);
	assert_string_equal(out, "3 3\n3 3\n1 2\n0 1\n");
	/* As programs of other systems write it: a byte order mark, tabs, and a limit of slots. */
	write_side("\xef\xbb\xbf" "n3-3\tslots=2 max_slots=4 # two\r\n1,2\r\n");
	map_of("0,2,1\n", args, 0);
	assert_string_equal(out, "3 3\n3 3\n1 2\n");
	write_side("n3-3 slot=2\n");
	map_of("0,1,1\n", args, 2);
	has(err, "--hosts: 'slot=2' after host 'n3-3': must be slots=SLOTS");
	write_side_bytes("n3-3\0 n3-2\nn0-1\n", 16);
	map_of("0,1,1\n", args, 2);
	has(err, "a line has a NUL byte");
	write_side("3 3\n 0  1\n3 3\n");
	snprintf(args, sizeof(args), "--slots 2 --format openmpi --from %s", side);
	map_of("0,2,1\n", args, 0);
	assert_string_equal(out, "rank 0=n3-3 slot=0\nrank 1=n0-1 slot=0\nrank 2=n3-3 slot=1\n");
	snprintf(args, sizeof(args), "--from %s", side);
	map_of("0,2,1\n", args, 2);
	has(err, ":3: node 3,3 has no slot left for rank 2; --slots or --hosts give it more");
	map_of("0,3,1\n", args, 2);
	has(err, "no slot left");
	write_side("3 3\n0 4\n");
	map_of("0,1,1\n", args, 2);
	has(err, ":2: '0 4': must be coordinates of a node of 4x4, with blanks between");
	write_side("3 3 0\n");
	map_of("0,0,1\n", args, 2);
	has(err, "'3 3 0': must be");
	write_side("3 3\n");
	map_of("0,1,1\n", args, 2);
	has(err, "has 1 lines, and the program 2 ranks");
}

static void wrong_traffic_hosts_or_placement_are_refused(void **state)
{
	static const struct {
		const char *text, *args, *say;
	} wrong[] = {
		{ "0,1\n", "", ".csv:1: must be three numbers with commas" },
		{ "0,1,2,3\n", "", "must be three numbers" },
		{ "0,1,5\n1,2,-5\n", "", ".csv:2: bytes '-5': must be 0 to 9223372036854775807" },
		{ "0,1,\n", "", "bytes ''" },
		{ "0,1,9223372036854775808\n", "", "bytes '9223372036854775808'" },
		{ "0,-1,5\n", "", ".csv:1: rank '-1': must be 0 to 16777215" },
		{ "x,1,5\n0,y,5\n", "", ".csv:2: rank 'y'" },
		{ "0,4,5\n", "--ranks 4", ".csv:1: rank '4': must be 0 to 3" },
		{ "", "", ".csv: names no rank" },
		{ "# nothing\n", "", "names no rank" },
		{ "0,16,5\n", "", "17 ranks are more than the 16 slots of the nodes" },
		{ "0,4,5\n", "--hosts n0-0:3,n1-0", "5 ranks are more than the 4 slots" },
		{ "0,1,5\n", "--hosts n0-0,n9-9", "--hosts: 'n9-9': must be a name or coordinates" },
		{ "0,1,5\n", "--hosts n0-0,n0-0", "--hosts: 'n0-0' is given twice" },
		{ "0,1,5\n", "--hosts n0-0:0", "'0' slots of host 'n0-0': must be 1 to 4096" },
		{ "0,1,5\n", "--hosts n0-0:-1", "'-1' slots" },
		{ "0,1,5\n", "--hosts n0-0,", "--hosts: ''" },
		{ "0,1,5\n", "--hosts @/dev/null", "--hosts @/dev/null: names no hosts" },
		{ "0,1,5\n", "--hosts @/no/such", "/no/such: No such file" },
		{ "0,1,5\n", "--from /no/such", "/no/such: No such file" },
		{ "0,1,9223372036854775807\n0,1,9223372036854775807\n0,1,5\n", "",
		  "the bytes from rank 0 to rank 1 are more than 64 bits can count" },
		{ "0,10,9223372036854775807\n", "", "the hop-bytes are more than 63 bits can count" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		map_of(wrong[i].text, wrong[i].args, 2);
		has(err, wrong[i].say);
		assert_string_equal(out, "");
	}
	fake.dead[1] = true;
	map_of("0,1,5\n", "--hosts n0-0,n1-0", 2);
	has(err, "--hosts: 'n1-0' is not up");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(map_shows_costs_of_given_placement,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(map_goes_round_faults_and_leaves_out_dead_nodes,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(map_with_improve_shows_lower_costs,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(placement_is_written_in_each_format,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(ranks_of_a_job_are_written_by_number_in_each_format,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(verify_and_show_of_a_job_name_a_dead_node_and_the_next_step,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(job_list_names_the_user_and_the_second_of_the_start,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(map_places_ranks_on_the_nodes_of_a_job,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(topology_is_exported_for_slurm, fake_setup,
						fake_teardown),
		cmocka_unit_test_setup_teardown(hosts_and_placement_are_read_from_files,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(wrong_traffic_hosts_or_placement_are_refused,
						fake_setup, fake_teardown),
	};
	int failed;

	(void)argc;
	program_is(argv[0], "fabricctl");
	snprintf(csv, sizeof(csv), "/tmp/map-%d.csv", (int)getpid());
	snprintf(side, sizeof(side), "/tmp/map-%d.hosts", (int)getpid());
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(csv);
	unlink(side);
	return failed;
}

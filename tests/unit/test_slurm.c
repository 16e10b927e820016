// SPDX-License-Identifier: GPL-2.0-only
/* Files by which Slurm knows the topology. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/slurm.h"

#define NODES_MAX 64

static char names[NODES_MAX][8];
static const char *name[NODES_MAX];
static char *text;

/* Names the nodes "n0" and so on, and writes a file of a shape, without the nodes of @unnamed. */
static const char *file_of(const char *shape_text, uint64_t unnamed,
			   void (*write)(FILE *f, const struct torus_shape *shape, const char *const *name))
{
	struct torus_shape shape;
	size_t size;
	FILE *f;

	assert_int_equal(torus_shape_parse(shape_text, &shape), 0);
	for (uint32_t i = 0; i < torus_nodes(&shape); i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i);
		name[i] = unnamed >> i & 1 ? NULL : names[i];
	}
	free(text);
	f = open_memstream(&text, &size);
	assert_non_null(f);
	write(f, &shape, name);
	fclose(f);
	return text;
}

static int free_text(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void a_tree_has_a_level_for_each_dimension(void **state)
{
	(void)state;
	assert_string_equal(file_of("3x2", 0, slurm_write_tree),
			    "SwitchName=x-0 Nodes=n0,n1,n2\nSwitchName=x-1 Nodes=n3,n4,n5\n"
			    "SwitchName=xy Switches=x-0,x-1\n");
	assert_string_equal(file_of("2x2x2", 0, slurm_write_tree),
			    "SwitchName=x-0-0 Nodes=n0,n1\nSwitchName=x-1-0 Nodes=n2,n3\n"
			    "SwitchName=xy-0 Switches=x-0-0,x-1-0\n"
			    "SwitchName=x-0-1 Nodes=n4,n5\nSwitchName=x-1-1 Nodes=n6,n7\n"
			    "SwitchName=xy-1 Switches=x-0-1,x-1-1\nSwitchName=xyz Switches=xy-0,xy-1\n");
}

static void a_dimension_of_one_node_is_no_level_of_a_tree(void **state)
{
	(void)state;
	assert_string_equal(file_of("1", 0, slurm_write_tree), "SwitchName=x Nodes=n0\n");
	assert_string_equal(file_of("4", 0, slurm_write_tree), "SwitchName=x Nodes=n0,n1,n2,n3\n");
	assert_string_equal(file_of("1x3x1", 0, slurm_write_tree), "SwitchName=y Nodes=n0,n1,n2\n");
}

static void a_tree_has_no_switch_without_nodes(void **state)
{
	(void)state;
	/* The first plane has nothing, and the second one node. */
	assert_string_equal(file_of("2x2x2", 0xdf, slurm_write_tree),
			    "SwitchName=x-0-1 Nodes=n5\nSwitchName=xy-1 Switches=x-0-1\n"
			    "SwitchName=xyz Switches=xy-1\n");
	assert_string_equal(file_of("2x2", 0xf, slurm_write_tree), "");
}

#define HEAD "- topology: torus\n  cluster_default: true\n  torus3d:\n    toruses:\n"
#define DIMS(x, y, z) "{x: " #x ", y: " #y ", z: " #z "}\n"
#define PLACE(x, y, z) "          - dims: " DIMS(x, y, z)

static void a_torus_has_x_fastest_and_boxes_that_divide_it(void **state)
{
	(void)state;
	assert_string_equal(file_of("2x3", 0, slurm_write_torus3d),
			    HEAD "      - name: torus\n        dims: " DIMS(2, 3, 1)
			    "        nodes: \"n0,n1,n2,n3,n4,n5\"\n        placements:\n"
			    PLACE(1, 1, 1) PLACE(2, 1, 1) PLACE(1, 3, 1) PLACE(2, 3, 1));
	file_of("2x2x4", 0, slurm_write_torus3d);
	assert_non_null(strstr(text, "dims: " DIMS(2, 2, 4) "        nodes: \"n0,n1,n2,"));
	assert_non_null(strstr(text, PLACE(1, 2, 2)));
	assert_null(strstr(text, "z: 3"));
}

static void a_torus_of_four_dimensions_is_several_of_three(void **state)
{
	const char *second;

	(void)state;
	file_of("2x1x1x2", 0, slurm_write_torus3d);
	assert_non_null(strstr(text, "      - name: torus-0\n        dims: " DIMS(2, 1, 1)
			       "        nodes: \"n0,n1\"\n"));
	second = strstr(text, "      - name: torus-1\n");
	assert_non_null(second);
	assert_non_null(strstr(second, "nodes: \"n2,n3\"\n"));
	/* Nothing is written of a torus without nodes. */
	file_of("2x1x1x2", 3, slurm_write_torus3d);
	assert_null(strstr(text, "torus-0"));
	assert_non_null(strstr(text, "torus-1"));
}

static void nodes_without_a_name_are_in_no_region(void **state)
{
	(void)state;
	file_of("4x2", 0x22, slurm_write_torus3d);
	assert_non_null(strstr(text, "        regions:\n"
		"          - anchor: " DIMS(0, 0, 0) "            dims: " DIMS(1, 1, 1) "            nodes: \"n0\"\n"
		"          - anchor: " DIMS(2, 0, 0) "            dims: " DIMS(2, 1, 1) "            nodes: \"n2,n3\"\n"
		"          - anchor: " DIMS(0, 1, 0) "            dims: " DIMS(1, 1, 1) "            nodes: \"n4\"\n"
		"          - anchor: " DIMS(2, 1, 0) "            dims: " DIMS(2, 1, 1) "            nodes: \"n6,n7\"\n"
		"        placements:\n"));
}

static void names_that_slurm_would_expand_are_known(void **state)
{
	(void)state;
	assert_true(slurm_is_name("n1-0"));
	assert_true(slurm_is_name("a.example.org"));
	assert_false(slurm_is_name(""));
	assert_false(slurm_is_name("-n"));
	assert_false(slurm_is_name("n[1-3]"));
	assert_false(slurm_is_name("n1,n2"));
	assert_false(slurm_is_name("n 1"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_has_a_level_for_each_dimension),
		cmocka_unit_test(a_dimension_of_one_node_is_no_level_of_a_tree),
		cmocka_unit_test(a_tree_has_no_switch_without_nodes),
		cmocka_unit_test(a_torus_has_x_fastest_and_boxes_that_divide_it),
		cmocka_unit_test(a_torus_of_four_dimensions_is_several_of_three),
		cmocka_unit_test(nodes_without_a_name_are_in_no_region),
		cmocka_unit_test(names_that_slurm_would_expand_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, free_text);
}

# SPDX-License-Identifier: GPL-2.0-only
# A whole manager, with its NIC, the service network and time played by the test.
member-tests := test_fm_parent_messages test_fm_choice test_fm_try test_fm_root_inits test_fm_turn test_fm_silence test_fm_port

stage-tests := test_fm_init test_fm_bootstrap test_fm_address test_fm_row test_fm_tree test_fm_children \
	test_fm_member test_fm_task test_fm_sums test_fm_roster test_fm_missing \
	test_fm_discover test_fm_grow test_fm_settle test_fm_restart test_fm_recall test_fm_damp test_fm_cables \
	test_fm_alternate test_fm_table \
	test_fm_status test_fm_log test_fm_memory test_fm_guests test_fm_places \
	test_fm_isolated test_fm_guard test_fm_obey test_fm_epoch test_quorum test_quorum_tables test_changes test_fm_claim test_fm_claim_table \
	test_fm_follow test_fm_uplink test_fm_wave test_fm_candidate test_fm_vanish test_fm_anew \
	test_fm_orders test_fm_keep test_fm_kept test_fm_parts test_fm_parts_first test_fm_move test_fm_calls test_fm_calls_who test_fm_heard test_fm_ranks \
	test_fm_dead_pair test_fm_cannot_follow \
	test_fm_records test_fm_absent_nodes test_fm_losses test_fm_lost test_fm_tally test_fm_versions \
	test_fm_ends test_fm_home test_fm_root_try test_fm_job test_fm_box
stage-tests += $(member-tests)
stage-objs := tests/unit/stage.o tests/unit/stage_text.o $(fm-objs) $(svc-objs)
tests += $(addprefix tests/unit/,$(stage-tests))

# What these ask memory for has a fence behind it.
stage-fence := $(filter-out test_fm_memory test_fm_isolated test_fm_roster test_fm_table \
	test_fm_discover,$(stage-tests))
$(foreach t,$(stage-fence),$(eval $(t)-extra := tests/unit/memory.o))
$(foreach t,$(stage-fence),$(eval $(t)-wrap := malloc calloc realloc strdup free))

define stage-test
tests/unit/$(1)-objs := tests/unit/$(1).o $$($(1)-extra) $$(stage-objs)
tests/unit/$(1)-deps := $$(B)/libtorus.a
tests/unit/$(1)-libs = $$(call pkg-libs,cmocka) $$(svc-libs) \
	$$(addprefix -Wl$$(comma)--wrap=,$$($(1)-wrap))
endef
$(foreach t,$(stage-tests),$(eval $(call stage-test,$(t))))
tests/unit/test_fm_memory-libs += -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests/unit/test_fm_isolated-libs += -Wl,--wrap=calloc

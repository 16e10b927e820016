# SPDX-License-Identifier: GPL-2.0-only
# Tests of the daemon around the manager.
fabricd-tests := test_config test_frame test_auth test_svc test_svc_limits test_control \
	test_control_limits test_keepalive test_log test_stream test_svc_faults \
	test_control_faults test_auth_faults test_arbiter
test_svc-extra := tests/unit/svc_ends.o
test_svc_limits-extra := tests/unit/svc_ends.o tests/unit/clock.o
test_control-extra := tests/unit/control_client.o
test_control_limits-extra := tests/unit/control_client.o tests/unit/clock.o
calls-wrap := socket bind listen connect accept4 getrandom unlink malloc calloc realloc strdup free
test_svc_faults-extra := tests/unit/svc_ends.o tests/unit/clock.o tests/unit/calls.o \
	tests/unit/memory.o
test_control_faults-extra := tests/unit/control_client.o tests/unit/clock.o \
	tests/unit/calls.o tests/unit/memory.o
test_control_faults-wrap := $(calls-wrap) answer_begin
test_auth_faults-extra := tests/unit/calls.o tests/unit/memory.o
test_auth_faults-wrap := $(calls-wrap) gcry_check_version gcry_mac_open gcry_mac_setkey \
	gcry_mac_write gcry_mac_read gcry_mac_close open
test_svc_faults-wrap := $(calls-wrap)
test_log-wrap := sendmsg
tests += $(addprefix tests/unit/,$(fabricd-tests))

define fabricd-test
tests/unit/$(1)-objs := tests/unit/$(1).o $$($(1)-extra) $(fabricd-common)
tests/unit/$(1)-deps := $$(B)/libtorus.a
tests/unit/$(1)-libs = $$(call pkg-libs,cmocka) $$(fabricd-libs) \
	$$(addprefix -Wl$$(comma)--wrap=,$$($(1)-wrap))
endef
$(foreach t,$(fabricd-tests),$(eval $(call fabricd-test,$(t))))

# Of the daemon only what it tests; the connections are in the test.
tests += tests/unit/test_query
tests/unit/test_query-objs := tests/unit/test_query.o tests/unit/clock.o daemon/query.o \
	daemon/loop.o daemon/histogram.o daemon/log.o lib/util/systemd.o
tests/unit/test_query-libs = $(call pkg-libs,cmocka jansson libevent_core)

# Answers to all commands; what they are read from is in asked.c and asked_parts.c.
answers-tests := tests/unit/test_answers tests/unit/test_answers_nic \
	tests/unit/test_answers_job tests/unit/test_answers_metrics tests/unit/test_stall
tests += $(answers-tests)
define answers-test
$(1)-objs := $(1).o tests/unit/asked.o tests/unit/asked_parts.o \
	$(addprefix daemon/,answer.o answer_args.o answer_fabric.o answer_table.o answer_exclude.o answer_job.o answer_root.o \
	answer_links.o answer_port.o answer_test.o answer_plug.o answer_rows.o answer_nic.o answer_part.o answer_gather.o question.o \
	answer_log.o answer_config.o answer_metrics.o histogram.o config.o config_dump.o address.o service_network.o fm/config.o answer_history.o history_file.o history_filter.o answer_wait.o line.o quality.o wear.o slow.o errors.o stall.o stall_walk.o events.o log.o schema.o) lib/util/inifile.o lib/util/units.o lib/util/systemd.o lib/deps/crc32c.o
$(1)-deps := $$(B)/libtorus.a
$(1)-libs = $$(call pkg-libs,cmocka jansson inih) $$(lib-libs) -lm
endef
$(foreach t,$(answers-tests),$(eval $(call answers-test,$(t))))

# Lists of items of all nodes, which the test plays.
tests += tests/unit/test_answer_gather
tests/unit/test_answer_gather-objs := tests/unit/test_answer_gather.o daemon/answer_gather.o
tests/unit/test_answer_gather-deps := $(B)/libtorus.a
tests/unit/test_answer_gather-libs = $(call pkg-libs,cmocka jansson) $(lib-libs)

# The seal of what goes over links, with the real key.
tests += tests/unit/test_seal
tests/unit/test_seal-objs := tests/unit/test_seal.o daemon/seal.o daemon/auth.o daemon/auth_key.o
tests/unit/test_seal-libs = $(call pkg-libs,cmocka libgcrypt) -Wl,--wrap=getrandom

# Tests of links, between two ends with a cable of the test.
tests += tests/unit/test_linktest
tests/unit/test_linktest-objs := tests/unit/test_linktest.o daemon/linktest.o
tests/unit/test_linktest-libs = $(call pkg-libs,cmocka)

# Plugs: their memories, and the thread that asks drivers, which the test plays.
tests += tests/unit/test_module tests/unit/test_plug
tests/unit/test_module-objs := tests/unit/test_module.o daemon/module.o
tests/unit/test_module-libs = $(call pkg-libs,cmocka)
tests/unit/test_plug-objs := tests/unit/test_plug.o daemon/plug.o daemon/nicq.o daemon/thread.o \
	daemon/loop.o daemon/histogram.o
tests/unit/test_plug-libs = $(call pkg-libs,cmocka libevent_core)

# The NIC and its queue.
tests += tests/unit/test_nicq tests/unit/test_nic_call
tests/unit/test_nicq-objs := tests/unit/test_nicq.o daemon/nicq.o daemon/thread.o daemon/loop.o daemon/histogram.o
tests/unit/test_nicq-libs = $(call pkg-libs,cmocka libevent_core) -Wl,--wrap=pthread_create
tests/unit/test_nic_call-objs := $(addprefix tests/unit/,test_nic_call.o client_nic.o fake_nic.o) \
	$(addprefix daemon/,nic.o nic_call.o nicq.o thread.o loop.o histogram.o log.o hotplug.o) lib/util/systemd.o
tests/unit/test_nic_call-deps := $(B)/libtorus.a
tests/unit/test_nic_call-libs = $(call pkg-libs,cmocka libevent_core libudev) $(lib-libs) -Wl,--wrap=calloc \
	-Wl,--wrap=lt_netdev_place
$(B)/tests/unit/test_nic_call.o: CPPFLAGS += $(lib-cflags)

# The disk is the test's: it hangs and fails.
state-objs := tests/unit/clock.o tests/unit/mutexes.o daemon/state.o daemon/thread.o daemon/loop.o \
	daemon/histogram.o daemon/log.o lib/util/systemd.o lib/deps/crc32c.o $(svc-objs)
state-libs = $(call pkg-libs,cmocka libevent_core) $(svc-libs) $(lib-libs) \
	-Wl,--wrap=fsync -Wl,--wrap=read -Wl,--wrap=close -Wl,--wrap=pthread_cond_signal $(mutexes-wrap)

tests += tests/unit/test_state tests/unit/test_state_disk
tests/unit/test_state-objs := tests/unit/test_state.o $(state-objs)
tests/unit/test_state-deps := $(B)/libtorus.a
tests/unit/test_state-libs = $(state-libs)

tests/unit/test_state_disk-objs := tests/unit/test_state_disk.o $(state-objs)
tests/unit/test_state_disk-deps := $(B)/libtorus.a
tests/unit/test_state_disk-libs = $(state-libs)

# The history: the disk is a directory of the test, with limits.
tests += tests/unit/test_history
mutexes-wrap := -Wl,--wrap=pthread_mutex_init -Wl,--wrap=pthread_mutex_lock \
	-Wl,--wrap=pthread_mutex_unlock -Wl,--wrap=pthread_mutex_destroy
tests/unit/test_history-objs := tests/unit/test_history.o tests/unit/mutexes.o $(addprefix daemon/,history.o \
	history_file.o history_filter.o history_write.o history_search.o thread.o loop.o histogram.o log.o) lib/deps/crc32c.o lib/util/systemd.o
tests/unit/test_history-libs = $(call pkg-libs,cmocka libevent_core) \
	-Wl,--wrap=fdatasync -Wl,--wrap=pwrite -Wl,--wrap=pread -Wl,--wrap=open \
	-Wl,--wrap=pthread_cond_timedwait $(mutexes-wrap)

# The history as a candidate keeps it: the root and its answers are the test's.
tests += tests/unit/test_keeper
tests/unit/test_keeper-objs := $(addprefix tests/unit/,test_keeper.o clock.o mutexes.o) \
	$(addprefix daemon/,keeper.o events.o history.o history_file.o history_filter.o \
	history_write.o history_search.o thread.o loop.o histogram.o log.o) lib/deps/crc32c.o lib/util/systemd.o
tests/unit/test_keeper-libs = $(call pkg-libs,cmocka jansson libevent_core) \
	-Wl,--wrap=history_room -Wl,--wrap=fdatasync $(mutexes-wrap) -lm

# The walk to the node that keeps credits: it needs the topology alone.
tests += tests/unit/test_stall_walk
tests/unit/test_stall_walk-objs := tests/unit/test_stall_walk.o daemon/stall_walk.o
tests/unit/test_stall_walk-deps := $(B)/libtorus.a
tests/unit/test_stall_walk-libs = $(call pkg-libs,cmocka) $(lib-libs)

# The judgement of lines by their errors, which fabricsim shares.
tests += tests/unit/test_quality
tests/unit/test_quality-objs := tests/unit/test_quality.o daemon/quality.o
tests/unit/test_quality-libs = $(call pkg-libs,cmocka) -lm
tests += tests/unit/test_errors
tests/unit/test_errors-objs := tests/unit/test_errors.o daemon/errors.o daemon/quality.o daemon/wear.o daemon/slow.o
tests/unit/test_errors-deps := $(B)/libtorus.a
tests/unit/test_errors-libs = $(call pkg-libs,cmocka jansson) $(lib-libs) -lm
tests += tests/unit/test_slow
tests/unit/test_slow-objs := tests/unit/test_slow.o daemon/slow.o
tests/unit/test_slow-libs = $(call pkg-libs,cmocka)
tests += tests/unit/test_wear
tests/unit/test_wear-objs := tests/unit/test_wear.o daemon/wear.o
tests/unit/test_wear-libs = $(call pkg-libs,cmocka)

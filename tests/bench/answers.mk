# SPDX-License-Identifier: GPL-2.0-only
# The answers of a root, without its process: its state machine is one of a world in virtual time.
programs += tests/bench/bench_answers
bench-answers-objs := $(addprefix daemon/,answer.o answer_args.o answer_fabric.o answer_table.o \
	answer_exclude.o answer_job.o answer_root.o answer_links.o answer_port.o answer_test.o answer_plug.o \
	answer_rows.o answer_nic.o answer_part.o answer_gather.o question.o answer_log.o answer_config.o config.o \
	config_dump.o address.o service_network.o answer_history.o history_file.o history_filter.o \
	answer_wait.o line.o quality.o wear.o slow.o errors.o stall.o stall_walk.o events.o log.o loop.o \
	histogram.o meter.o answer_metrics.o \
	schema.o) lib/util/inifile.o lib/util/units.o lib/util/systemd.o
tests/bench/bench_answers-objs := tests/bench/bench_answers.o \
	$(sort $(sim-world-objs) $(svc-objs) $(bench-answers-objs))
tests/bench/bench_answers-deps := $(B)/libtorus.a
tests/bench/bench_answers-libs = $(call pkg-libs,jansson inih libevent_core) \
	$(svc-libs) $(lib-libs) -lm

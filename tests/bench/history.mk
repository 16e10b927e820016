# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_history
tests/bench/bench_history-objs := tests/bench/bench_history.o $(addprefix daemon/,history.o \
	history_file.o history_filter.o history_write.o history_search.o thread.o loop.o histogram.o \
	log.o) lib/deps/crc32c.o lib/util/systemd.o
tests/bench/bench_history-libs = $(call pkg-libs,libevent_core)

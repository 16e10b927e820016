# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_seal
tests/fuzz/fuzz_seal-objs := tests/fuzz/fuzz_seal.o daemon/seal.o daemon/auth.o daemon/loop.o \
	daemon/histogram.o daemon/log.o lib/util/systemd.o
tests/fuzz/fuzz_seal-libs = $(call pkg-libs,libevent_core)

fabricd-fuzzers := fuzz_config fuzz_control fuzz_frame fuzz_record
fuzzers += $(addprefix tests/fuzz/,$(fabricd-fuzzers))

define fabricd-fuzzer
tests/fuzz/$(1)-objs := tests/fuzz/$(1).o $(fabricd-common)
tests/fuzz/$(1)-deps := $$(B)/libtorus.a
tests/fuzz/$(1)-libs = $$(fabricd-libs)
endef
$(foreach f,$(fabricd-fuzzers),$(eval $(call fabricd-fuzzer,$(f))))

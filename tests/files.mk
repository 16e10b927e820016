# SPDX-License-Identifier: GPL-2.0-only
# Each piece declares its tests in a fragment of its own, tests/FOLDER/NAME.mk:
#
#	tests += tests/unit/test_NAME
#	tests/unit/test_NAME-objs := tests/unit/test_NAME.o $(core-objs)
#	tests/unit/test_NAME-libs := $(call pkg-libs,cmocka)
#
#	fuzzers += tests/fuzz/fuzz_NAME		(-objs and -libs likewise)
fuzzers :=

include $(sort $(wildcard tests/*/*.mk))

# Gold links a program in half the processor time of GNU ld. All that is installed is linked as its
# users link it.
ifneq ($(shell command -v ld.gold),)
$(addprefix $(B)/,$(tests)): private LDFLAGS += -fuse-ld=gold
endif

# libFuzzer is clang's; its objects go to a directory of their own (B=).
FUZZFLAGS := -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer

define fuzzer-rule
$(B)/$(1): $(addprefix $(B)/,$($(1)-objs)) $($(1)-deps)
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) -fsanitize=fuzzer $$(LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $($(1)-libs)
endef
$(foreach p,$(fuzzers),$(eval $(call fuzzer-rule,$(p))))

fuzzers: CC := clang
fuzzers: SANFLAGS := $(FUZZFLAGS)
fuzzers: ASSERT := 1
fuzzers: $(addprefix $(B)/,$(fuzzers))

list-tests:
	@printf '%s\n' $(tests) $(fuzzers)

.PHONY: fuzzers list-tests

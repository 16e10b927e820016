# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/framefuzz
tests/vm/framefuzz-objs := $(addprefix tests/vm/,framefuzz.o framefuzz_peer.o framefuzz_wire.o) \
	$(core-objs)

# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/framefuzz
tests/vm/framefuzz-objs := tests/vm/framefuzz.o tests/vm/framefuzz_peer.o $(core-objs)

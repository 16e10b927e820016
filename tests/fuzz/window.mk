# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_window
tests/fuzz/fuzz_window-objs := tests/fuzz/fuzz_window.o kernel/core/window.o

# SPDX-License-Identifier: GPL-2.0-only
tests += tests/bench/kernel_rows
tests/bench/kernel_rows-objs := tests/bench/kernel_rows.o
tests/bench/kernel_rows-deps := $(B)/libtorus.a
tests/bench/kernel_rows-libs := $(lib-libs)

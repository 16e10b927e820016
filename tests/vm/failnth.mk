# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/failnth.so
tests/vm/failnth.so-objs := tests/vm/failnth.o
tests/vm/failnth.so-libs := -shared

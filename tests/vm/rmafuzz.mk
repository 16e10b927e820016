# SPDX-License-Identifier: GPL-2.0-only
programs += tests/vm/rmafuzz
tests/vm/rmafuzz-objs := tests/vm/rmafuzz.o

# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bare
tests/bench/bare-objs := tests/bench/bare.o

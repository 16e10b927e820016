# SPDX-License-Identifier: GPL-2.0-only
programs += tests/netns/fabricd_hang
tests/netns/fabricd_hang-objs = tests/netns/fabricd_hang.o $(fabricd-objs)
tests/netns/fabricd_hang-deps = $(fabricd-deps)
tests/netns/fabricd_hang-libs = $(fabricd-libs) -Wl,--wrap=fsync

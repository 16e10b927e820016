# SPDX-License-Identifier: GPL-2.0-only
programs += tests/netns/emu_withhold
tests/netns/emu_withhold-objs = tests/netns/emu_withhold.o $(torusemu-objs)
tests/netns/emu_withhold-deps = $(torusemu-deps)
tests/netns/emu_withhold-libs = $(torusemu-libs) -Wl,--wrap=tn_credit_report

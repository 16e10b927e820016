# SPDX-License-Identifier: GPL-2.0-only
# Files of the root by themselves: more of those that fm.mk begins.
tests += tests/unit/test_fm_phases
$(eval $(call alone-test,phases,root/recovery))
tests/unit/test_fm_phases-objs += daemon/fm/root/sums.o

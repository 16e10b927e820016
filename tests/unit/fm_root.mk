# SPDX-License-Identifier: GPL-2.0-only
# Files of the root by themselves: more of those that fm.mk begins.
tests += $(addprefix tests/unit/test_fm_,bases claiming job_begin phases publishing terms)
$(eval $(call alone-test,bases,root/base))
$(eval $(call alone-test,claiming,root/claim))
$(eval $(call alone-test,job_begin,root/job))
$(eval $(call alone-test,phases,root/recovery))
$(eval $(call alone-test,publishing,root/publish))
$(eval $(call alone-test,terms,root/term))
tests/unit/test_fm_phases-objs += daemon/fm/root/sums.o
tests/unit/test_fm_publishing-objs += $(addprefix daemon/fm/,root/changes.o root/demand.o node/jobs.o node/orders.o node/random.o)
tests/unit/test_fm_job_begin-objs += $(addprefix daemon/fm/,root/apart.o node/jobs.o node/orders.o node/random.o)

# SPDX-License-Identifier: GPL-2.0-only
# fabricctl as a whole against a manager that the test plays, and its parsers.
define fabricctl-test
tests += tests/unit/$(1)
tests/unit/$(1)-objs := tests/unit/$(1).o tests/unit/fake_manager.o tests/unit/program.o \
	tools/fabricctl/number.o tools/fabricctl/kind.o lib/util/units.o
tests/unit/$(1)-deps := $$(B)/libtorus.a $$(B)/fabricctl $$(B)/torusemu $$(B)/fabricd
tests/unit/$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs) -lm
endef
$(foreach t,test_fabricctl test_fabricctl_root test_fabricctl_arguments test_fabricctl_kind test_fabricctl_map,$(eval $(call fabricctl-test,$(t))))

$(addprefix $(B)/tests/unit/,test_fabricctl.o test_fabricctl_root.o test_fabricctl_arguments.o test_fabricctl_kind.o test_fabricctl_map.o fake_manager.o program.o): CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_nicfile
tests/unit/test_nicfile-objs := tests/unit/test_nicfile.o \
	$(addprefix tools/fabricctl/,nicfile.o number.o output.o) tools/torusemu/param.o kernel/core/params.o lib/util/inifile.o lib/util/units.o
tests/unit/test_nicfile-deps := $(B)/libtorus.a
tests/unit/test_nicfile-libs := $(call pkg-libs,cmocka inih) $(lib-libs) -lm

tests += tests/unit/test_fabricctl_judge
tests/unit/test_fabricctl_judge-objs := tests/unit/test_fabricctl_judge.o \
	$(addprefix tools/fabricctl/,traffic_judge.o traffic_record.o) lib/deps/crc32c.o
tests/unit/test_fabricctl_judge-libs := $(call pkg-libs,cmocka)

tests += tests/unit/test_traffic_rma
tests/unit/test_traffic_rma-objs := tests/unit/test_traffic_rma.o \
	$(addprefix tools/fabricctl/,traffic_rma.o traffic_judge.o traffic_record.o) lib/deps/crc32c.o
tests/unit/test_traffic_rma-libs := $(call pkg-libs,cmocka) -Wl,--wrap=traffic_pace

tests += tests/unit/test_outages
tests/unit/test_outages-objs := tests/unit/test_outages.o \
	$(addprefix tools/fabricctl/,outages.o json.o output.o)
tests/unit/test_outages-deps := $(B)/libtorus.a
tests/unit/test_outages-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_outages.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_concern
tests/unit/test_concern-objs := tests/unit/test_concern.o \
	$(addprefix tools/fabricctl/,concern.o outages.o json.o output.o)
tests/unit/test_concern-deps := $(B)/libtorus.a
tests/unit/test_concern-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_concern.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_slurm
tests/unit/test_slurm-objs := tests/unit/test_slurm.o tools/fabricctl/slurm.o
tests/unit/test_slurm-deps := $(B)/libtorus.a
tests/unit/test_slurm-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_slurm.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_report
tests/unit/test_report-objs := tests/unit/test_report.o \
	$(addprefix tools/fabricctl/,report.o report_html.o orders.o outages.o errors.o json.o moment.o number.o output.o table.o) \
	lib/util/units.o
tests/unit/test_report-deps := $(B)/libtorus.a
tests/unit/test_report-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_report.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_next
tests/unit/test_next-objs := tests/unit/test_next.o \
	$(addprefix tools/fabricctl/,next.o root.o errors.o json.o moment.o number.o output.o table.o) \
	lib/util/units.o
tests/unit/test_next-deps := $(B)/libtorus.a
tests/unit/test_next-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_next.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_follow
tests/unit/test_follow-objs := tests/unit/test_follow.o $(addprefix tools/fabricctl/,follow.o json.o output.o)
tests/unit/test_follow-deps := $(B)/libtorus.a
tests/unit/test_follow-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_follow.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_difference
tests/unit/test_difference-objs := tests/unit/test_difference.o \
	$(addprefix tools/fabricctl/,difference.o json.o output.o)
tests/unit/test_difference-deps := $(B)/libtorus.a
tests/unit/test_difference-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_difference.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_fabricctl_rows
tests/unit/test_fabricctl_rows-objs := tests/unit/test_fabricctl_rows.o \
	$(addprefix tools/fabricctl/,rows.o json.o output.o)
tests/unit/test_fabricctl_rows-deps := $(B)/libtorus.a
tests/unit/test_fabricctl_rows-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_fabricctl_rows.o: CPPFLAGS += $(lib-cflags)

tests += tests/unit/test_fabricctl_cabling
tests/unit/test_fabricctl_cabling-objs := tests/unit/test_fabricctl_cabling.o \
	$(addprefix tools/fabricctl/,cabling.o json.o output.o)
tests/unit/test_fabricctl_cabling-deps := $(B)/libtorus.a
tests/unit/test_fabricctl_cabling-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
$(B)/tests/unit/test_fabricctl_cabling.o: CPPFLAGS += $(lib-cflags)

# SPDX-License-Identifier: GPL-2.0-only
# Commands first, in the order in which help lists them, then what they share, then
# what belongs to one of them. From fabricctl comes what commands are made of.
sim-commands := flow route recovery replay train retry availability translate address grow
sim-shared := main range points plot jobs
sim-flow-engine := flow_net flow_step flow_birth flow_pattern flow_wheel flow_check \
	$(patsubst tools/fabricsim/%.c,%,$(sort $(wildcard tools/fabricsim/flow_policy*.c)))
sim-flow := flow_option flow_sweep flow_trace $(sim-flow-engine)
sim-route := route_fabric route_engine
sim-recovery := recovery_scene recovery_block
sim-availability := avail_formula avail_sample avail_option
sim-core := bubble retry retry_angara retry_acknak retry_hippi
sim-train := train_run train_wear
sim-translate := translate_paper translate_time
sim-grow := grow_run
sim-address := address_graph address_walk address_tree
sim-retry := retry_wire retry_formula retry_play
sim-ctl := program command output table number json line

# Managers and NICs in virtual time; the tests' worlds are made of the same objects.
# Files of the core that the library has are linked from there.
sim-world-objs := $(addprefix tools/fabricsim/,world.o queue.o nic_side.o nic_plain.o nic_plain_rows.o \
	svc_side.o host_nic.o arbiter_side.o) $(fm-objs) \
	$(svc-objs) $(filter-out kernel/core/topo.o kernel/core/plan.o kernel/core/route.o,$(core-objs))

programs += fabricsim
fabricsim-objs := $(sim-commands:%=tools/fabricsim/cmd_%.o) \
	$(sim-shared:%=tools/fabricsim/%.o) $(sim-flow:%=tools/fabricsim/%.o) \
	$(sim-route:%=tools/fabricsim/%.o) $(sim-retry:%=tools/fabricsim/%.o) \
	$(sim-recovery:%=tools/fabricsim/%.o) $(sim-train:%=tools/fabricsim/%.o) $(sim-world-objs) \
	$(sim-availability:%=tools/fabricsim/%.o) $(sim-translate:%=tools/fabricsim/%.o) \
	$(sim-address:%=tools/fabricsim/%.o) $(sim-grow:%=tools/fabricsim/%.o) $(growth-objs) \
	$(sim-ctl:%=tools/fabricctl/%.o) lib/util/units.o
fabricsim-objs += daemon/record.o daemon/record_ops.o daemon/quality.o daemon/wear.o
fabricsim-deps := $(B)/libtorus.a
fabricsim-libs := $(lib-libs) $(svc-libs) -lm -lpthread

$(B)/tools/fabricsim/%.o: CPPFLAGS += $(call pkg-cflags,jansson)

install-fabricsim: $(B)/fabricsim
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(COMPLETIONDIR) $(DESTDIR)$(ZSHCOMPLETIONDIR)
	install -m 755 $(B)/fabricsim $(DESTDIR)$(PREFIX)/bin/
	install -m 644 tools/fabricsim/fabricsim.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 tools/fabricsim/fabricsim.bash $(DESTDIR)$(COMPLETIONDIR)/fabricsim
	install -m 644 tools/fabricsim/fabricsim.zsh $(DESTDIR)$(ZSHCOMPLETIONDIR)/_fabricsim

install: install-fabricsim
.PHONY: install-fabricsim

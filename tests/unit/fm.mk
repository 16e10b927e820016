# SPDX-License-Identifier: GPL-2.0-only
# A part of the manager by itself; what it calls of the rest is in the test.
conns-tests := conns conn_times lag
tests += $(conns-tests:%=tests/unit/test_%)
define conns-test
tests/unit/test_$(1)-objs := $(addprefix daemon/fm/node/,conns.o lag.o) tests/unit/test_$(1).o lib/util/hash.o
tests/unit/test_$(1)-libs := $(call pkg-libs,cmocka)
endef
$(foreach t,$(conns-tests),$(eval $(call conns-test,$(t))))
tests/unit/test_conns-objs += tests/unit/memory.o
tests/unit/test_conns-libs += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=free

tests += $(addprefix tests/unit/test_fm_,actions arbiter asking attempts callers cable_events demand dispute equals flows follow_back graph growing inits job_list job_rows leftover marks \
	news on_disk own_fabric ports positions prefixes present_table problems \
	reach recalling resign rows service sessions settling severs squares taking taking_part \
	verdict views wiring)
tests += $(addprefix tests/unit/test_fm_,admin dispatch flapping layout plan)
define alone-test
tests/unit/test_fm_$(1)-objs := tests/unit/test_fm_$(1).o tests/unit/memory.o daemon/fm/$(2).o
tests/unit/test_fm_$(1)-deps := $$(B)/libtorus.a
tests/unit/test_fm_$(1)-libs = $$(call pkg-libs,cmocka) \
	$$(addprefix -Wl$$(comma)--wrap=,malloc calloc realloc strdup free)
endef
$(eval $(call alone-test,actions,node/task))
$(eval $(call alone-test,arbiter,root/arbiter))
$(eval $(call alone-test,asking,node/candidate))
$(eval $(call alone-test,attempts,node/try))
$(eval $(call alone-test,callers,node/children))
$(eval $(call alone-test,cable_events,root/cables))
$(eval $(call alone-test,demand,root/demand))
$(eval $(call alone-test,dispatch,fm))
$(eval $(call alone-test,dispute,root/dispute))
$(eval $(call alone-test,equals,root/ranks))
$(eval $(call alone-test,admin,root/admin))
$(eval $(call alone-test,flapping,root/damp))
$(eval $(call alone-test,flows,root/sums))
$(eval $(call alone-test,graph,root/discover))
$(eval $(call alone-test,growing,root/grow))
$(eval $(call alone-test,inits,node/bootstrap))
$(eval $(call alone-test,job_list,node/jobs))
$(eval $(call alone-test,job_rows,node/job_rows))
$(eval $(call alone-test,layout,root/discover))
$(eval $(call alone-test,leftover,root/leftover))
$(eval $(call alone-test,marks,root/changes))
$(eval $(call alone-test,news,root/news))
$(eval $(call alone-test,on_disk,node/keep))
$(eval $(call alone-test,own_fabric,node/home))
$(eval $(call alone-test,plan,root/plan))
$(eval $(call alone-test,ports,node/port))
$(eval $(call alone-test,positions,node/wave))
$(eval $(call alone-test,problems,node/log))
$(eval $(call alone-test,present_table,node/table))
$(eval $(call alone-test,prefixes,wire/plan))
$(eval $(call alone-test,reach,root/isolated))
$(eval $(call alone-test,recalling,root/recall))
$(eval $(call alone-test,resign,root/resign))
$(eval $(call alone-test,rows,node/rows))
$(eval $(call alone-test,service,root/service))
$(eval $(call alone-test,sessions,root/ended))
$(eval $(call alone-test,settling,root/settle))
$(eval $(call alone-test,severs,root/guard))
$(eval $(call alone-test,squares,node/square))
$(eval $(call alone-test,taking,root/tally))
$(eval $(call alone-test,taking_part,node/member))
$(eval $(call alone-test,follow_back,node/follow))
$(eval $(call alone-test,verdict,node/verdict))
$(eval $(call alone-test,views,status))
$(eval $(call alone-test,wiring,root/wiring))
tests/unit/test_fm_cable_events-objs += lib/util/hash.o daemon/fm/node/random.o
tests/unit/test_fm_admin-objs += daemon/fm/node/orders.o daemon/fm/node/random.o
tests/unit/test_fm_dispatch-objs += daemon/fm/config.o daemon/fm/node/random.o
tests/unit/test_fm_flapping-objs += daemon/fm/node/random.o
tests/unit/test_fm_graph-objs += daemon/fm/root/corner.o
tests/unit/test_fm_layout-objs += daemon/fm/root/corner.o
tests/unit/test_fm_views-objs += daemon/fm/node/orders.o daemon/fm/node/random.o
tests/unit/test_fm_actions-objs += daemon/fm/node/nic_actions.o
tests/unit/test_fm_taking_part-objs += daemon/fm/node/reports.o
tests/unit/test_fm_present_table-objs += lib/util/hash.o \
	$(addprefix daemon/fm/node/,jobs.o library.o orders.o random.o)
tests/unit/test_fm_plan-objs += daemon/fm/wire/plan.o
tests/unit/test_fm_inits-objs += daemon/fm/wire/init.o
tests/unit/test_fm_on_disk-objs += lib/util/hash.o \
	$(addprefix daemon/fm/node/,jobs.o library.o orders.o random.o table.o)
tests/unit/test_fm_problems-objs += daemon/fm/node/spare.o
tests/unit/test_fm_callers-objs += daemon/fm/wire/init.o \
	$(addprefix daemon/fm/node/,called.o handover.o)
tests/unit/test_fm_job_list-objs += daemon/fm/node/orders.o daemon/fm/node/random.o
tests/unit/test_fm_ports-objs += daemon/fm/node/lag.o daemon/fm/node/nic_actions.o
tests/unit/test_fm_job_rows-objs += $(addprefix daemon/fm/node/,jobs.o orders.o random.o)
tests/unit/test_fm_service-objs += daemon/fm/node/lag.o
tests/unit/test_fm_settling-objs += daemon/fm/node/lag.o
tests/unit/test_fm_recalling-objs += daemon/fm/node/lag.o daemon/fm/node/jobs.o daemon/fm/node/random.o
tests/unit/test_fm_rows-objs += $(addprefix daemon/fm/node/,job_rows.o jobs.o random.o)

# A whole manager, of which the test is the NIC and all other nodes; or a part of it is
# looked at by itself.
manager-tests := judge vanish settle extend
one-fm-tests := drain bounds doubt steps sums publish member member_write
tests += $(one-fm-tests:%=tests/unit/test_%) $(manager-tests:%=tests/unit/test_%)

define one-fm-test
tests/unit/test_$(1)-objs := tests/unit/test_$(1).o $(2) $(fm-objs)
tests/unit/test_$(1)-deps := $$(B)/libtorus.a
tests/unit/test_$(1)-libs := $$(call pkg-libs,cmocka)
endef
$(foreach t,$(one-fm-tests),$(eval $(call one-fm-test,$(t),tests/unit/one_fm.o)))
$(foreach t,$(manager-tests),$(eval $(call one-fm-test,$(t))))
tests/unit/test_settle-libs += -Wl,--wrap=malloc -Wl,--wrap=calloc
tests/unit/test_extend-objs += tests/unit/memory.o
tests/unit/test_extend-libs += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=strdup,--wrap=free

# Jobs that grow: the part of a node, and that of the root.
tests += tests/unit/test_fm_grower tests/unit/test_fm_grown
$(eval $(call alone-test,grower,node/grower))
$(eval $(call alone-test,grown,root/grown))
tests/unit/test_fm_grower-objs += $(growth-objs)

# Growth of partitions, which stands for itself.
tests += tests/unit/test_fm_growth
tests/unit/test_fm_growth-objs := tests/unit/test_fm_growth.o tests/unit/grow_net.o $(growth-objs)
tests/unit/test_fm_growth-deps := $(B)/libtorus.a
tests/unit/test_fm_growth-libs := $(call pkg-libs,cmocka)
tests += tests/unit/test_fm_growth_node
tests/unit/test_fm_growth_node-objs := tests/unit/test_fm_growth_node.o $(growth-objs)
tests/unit/test_fm_growth_node-deps := $(B)/libtorus.a
tests/unit/test_fm_growth_node-libs := $(call pkg-libs,cmocka)

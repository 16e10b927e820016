# SPDX-License-Identifier: GPL-2.0-only
# Tests of libtorus and of the part of the core that it shares.
lib-tests := test_topo test_plan test_route test_topology test_rows test_routes test_routes_naive test_verify test_verify_cycles test_client test_client_rows test_client_faults \
	test_client_refusals test_client_events test_client_genl test_fabric test_route_memory \
	test_box test_deps test_dm test_dm_rows test_health test_search test_routes_work test_map test_map_memory \
	test_rma_bell test_rma_window
client-nic := tests/unit/client_nic.o tests/unit/fake_nic.o
test_client-extra := $(client-nic)
test_client_refusals-extra := $(client-nic)
test_client_rows-extra := $(client-nic)
test_client_faults-extra := $(client-nic)
test_client_events-extra := $(client-nic)
test_client_genl-extra := $(client-nic)
test_client_genl-wrap := genl_connect nl_connect nl_socket_get_fd nl_socket_free \
	genl_ctrl_resolve genl_ctrl_resolve_grp nl_socket_add_membership \
	nl_socket_add_memberships if_nametoindex sendto recvmsg
test_verify-extra := tests/unit/verify_fabric.o
test_verify_cycles-extra := tests/unit/verify_fabric.o
test_dm_rows-extra := tests/unit/verify_fabric.o
test_routes_naive-extra := tests/unit/naive.o
test_box-extra := tests/unit/naive.o
test_deps-extra := tests/unit/naive.o
test_search-extra := tests/unit/naive.o
test_routes_work-extra := tests/unit/naive.o
test_routes_work-wrap := lt_pair_row lt_direct_row
test_health-extra := tests/unit/naive.o
test_map_memory-extra := tests/unit/memory.o
test_map_memory-wrap := malloc calloc realloc strdup free
test_route_memory-extra := tests/unit/memory.o
test_route_memory-wrap := malloc calloc realloc strdup free
tests += $(addprefix tests/unit/,$(lib-tests))

comma := ,
define lib-test
tests/unit/$(1)-objs := tests/unit/$(1).o $$($(1)-extra)
tests/unit/$(1)-deps := $$(B)/libtorus.a
tests/unit/$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs) \
	$$(addprefix -Wl$$(comma)--wrap=,$$($(1)-wrap))
endef
$(foreach t,$(lib-tests),$(eval $(call lib-test,$(t))))

$(patsubst %,$(B)/tests/unit/%.o,fake_nic client_nic test_client test_client_rows \
	test_client_faults test_client_refusals test_client_events test_client_genl): CPPFLAGS += $(lib-cflags)

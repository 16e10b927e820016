# SPDX-License-Identifier: GPL-2.0-only
# Tests of the NIC core: one for each of its files, and of one NIC alone (lone.c) some more.
core-tests := params wire pkt pieces retry retry_buffer retry_angara retry_acknak retry_hippi credit bubble ring link linkstate router table nic park flow fault relay via train serdes_model link_train
core-tests += ring_node marks link_rx link_tx series link_times link_states handshake link_series link_frames link_retrain link_serdes nic_send nic_ports nic_state router_moves deliver path divert nic_ways nic_relay nic_service
core-tests += table_rows flow_waits train_eye train_rx serdes_eye window amo fe rma_wire rma_owner rma_initiator rma_nic rma_self rma rma_ring rma_check rma_recv
core-test-libs-fault := -lm
core-test-libs-amo := -lpthread
core-test-libs-fe := -lpthread
core-test-libs-train := -lm
core-test-libs-serdes_model := -lm
core-test-libs-serdes_eye := -lm
core-test-link := tests/unit/linkpair.o tests/unit/cable.o
core-test-retry_buffer := tests/unit/cable.o
core-test-retry_angara := tests/unit/retrymasks.o
core-test-retry_acknak := tests/unit/retrymasks.o
core-test-retry_hippi := tests/unit/retrymasks.o
core-test-pieces := tests/unit/cable.o
core-test-linkstate := $(core-test-link)
core-test-link_train := $(core-test-link)
core-test-rma_initiator := tests/unit/rma_model.o
core-test-router := tests/unit/fabric.o tests/unit/fabric_check.o tests/unit/cable.o
core-test-ring := $(core-test-router)
core-test-table := $(core-test-router)
core-test-nic := $(core-test-router) tests/unit/lone.o
core-test-table_rows := $(core-test-router) tests/unit/lone.o
core-test-via := $(core-test-router)
core-test-rma := $(core-test-router)
core-test-lone := tests/unit/lone.o tests/unit/cable.o
core-test-marks := $(core-test-router) tests/unit/lone.o
core-test-link_rx := $(core-test-lone)
core-test-series := $(core-test-lone)
core-test-link_tx := $(core-test-lone)
core-test-link_times := $(core-test-lone)
core-test-link_states := $(core-test-lone)
core-test-handshake := $(core-test-lone)
core-test-link_series := $(core-test-lone)
core-test-link_frames := $(core-test-lone)
core-test-link_retrain := $(core-test-lone)
core-test-link_serdes := $(core-test-lone)
core-test-nic_send := $(core-test-lone)
core-test-nic_state := $(core-test-lone)
core-test-nic_ports := $(core-test-lone)
core-test-router_moves := $(core-test-lone)
core-test-deliver := $(core-test-lone)
core-test-ring_node := $(core-test-lone)
core-test-path := $(core-test-lone)
core-test-divert := $(core-test-lone)
core-test-nic_ways := $(core-test-lone)
core-test-nic_relay := $(core-test-lone)
core-test-nic_service := $(core-test-lone)
core-test-rma_nic := $(core-test-lone)
core-test-rma_self := $(core-test-lone)

define core-test
tests += tests/unit/test_$(1)
tests/unit/test_$(1)-objs := tests/unit/test_$(1).o $(core-test-$(1)) $(core-objs)
tests/unit/test_$(1)-deps := $$(B)/libtorus.a
tests/unit/test_$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs) $(core-test-libs-$(1))
endef
$(foreach t,$(core-tests),$(eval $(call core-test,$(t))))

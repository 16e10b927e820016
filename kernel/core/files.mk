# SPDX-License-Identifier: GPL-2.0-only
# Sources of the NIC core, for Kbuild and the top-level Makefile both.
tn-core-objs := params.o topo.o plan.o fault.o route.o wire.o retry.o retry_angara.o retry_acknak.o \
	retry_hippi.o credit.o bubble.o train.o serdes_model.o link.o link_rx.o linkstate.o handshake.o flow.o \
	park.o relay.o via.o table.o ring.o router.o path.o divert.o deliver.o nic.o nic_send.o nic_ports.o \
	window.o amo.o fe.o rma_wire.o rma_owner.o rma_initiator.o rma_nic.o rma_ring.o rma_check.o rma_recv.o

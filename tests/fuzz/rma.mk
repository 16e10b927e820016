# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_rma
tests/fuzz/fuzz_rma-objs := tests/fuzz/fuzz_rma.o \
	$(addprefix kernel/core/,rma_owner.o rma_initiator.o rma_wire.o window.o fe.o amo.o)
fuzzers += tests/fuzz/fuzz_rma_ring
tests/fuzz/fuzz_rma_ring-objs := tests/fuzz/fuzz_rma_ring.o kernel/core/rma_wire.o \
	kernel/core/rma_check.o kernel/core/rma_recv.o

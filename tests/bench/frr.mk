# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/udp_flow
tests/bench/udp_flow-objs := tests/bench/udp_flow.o

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lab of tests/netns with every other NIC in the kernel, so that cables join a NIC of
# the kernel and one in user space.

VM=${VM:-uml} TORUS_BACKEND=mixed exec bash "$(dirname "$0")/test_lab.sh"

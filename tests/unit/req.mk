# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_req_policy
tests/unit/test_req_policy-objs := tests/unit/test_req_policy.o $(req-objs)
tests/unit/test_req_policy-libs := $(call pkg-libs,cmocka)

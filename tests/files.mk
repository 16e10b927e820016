# SPDX-License-Identifier: GPL-2.0-only
# Each piece declares its tests in a fragment of its own.
include $(wildcard tests/*/*.mk)

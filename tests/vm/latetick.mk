# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/latetick.so
tests/vm/latetick.so-objs := tests/vm/latetick.o
tests/vm/latetick.so-libs := -shared

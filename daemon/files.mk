# SPDX-License-Identifier: GPL-2.0-only
include daemon/fm/files.mk

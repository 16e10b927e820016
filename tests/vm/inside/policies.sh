#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink policies of the loaded module, read back from the kernel, are those of
# include/uapi/torus.yaml.

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
load && python3 "$TOP/tests/vm/inside/policies.py" >"$tmp/policies" || exit 1
python3 "$TOP/tests/static/abi.py" "$tmp/policies"

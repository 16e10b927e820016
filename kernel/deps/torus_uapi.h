/* SPDX-License-Identifier: GPL-2.0-only */
/* The core sees the ABI by this name, wherever the include path puts it. */
#include "../../include/uapi/torus.h"
#include "../../include/uapi/torus_policy.h"

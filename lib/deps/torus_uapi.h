/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The core sees the ABI by this name, wherever the include path puts it. */
#include "../../include/uapi/torus.h"
#include "../../include/uapi/torus_policy.h"
#include "../../include/uapi/torus_rma.h"

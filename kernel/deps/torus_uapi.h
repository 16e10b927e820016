/* SPDX-License-Identifier: GPL-2.0-only */
/* Lets the core include the ABI by this name, wherever the include path has it. */
#include "../../include/uapi/torus.h"
#include "../../include/uapi/torus_policy.h"
#include "../../include/uapi/torus_rma.h"

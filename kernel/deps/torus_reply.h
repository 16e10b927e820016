/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets kernel/req include the structs of replies by this name, wherever the include path has them.
 */
#include "../../include/torus/reply.h"

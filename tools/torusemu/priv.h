/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef EMU_PRIV_H
#define EMU_PRIV_H

/** priv_drop() - keep only what attaching devices and addresses needs */
int priv_drop(void);

#endif /* EMU_PRIV_H */

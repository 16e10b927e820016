/* SPDX-License-Identifier: GPL-2.0-only */
/* How a root ends. */
#ifndef FM_ENDING_H
#define FM_ENDING_H

/**
 * enum fm_ending - why this node stops leading or asking; root.c acts on it after the present call
 * @FM_ENDS_NOT: it does not stop
 * @FM_ENDS_BACK: it asked without success, and tries the root that led it last
 * @FM_ENDS_ALONE: it asked without success, and no root has led it: it waits for an asking node
 * @FM_ENDS_MOVED: it has handed over to @successor, by order of the administrator
 * @FM_ENDS_UNFIT: it has handed over to @successor, because its own NIC fails
 */
enum fm_ending {
	FM_ENDS_NOT,
	FM_ENDS_BACK,
	FM_ENDS_ALONE,
	FM_ENDS_MOVED,
	FM_ENDS_UNFIT,
};

#endif /* FM_ENDING_H */

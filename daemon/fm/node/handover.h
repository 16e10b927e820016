/* SPDX-License-Identifier: GPL-2.0-only */
/* The root hands over to another node. */
#ifndef FM_HANDOVER_H
#define FM_HANDOVER_H

struct fm;
struct fm_lead;

/** fm_handover() - pass LEAD on to all children, and obey it, unless this node is root */
void fm_handover(struct fm *fm, const struct fm_lead *l);
/** fm_handover_obey() - if LEAD names this node, ask to be root; else follow the named node */
void fm_handover_obey(struct fm *fm, const struct fm_lead *l);

#endif /* FM_HANDOVER_H */

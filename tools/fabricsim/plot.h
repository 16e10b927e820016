/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Curves drawn as SVG: panels, each with its axes, over a common legend. Curves differ by colour,
 * and by dashes and marks, so that they can be distinguished in black and white, too.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct plot;

/** plot_new() - create a drawing with @title above it. Return: NULL if out of memory */
struct plot *plot_new(const char *title);

/**
 * plot_panel() - begin the next panel; later curves belong to it. @x, @y: names of the axes, with
 * their units
 */
void plot_panel(struct plot *p, const char *title, const char *x, const char *y);
/** plot_log() - make axes of this panel logarithmic; values <= 0 are left out */
void plot_log(struct plot *p, bool x, bool y);
/** plot_top() - limit the y axis of this panel to @top; points above it are clipped */
void plot_top(struct plot *p, double top);
/**
 * plot_words() - put @n words on the x axis of this panel, at 0, 1, ...; they must stay valid until
 * plot_write()
 */
void plot_words(struct plot *p, const char *const *words, size_t n);

/** plot_curve() - begin a curve; curves with the same name look the same in every panel */
void plot_curve(struct plot *p, const char *name);

enum plot_look { PLOT_BOTH, PLOT_LINE, PLOT_MARKS };

/**
 * plot_look() - draw this curve as a line only, or as marks only, else in the style of curve @like
 */
void plot_look(struct plot *p, const char *like, enum plot_look look);
/** plot_point() - add a point to the curve, with an error bar of +-@error unless @error is 0 */
void plot_point(struct plot *p, double x, double y, double error);

/**
 * plot_write() - write the drawing into @file, and free it
 * Return: OK, or CANNOT after it has printed the error.
 */
int plot_write(struct plot *p, const char *file);

#endif /* PLOT_H */

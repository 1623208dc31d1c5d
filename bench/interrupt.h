/* Being told to end while files lie about: the case ends first and removes them. */
#ifndef QFB_INTERRUPT_H
#define QFB_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on SIGINT, SIGTERM and SIGHUP are only remembered. */
void qfb_interrupt_hold(void);

/* Whether one came. */
bool qfb_interrupted(void);

/* As before the hold; a signal that came meanwhile then does what it does. */
void qfb_interrupt_release(void);

/* A progress callback of folds that ends them when a signal came. */
bool qfb_interrupt_progress(void *user, uint64_t done, uint64_t total);

#endif

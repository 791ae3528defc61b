/* The two halves of a step of training that know the optimiser. */
#ifndef ATTN_TRAIN_OPTIMISER_H
#define ATTN_TRAIN_OPTIMISER_H

#include "tape/tape.h"

bool attn_check_training(attn_tape *tape, const attn_training_options *options);

/* One step of all parameters, each gradient times factor; training->steps is the number of steps
 * before this one. */
void attn_update(attn_training *training, attn_real factor, const attn_training_options *options);

#endif

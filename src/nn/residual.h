/* What stands around each sublayer of a layer: a residual sum and a norm.
 *
 *   post   output = norm(x + dropout(sublayer(x)))     (Vaswani et al. 2017; D2L AddNorm)
 *   pre    output = x + dropout(sublayer(norm(x)))     (Xiong et al. 2020)
 *
 * enter gives what the sublayer reads, leave takes what it wrote; both are [B, T, H]. */
#ifndef ATTN_NN_RESIDUAL_H
#define ATTN_NN_RESIDUAL_H

#include "tape/tape.h"

typedef struct attn_residual {
  const char *normed, *dropped, *sum; /* names of its tensors */
  const attn_tensor *weight, *bias;   /* of the norm: [H]; NULL: 1 and 0 */
  int32_t norm;                       /* attn_norm */
  float eps, dropout;
  uint32_t seed;
} attn_residual;

const attn_tensor *attn_residual_enter(attn_tape *tape, const attn_residual *residual,
                                       const attn_tensor *x);
attn_tensor *attn_residual_leave(attn_tape *tape, const attn_residual *residual,
                                 const attn_tensor *x, const attn_tensor *written);

/* attn_feed_forward with some of its F units dropped. */
attn_tensor *attn_feed_forward_dropped(attn_tape *tape, const attn_tensor *x,
                                       const attn_feed_forward_weights *weights, int32_t activation,
                                       float dropout, uint32_t seed);

#endif

#include "nn/residual.h"

#include "ops/ops.h"

const attn_tensor *attn_residual_enter(attn_tape *tape, const attn_residual *residual,
                                       const attn_tensor *x) {
  if (residual->norm == ATTN_NORM_POST) return x;
  return attn_layer_norm(tape, residual->normed, x, residual->weight, residual->bias,
                         residual->eps);
}

attn_tensor *attn_residual_leave(attn_tape *tape, const attn_residual *residual,
                                 const attn_tensor *x, const attn_tensor *written) {
  written = attn_dropout(tape, residual->dropped, written, residual->dropout, residual->seed);
  attn_tensor *sum = attn_add(tape, residual->sum, x, written);
  if (residual->norm == ATTN_NORM_PRE) return sum;
  return attn_layer_norm(tape, residual->normed, sum, residual->weight, residual->bias,
                         residual->eps);
}

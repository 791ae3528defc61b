/* The encoder's block and its feed-forward half.
 *
 *   feed_forward(x) = activation(x W1ᵀ + b1) W2ᵀ + b2
 *   post   y = norm1(x + attention(x));        output = norm2(y + feed_forward(y))
 *   pre    y = x + attention(norm1(x));        output = y + feed_forward(norm2(y))
 *
 * All of x, y and output are [B, T, H]. */
#include "ops/ops.h"

attn_encoder_layer_options attn_encoder_layer_defaults(void) {
  return (attn_encoder_layer_options){.attention = attn_attention_defaults(), .eps = 1e-5f};
}

attn_tensor *attn_feed_forward(attn_tape *tape, const attn_tensor *x,
                               const attn_feed_forward_weights *weights, int32_t activation) {
  if (!ATTN_READY(tape, x)) return NULL;
  if (!weights->linear1_weight || !weights->linear2_weight)
    return attn_fail_at(tape, "params", ATTN_BAD_VALUE,
                        "the feed-forward network needs the weights linear1 and linear2");
  const int32_t previous = attn_scope_enter(tape, "feed_forward");
  const attn_tensor *inner =
      attn_linear(tape, "hidden", x, weights->linear1_weight, weights->linear1_bias);
  inner = attn_activate(tape, "activated", inner, activation);
  attn_tensor *output =
      attn_linear(tape, "output", inner, weights->linear2_weight, weights->linear2_bias);
  attn_scope_leave(tape, previous);
  return output;
}

static attn_tensor *self_attention(attn_tape *tape, const attn_tensor *x,
                                   const attn_encoder_layer_weights *weights,
                                   const attn_encoder_layer_options *options) {
  const int32_t previous = attn_scope_enter(tape, "attention");
  attn_tensor *output =
      attn_multi_head_attention(tape, x, x, x, &weights->attention, &options->attention);
  attn_scope_leave(tape, previous);
  return output;
}

attn_tensor *attn_encoder_layer(attn_tape *tape, const attn_tensor *x,
                                const attn_encoder_layer_weights *weights,
                                const attn_encoder_layer_options *options) {
  if (options->norm != ATTN_NORM_POST && options->norm != ATTN_NORM_PRE)
    return attn_fail(tape, ATTN_BAD_VALUE, "norm %d is neither post nor pre", options->norm);
  const float eps = options->eps;
  if (options->norm == ATTN_NORM_PRE) {
    const attn_tensor *normed =
        attn_layer_norm(tape, "norm1", x, weights->norm1_weight, weights->norm1_bias, eps);
    const attn_tensor *middle =
        attn_add(tape, "attended", x, self_attention(tape, normed, weights, options));
    normed =
        attn_layer_norm(tape, "norm2", middle, weights->norm2_weight, weights->norm2_bias, eps);
    return attn_add(tape, "output", middle,
                    attn_feed_forward(tape, normed, &weights->feed_forward, options->activation));
  }
  const attn_tensor *attended =
      attn_add(tape, "attended", x, self_attention(tape, x, weights, options));
  const attn_tensor *middle =
      attn_layer_norm(tape, "norm1", attended, weights->norm1_weight, weights->norm1_bias, eps);
  const attn_tensor *sum =
      attn_add(tape, "fed_forward", middle,
               attn_feed_forward(tape, middle, &weights->feed_forward, options->activation));
  return attn_layer_norm(tape, "output", sum, weights->norm2_weight, weights->norm2_bias, eps);
}

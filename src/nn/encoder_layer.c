/* The encoder's block and its feed-forward half.
 *
 *   feed_forward(x) = dropout(activation(x W1ᵀ + b1)) W2ᵀ + b2
 *   post   y = norm1(x + attention(x));        output = norm2(y + feed_forward(y))
 *   pre    y = x + attention(norm1(x));        output = y + feed_forward(norm2(y))
 *
 * All of x, y and output are [B, T, H]. */
#include "nn/residual.h"
#include "ops/ops.h"

attn_encoder_layer_options attn_encoder_layer_defaults(void) {
  return (attn_encoder_layer_options){.attention = attn_attention_defaults(), .eps = 1e-5f};
}

attn_tensor *attn_feed_forward_dropped(attn_tape *tape, const attn_tensor *x,
                                       const attn_feed_forward_weights *weights, int32_t activation,
                                       float dropout, uint32_t seed) {
  if (!ATTN_READY(tape, x)) return NULL;
  if (!weights->linear1_weight || !weights->linear2_weight)
    return attn_fail_at(tape, "params", ATTN_BAD_VALUE,
                        "the feed-forward network needs the weights linear1 and linear2");
  const int32_t previous = attn_scope_enter(tape, "feed_forward");
  const attn_tensor *inner =
      attn_linear(tape, "hidden", x, weights->linear1_weight, weights->linear1_bias);
  inner = attn_activate(tape, "activated", inner, activation);
  inner = attn_dropout(tape, "dropped", inner, dropout, seed);
  attn_tensor *output =
      attn_linear(tape, "output", inner, weights->linear2_weight, weights->linear2_bias);
  attn_scope_leave(tape, previous);
  return output;
}

attn_tensor *attn_feed_forward(attn_tape *tape, const attn_tensor *x,
                               const attn_feed_forward_weights *weights, int32_t activation) {
  return attn_feed_forward_dropped(tape, x, weights, activation, 0, 0);
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
  const bool pre = options->norm == ATTN_NORM_PRE;
  const uint32_t seed = options->attention.seed;
  const attn_residual attend = {.normed = "norm1",
                                .dropped = "dropped_attention",
                                .sum = "attended",
                                .weight = weights->norm1_weight,
                                .bias = weights->norm1_bias,
                                .norm = options->norm,
                                .eps = options->eps,
                                .dropout = options->residual_dropout,
                                .seed = seed};
  attn_residual feed = attend;
  feed.normed = pre ? "norm2" : "output";
  feed.dropped = "dropped_feed_forward";
  feed.sum = pre ? "output" : "fed_forward";
  feed.weight = weights->norm2_weight;
  feed.bias = weights->norm2_bias;

  const attn_tensor *read = attn_residual_enter(tape, &attend, x);
  x = attn_residual_leave(tape, &attend, x, self_attention(tape, read, weights, options));
  read = attn_residual_enter(tape, &feed, x);
  const attn_tensor *fed = attn_feed_forward_dropped(
      tape, read, &weights->feed_forward, options->activation, options->feed_forward_dropout, seed);
  return attn_residual_leave(tape, &feed, x, fed);
}

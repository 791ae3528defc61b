/* The decoder's block: masked self-attention, attention over what the encoder wrote, feed-forward.
 *
 *   post   y = norm1(x + self_attention(x));   z = norm2(y + cross_attention(y, memory));
 *          output = norm3(z + feed_forward(z))
 *   pre    y = x + self_attention(norm1(x));   z = y + cross_attention(norm2(y), memory);
 *          output = z + feed_forward(norm3(z))
 *
 * x and output are [B, T, H], memory is [B, Tk, H]. Without memory the middle part is left out, and
 * norm2 stands at the feed-forward part. (torch nn.TransformerDecoderLayer.)
 *
 * Behind a past, x holds the new tokens alone: self-attention then sees the earlier ones as their
 * inputs, projected again as D2L teaches it, or as their projected keys and values. */
#include "nn/attention.h"
#include "nn/residual.h"
#include "ops/ops.h"

attn_decoder_layer_options attn_decoder_layer_defaults(void) {
  attn_decoder_layer_options options = {.self_attention = attn_attention_defaults(),
                                        .cross_attention = attn_attention_defaults(),
                                        .eps = 1e-5f};
  options.self_attention.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  return options;
}

static attn_tensor *self_attention(attn_tape *tape, attn_decoder_past *past, const attn_tensor *x,
                                   const attn_decoder_layer_weights *weights,
                                   const attn_decoder_layer_options *options) {
  const int32_t previous = attn_scope_enter(tape, "self_attention");
  attn_past none = {0};
  attn_past *projected = past->keep == ATTN_CACHE_KEYS_VALUES ? &past->self : &none;
  const attn_tensor *attended = x;
  if (past->keep == ATTN_CACHE_REPRESENTATIONS) {
    const attn_tensor *const rows[] = {past->inputs ? past->inputs : x, x};
    attended = past->inputs = attn_join(tape, "inputs", 1, past->inputs ? 2 : 1, rows);
  }
  attn_tensor *output = attn_multi_head_attention_after(
      tape, projected, x, attended, attended, &weights->self_attention, &options->self_attention);
  attn_scope_leave(tape, previous);
  return output;
}

static attn_tensor *cross_attention(attn_tape *tape, attn_decoder_past *past, const attn_tensor *x,
                                    const attn_tensor *memory,
                                    const attn_decoder_layer_weights *weights,
                                    const attn_decoder_layer_options *options) {
  const int32_t previous = attn_scope_enter(tape, "cross_attention");
  attn_past none = {0};
  attn_past *projected = past->keep == ATTN_CACHE_KEYS_VALUES ? &past->cross : &none;
  if (projected->key) memory = NULL; /* it has not changed since */
  attn_tensor *output = attn_multi_head_attention_after(
      tape, projected, x, memory, memory, &weights->cross_attention, &options->cross_attention);
  attn_scope_leave(tape, previous);
  return output;
}

attn_tensor *attn_decoder_layer_after(attn_tape *tape, attn_decoder_past *past,
                                      const attn_tensor *x, const attn_tensor *memory,
                                      const attn_decoder_layer_weights *weights,
                                      const attn_decoder_layer_options *options) {
  if (options->norm != ATTN_NORM_POST && options->norm != ATTN_NORM_PRE)
    return attn_fail(tape, ATTN_BAD_VALUE, "norm %d is neither post nor pre", options->norm);
  const bool pre = options->norm == ATTN_NORM_PRE;
  attn_residual attend = {.normed = "norm1",
                          .dropped = "dropped_self_attention",
                          .sum = "self_attended",
                          .weight = weights->norm1_weight,
                          .bias = weights->norm1_bias,
                          .norm = options->norm,
                          .eps = options->eps,
                          .dropout = options->residual_dropout,
                          .seed = options->self_attention.seed};
  attn_residual cross = attend;
  cross.normed = "norm2";
  cross.dropped = "dropped_cross_attention";
  cross.sum = "cross_attended";
  cross.weight = weights->norm2_weight;
  cross.bias = weights->norm2_bias;
  attn_residual feed = attend;
  feed.normed = !pre ? "output" : memory ? "norm3" : "norm2";
  feed.dropped = "dropped_feed_forward";
  feed.sum = pre ? "output" : "fed_forward";
  feed.weight = memory ? weights->norm3_weight : weights->norm2_weight;
  feed.bias = memory ? weights->norm3_bias : weights->norm2_bias;

  const attn_tensor *read = attn_residual_enter(tape, &attend, x);
  x = attn_residual_leave(tape, &attend, x, self_attention(tape, past, read, weights, options));
  if (memory) {
    read = attn_residual_enter(tape, &cross, x);
    x = attn_residual_leave(tape, &cross, x,
                            cross_attention(tape, past, read, memory, weights, options));
  }
  read = attn_residual_enter(tape, &feed, x);
  const attn_tensor *fed =
      attn_feed_forward_dropped(tape, read, &weights->feed_forward, options->activation,
                                options->feed_forward_dropout, feed.seed);
  attn_tensor *output = attn_residual_leave(tape, &feed, x, fed);
  past->output = output;
  return output;
}

attn_tensor *attn_decoder_layer(attn_tape *tape, const attn_tensor *x, const attn_tensor *memory,
                                const attn_decoder_layer_weights *weights,
                                const attn_decoder_layer_options *options) {
  attn_decoder_past none = {0};
  return attn_decoder_layer_after(tape, &none, x, memory, weights, options);
}

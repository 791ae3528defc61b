/* The border: every function that JavaScript may call, and nothing else.
 *
 * Only i32 and f32 cross; pointers are i32. There is one tape, in the memory behind the program's
 * own data. Memory grows inside take, input and every function that returns a tensor, so views of
 * it must be made anew after those. A NULL result means that status() is not 0 and message() says
 * why. Shapes, errors and sources of the functions stand in attn.h. */
#include "attn.h"

#define EXPORT(name) __attribute__((export_name(#name)))

enum { PAGE = 65536 };

extern uint8_t __heap_base;

static attn_tape *tape;

static size_t grow(size_t bytes) {
  const size_t start = (size_t)&__heap_base;
  const size_t pages = __builtin_wasm_memory_size(0);
  const size_t needed = (start + bytes + PAGE - 1) / PAGE;
  if (needed > pages) {
    const size_t more = needed - pages, ahead = more > pages / 4 ? more : pages / 4;
    if (__builtin_wasm_memory_grow(0, ahead) == (size_t)-1 &&
        __builtin_wasm_memory_grow(0, more) == (size_t)-1)
      return 0;
  }
  return __builtin_wasm_memory_size(0) * PAGE - start;
}

/* ---- the tape ----------------------------------------------------------------------------- */

/* Drops what no keep() has kept. */
EXPORT(reset) void reset(void) {
  if (tape)
    attn_tape_rewind(tape);
  else
    tape = attn_tape_new(&__heap_base, grow(0), grow);
}

EXPORT(keep) void keep(void) { attn_tape_keep(tape); }

EXPORT(status) int32_t status(void) { return attn_tape_status(tape); }

EXPORT(message) const char *message(void) { return attn_tape_message(tape); }

EXPORT(option) const char *option(void) { return attn_tape_option(tape); }

EXPORT(take) void *take(uint32_t bytes) { return attn_tape_take(tape, bytes); }

EXPORT(first) attn_tensor *first(void) { return attn_tape_first(tape); }

EXPORT(input)
attn_tensor *input(const char *name, int32_t rank, const int32_t *shape, const char *const *axes) {
  return attn_input(tape, name, rank, shape, axes);
}

EXPORT(input_ready) attn_tensor *input_ready(attn_tensor *tensor) {
  return attn_input_ready(tape, tensor);
}

EXPORT(override) int32_t override(const char *name, int32_t rank, const int32_t *at, float value) {
  return attn_override(tape, name, rank, at, value);
}

EXPORT(overrides_check) int32_t overrides_check(void) { return attn_overrides_check(tape); }

/* ---- the core about itself ---------------------------------------------------------------- */

EXPORT(describe) const char *describe(void) {
  enum { CAPACITY = 16384 };
  char *json = attn_tape_take(tape, CAPACITY);
  return json && attn_describe(json, CAPACITY) ? json : NULL;
}

EXPORT(self_test) uint32_t self_test(void) { return attn_self_test(tape); }

EXPORT(training_test) uint32_t training_test(void) { return attn_training_test(tape); }

EXPORT(load_test) uint32_t load_test(void) { return attn_load_test(tape); }

EXPORT(load_test_answer) uint32_t load_test_answer(void) { return ATTN_LOAD_TEST_ANSWER; }

EXPORT(attention_options) void attention_options(attn_attention_options *options) {
  *options = attn_attention_defaults();
}

EXPORT(encoder_layer_options) void encoder_layer_options(attn_encoder_layer_options *options) {
  *options = attn_encoder_layer_defaults();
}

EXPORT(attention_layer_options)
void attention_layer_options(attn_attention_layer_options *options) {
  *options = attn_attention_layer_defaults();
}

EXPORT(transformer_config) void transformer_config(attn_transformer_config *config) {
  *config = attn_transformer_defaults();
}

/* ---- models --------------------------------------------------------------------------------- */

EXPORT(transformer) attn_transformer *transformer(const attn_transformer_config *config) {
  return attn_transformer_new(tape, config);
}

EXPORT(transformer_forward)
attn_tensor *transformer_forward(const attn_transformer *model, const attn_transformer_batch *batch,
                                 int32_t training, int32_t step) {
  return attn_transformer_forward(tape, model, batch, training != 0, step);
}

EXPORT(seq2seq_config) void seq2seq_config(attn_seq2seq_config *config) {
  *config = attn_seq2seq_defaults();
}

EXPORT(seq2seq) attn_seq2seq *seq2seq(const attn_seq2seq_config *config) {
  return attn_seq2seq_new(tape, config);
}

EXPORT(seq2seq_forward)
attn_tensor *seq2seq_forward(const attn_seq2seq *model, const attn_transformer_batch *batch,
                             int32_t training, int32_t step) {
  return attn_seq2seq_forward(tape, model, batch, training != 0, (uint32_t)step);
}

EXPORT(kernel_regression_config)
void kernel_regression_config(attn_kernel_regression_config *config) {
  *config = attn_kernel_regression_defaults();
}

EXPORT(kernel_regression)
attn_kernel_regression *kernel_regression(const attn_kernel_regression_config *config) {
  return attn_kernel_regression_new(tape, config);
}

EXPORT(kernel_regression_forward)
attn_tensor *kernel_regression_forward(const attn_kernel_regression *model,
                                       const attn_tensor *queries, const attn_tensor *keys,
                                       const attn_tensor *values, int32_t leave_one_out) {
  return attn_kernel_regression_forward(tape, model, queries, keys, values, leave_one_out != 0);
}

/* ---- training ------------------------------------------------------------------------------- */

EXPORT(training_options) void training_options(attn_training_options *options) {
  *options = attn_training_defaults();
}

EXPORT(schedule) void schedule(attn_schedule *options) { *options = attn_schedule_defaults(); }

EXPORT(learning_rate) float learning_rate(const attn_schedule *options, int32_t step) {
  return attn_learning_rate(tape, options, step);
}

EXPORT(cross_entropy)
attn_tensor *cross_entropy(const char *name, const attn_tensor *logits, const attn_tensor *labels,
                           const attn_tensor *lengths, int32_t reduction) {
  return attn_cross_entropy(tape, name, logits, labels, lengths, reduction);
}

EXPORT(squared_error)
attn_tensor *squared_error(const char *name, const attn_tensor *prediction,
                           const attn_tensor *target, int32_t reduction) {
  return attn_squared_error(tape, name, prediction, target, reduction);
}

EXPORT(counted_tokens) int32_t counted_tokens(const attn_tensor *loss) {
  return attn_counted_tokens(loss);
}

EXPORT(new_training) attn_training *new_training(void) { return attn_training_new(tape); }

EXPORT(restart_training) void restart_training(attn_training *training) {
  attn_training_restart(training);
}

EXPORT(train_step)
int32_t train_step(attn_training *training, attn_tensor *loss,
                   const attn_training_options *options) {
  return attn_train_step(tape, training, loss, options);
}

/* ---- decoding ------------------------------------------------------------------------------- */

EXPORT(decode_options) void decode_options(attn_decode_options *options) {
  *options = attn_decode_defaults();
}

EXPORT(decode)
attn_tensor *decode(const attn_transformer *model, const attn_tensor *source,
                    const attn_tensor *prefix, const attn_decode_options *options) {
  return attn_decode(tape, model, source, prefix, options);
}

EXPORT(seq2seq_translate)
attn_tensor *seq2seq_translate(const attn_seq2seq *model, const attn_tensor *source,
                               const attn_tensor *source_length, const attn_tensor *prefix,
                               const attn_decode_options *options) {
  return attn_seq2seq_translate(tape, model, source, source_length, prefix, options);
}

EXPORT(consistency)
attn_tensor *consistency(const attn_transformer *model, const attn_tensor *source,
                         const attn_tensor *target, int32_t prefill, int32_t cache,
                         int32_t positions) {
  return attn_consistency(tape, model, source, target, prefill, cache, positions);
}

/* ---- functions ---------------------------------------------------------------------------- */

EXPORT(masked_softmax)
attn_tensor *masked_softmax(const attn_tensor *scores, const attn_attention_options *options) {
  return attn_masked_softmax(tape, scores, options);
}

EXPORT(attention)
attn_tensor *attention(const attn_tensor *query, const attn_tensor *key, const attn_tensor *value,
                       const attn_attention_options *options) {
  return attn_attention(tape, query, key, value, options);
}

EXPORT(multi_head_attention)
attn_tensor *multi_head_attention(const attn_tensor *queries, const attn_tensor *keys,
                                  const attn_tensor *values, const attn_multi_head_weights *weights,
                                  const attn_attention_options *options) {
  return attn_multi_head_attention(tape, queries, keys, values, weights, options);
}

EXPORT(encoder_layer)
attn_tensor *encoder_layer(const attn_tensor *x, const attn_encoder_layer_weights *weights,
                           const attn_encoder_layer_options *options) {
  return attn_encoder_layer(tape, x, weights, options);
}

EXPORT(feed_forward)
attn_tensor *feed_forward(const attn_tensor *x, const attn_feed_forward_weights *weights,
                          int32_t activation) {
  return attn_feed_forward(tape, x, weights, activation);
}

EXPORT(attention_layer)
attn_tensor *attention_layer(const attn_texts *source, const attn_texts *target,
                             const attn_attention_layer_options *options) {
  return attn_attention_layer(tape, source, target, options);
}

EXPORT(layer_norm)
attn_tensor *layer_norm(const char *name, const attn_tensor *x, const attn_tensor *weight,
                        const attn_tensor *bias, float eps) {
  return attn_layer_norm(tape, name, x, weight, bias, eps);
}

EXPORT(activate)
attn_tensor *activate(const char *name, const attn_tensor *x, int32_t activation) {
  return attn_activate(tape, name, x, activation);
}

EXPORT(sinusoidal)
attn_tensor *sinusoidal(const char *name, int32_t length, int32_t hiddens, int32_t offset) {
  return attn_sinusoidal(tape, name, length, hiddens, offset);
}

EXPORT(rotary)
attn_tensor *rotary(const char *name, const attn_tensor *x, const attn_tensor *positions,
                    int32_t offset, int32_t pairing, float base) {
  return attn_rotary(tape, name, x, positions, offset, pairing, base);
}

EXPORT(alibi_slopes) attn_tensor *alibi_slopes(const char *name, int32_t heads) {
  return attn_alibi_slopes(tape, name, heads);
}

EXPORT(random_tensor)
attn_tensor *random_tensor(const char *name, int32_t rank, const int32_t *shape,
                           const char *const *axes, uint32_t seed, int32_t distribution) {
  return attn_random(tape, name, rank, shape, axes, seed, distribution);
}

EXPORT(mean_heads) attn_tensor *mean_heads(const char *name, const attn_tensor *weights) {
  return attn_mean_heads(tape, name, weights);
}

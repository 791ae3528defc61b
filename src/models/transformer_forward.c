/* The Transformer's forward pass.
 *
 *   source.input = dropout(embedding(source) × √H + position)      [B, Ts, H]; target.input alike
 *   memory       = encoder layers, final norm                      [B, Ts, H]
 *   decoded      = decoder layers over memory, final norm          [B, Tt, H]
 *   logits       = decoded W_oᵀ + b_o                              [B, Tt, V]
 *
 * An encoder's logits come from memory, a decoder has no memory. Padding is masked by lengths: the
 * source's in both attentions over it, the target's in self-attention, which is causal besides. */
#include "base/text.h"
#include "math/functions.h"
#include "models/transformer.h"
#include "ops/ops.h"

/* ---- what may not be --------------------------------------------------------------------------
 */

static bool check_lengths(attn_tape *tape, const char *what, const attn_tensor *ids,
                          const attn_tensor *lengths) {
  const char *option = attn_text_equal(what, "source") ? "sourceLens" : "targetLens";
  if (lengths->rank != 1 || lengths->shape[0] != ids->shape[0])
    return attn_fail_at(
        tape, option, ATTN_BAD_SHAPE,
        "there are %d lengths for %d sentences of the %s; they must be a list of as "
        "many",
        (int)attn_length(lengths), ids->shape[0], what);
  for (int32_t b = 0; b < ids->shape[0]; b++) {
    const attn_real length = lengths->data[b];
    if (length == 0)
      return attn_fail_at(tape, option, ATTN_BAD_VALUE, "sentence %d of the %s is empty", b, what);
    if (!(length >= 1 && length <= ids->shape[1]) || length != (attn_real)(int32_t)length)
      return attn_fail_at(tape, option, ATTN_BAD_VALUE,
                          "%s[%d] %g is not a whole number from 1 to the %d tokens", option, b,
                          (double)length, ids->shape[1]);
  }
  return true;
}

bool attn_transformer_check(attn_tape *tape, const attn_transformer *model, const char *what,
                            const attn_tensor *ids, const attn_tensor *lengths) {
  if (!attn_check_sentences(tape, what, ids)) return false;
  const bool table = model->config.position == ATTN_POSITION_SINUSOIDAL ||
                     model->config.position == ATTN_POSITION_LEARNED;
  if (table && ids->shape[1] > model->config.max_length)
    return attn_fail_at(tape, what, ATTN_BAD_SHAPE, "%s has %d tokens; the model's maxLength is %d",
                        what, ids->shape[1], model->config.max_length);
  return !lengths || check_lengths(tape, what, ids, lengths);
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

static float dropout_of(const attn_transformer_pass *pass, float probability) {
  return pass->training ? probability : 0;
}

static attn_tensor *embed(attn_tape *tape, const attn_transformer_pass *pass, const char *scope,
                          const attn_tensor *ids, const attn_embedding_weights *weights,
                          int32_t position) {
  const attn_transformer_config *config = &pass->model->config;
  const int32_t previous = attn_scope_enter(tape, scope);
  attn_tensor *x = attn_embedding(tape, "embedding", ids, weights->table);
  if (config->embedding_scale)
    x = attn_scale_by(tape, "scaled", x, attn_sqrt((attn_real)config->hiddens));
  if (weights->position && x)
    x = attn_add(tape, "input", x,
                 attn_slice(tape, "position", weights->position, 0, position, x->shape[1]));
  x = attn_dropout(tape, "dropped", x, dropout_of(pass, config->embedding_dropout), pass->seed);
  attn_scope_leave(tape, previous);
  return x;
}

static attn_attention_options attention_of(const attn_transformer_pass *pass,
                                           const attn_tensor *lengths, bool self) {
  const attn_transformer_config *config = &pass->model->config;
  attn_attention_options options = attn_attention_defaults();
  options.heads = config->heads;
  options.valid_lengths = lengths;
  options.dropout = dropout_of(pass, config->attention_dropout);
  options.seed = pass->seed;
  if (self) options.alibi_slopes = pass->model->alibi_slopes;
  if (self && config->position == ATTN_POSITION_ROTARY) options.rotary = ATTN_PAIRING_HALVES;
  return options;
}

static attn_tensor *finish(attn_tape *tape, attn_tensor *x, const attn_norm_weights *norm) {
  if (!norm->weight) return x;
  return attn_layer_norm(tape, "output", x, norm->weight, norm->bias, 1e-5f);
}

attn_tensor *attn_transformer_encode(attn_tape *tape, const attn_transformer_pass *pass,
                                     const attn_tensor *source, const attn_tensor *lengths) {
  const attn_transformer *model = pass->model;
  attn_encoder_layer_options options = attn_encoder_layer_defaults();
  options.attention = attention_of(pass, lengths, true);
  options.norm = model->config.norm;
  options.activation = model->config.activation;
  options.feed_forward_dropout = dropout_of(pass, model->config.feed_forward_dropout);
  options.residual_dropout = dropout_of(pass, model->config.residual_dropout);
  attn_tensor *x = embed(tape, pass, "source", source, &model->source, 0);
  const int32_t previous = attn_scope_enter(tape, "encoder");
  for (int32_t i = 0; x && i < model->config.encoder_layers; i++) {
    const int32_t outside = attn_transformer_enter(tape, i);
    x = attn_encoder_layer(tape, x, &model->encoder[i], &options);
    attn_scope_leave(tape, outside);
  }
  x = finish(tape, x, &model->encoder_norm);
  attn_scope_leave(tape, previous);
  return x;
}

static attn_tensor *predict(attn_tape *tape, const attn_transformer *model, const attn_tensor *x) {
  return attn_linear(tape, "logits", x, model->output_weight, model->output_bias);
}

attn_tensor *attn_transformer_decode(attn_tape *tape, const attn_transformer_pass *pass,
                                     const attn_tensor *target, const attn_tensor *lengths,
                                     const attn_tensor *memory, const attn_tensor *memory_lengths,
                                     int32_t position, attn_decoder_past *past) {
  const attn_transformer *model = pass->model;
  attn_decoder_layer_options options = attn_decoder_layer_defaults();
  options.self_attention = attention_of(pass, lengths, true);
  options.self_attention.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
  options.cross_attention = attention_of(pass, memory_lengths, false);
  options.norm = model->config.norm;
  options.activation = model->config.activation;
  options.feed_forward_dropout = dropout_of(pass, model->config.feed_forward_dropout);
  options.residual_dropout = dropout_of(pass, model->config.residual_dropout);
  attn_tensor *x = embed(tape, pass, "target", target, &model->target, position);
  const int32_t previous = attn_scope_enter(tape, "decoder");
  for (int32_t i = 0; x && i < model->config.decoder_layers; i++) {
    attn_decoder_past none = {0};
    const int32_t outside = attn_transformer_enter(tape, i);
    x = attn_decoder_layer_after(tape, past ? &past[i] : &none, x, memory, &model->decoder[i],
                                 &options);
    attn_scope_leave(tape, outside);
  }
  x = finish(tape, x, &model->decoder_norm);
  attn_scope_leave(tape, previous);
  return predict(tape, model, x);
}

attn_tensor *attn_transformer_forward(attn_tape *tape, const attn_transformer *model,
                                      const attn_transformer_batch *batch, bool training,
                                      int32_t step) {
  if (!ATTN_READY(tape, model)) return NULL;
  static const char stream[] = "dropout";
  const attn_random_key key = attn_random_key_from(model->config.seed, stream, sizeof stream - 1);
  const attn_transformer_pass pass = {model, training, key.word[0] + (uint32_t)step};
  const int32_t kind = model->config.kind;
  attn_tensor *memory = NULL;
  if (kind != ATTN_TRANSFORMER_DECODER) {
    if (!attn_transformer_check(tape, model, "source", batch->source, batch->source_lengths))
      return NULL;
    memory = attn_transformer_encode(tape, &pass, batch->source, batch->source_lengths);
    if (!memory) return NULL;
    if (kind == ATTN_TRANSFORMER_ENCODER) return predict(tape, model, memory);
  }
  if (!attn_transformer_check(tape, model, "target", batch->target, batch->target_lengths))
    return NULL;
  if (memory && !attn_check_pairs(tape, batch->source, batch->target)) return NULL;
  return attn_transformer_decode(tape, &pass, batch->target, batch->target_lengths, memory,
                                 batch->source_lengths, 0, NULL);
}

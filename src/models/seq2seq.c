/* Sequence to sequence with recurrent units (Sutskever et al. 2014, Cho et al. 2014), its context
 * fixed or attended to (Bahdanau et al. 2015); as D2L's chapters on both.
 *
 *   hidden, state = gru(embedding(source))                            [B, Ts, H], last [B, 1, H]
 *
 *   none          every step reads [embedding(target_t); last top state of the encoder]
 *   bahdanau      query   = top state before step t                   [B, 1, H]
 *                 weights = softmax(w_v · tanh(W_q query + W_k hidden))  [B, 1, 1, Ts]
 *                 context = weights · hidden                          [B, 1, H]
 *                 the step reads [context; embedding(target_t)]
 *
 *   logits = top states W_oᵀ + b_o                                    [B, Tt, V]
 *
 * With attention, step t's tensors are decoder.t.…, and decoder.attention.weights [B, 1, Tt, Ts]
 * has all of its rows; an edit belongs to a step's own. The parameters have the names of D2L's
 * modules: encoder.embedding.weight, encoder.rnn.weight_ih_l0, decoder.attention.W_q.weight, … */
#include "models/seq2seq.h"

#include "base/text.h"

attn_seq2seq_config attn_seq2seq_defaults(void) {
  return (attn_seq2seq_config){.attention = ATTN_SEQ2SEQ_ATTENTION_BAHDANAU,
                               .embedding = 32,
                               .hiddens = 32,
                               .layers = 2,
                               .initialiser = ATTN_INITIALISER_XAVIER};
}

/* ---- parameters --------------------------------------------------------------------------- */

static bool check_config(attn_tape *tape, const attn_seq2seq_config *config) {
  if (!ATTN_CHECK_CHOICE(tape, "attention", config->attention, ATTN_SEQ2SEQ_ATTENTION_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "initialiser", config->initialiser, ATTN_INITIALISER_LIST) ||
      !attn_check_size(tape, "sourceVocab", config->source_vocab) ||
      !attn_check_size(tape, "targetVocab", config->target_vocab) ||
      !attn_check_size(tape, "embedding", config->embedding) ||
      !attn_check_size(tape, "hiddens", config->hiddens))
    return false;
  if (!(config->dropout >= 0 && config->dropout < 1))
    return attn_fail_at(tape, "dropout", ATTN_BAD_VALUE,
                        "dropout %g must be at least 0 and below 1", (double)config->dropout);
  return true;
}

static const attn_tensor *declare_embedding(attn_tape *tape, int32_t vocabulary, int32_t width,
                                            uint32_t seed) {
  const attn_shape shape = attn_shape2("V", vocabulary, "E", width);
  return attn_fill_normal(tape, attn_parameter(tape, "embedding.weight", shape), seed, 1);
}

static bool declare_recurrent(attn_tape *tape, attn_gru_stack *stack, int32_t in,
                              const attn_seq2seq_config *config) {
  const int32_t previous = attn_scope_enter(tape, "rnn");
  const bool declared = attn_gru_declare(tape, stack, config->layers, in, config->hiddens,
                                         config->initialiser, config->seed);
  attn_scope_leave(tape, previous);
  return declared;
}

static const attn_tensor *declare_weight(attn_tape *tape, const char *name, attn_shape shape,
                                         const attn_seq2seq_config *config) {
  attn_tensor *weight = attn_parameter(tape, name, shape);
  if (config->initialiser == ATTN_INITIALISER_XAVIER)
    return attn_fill_xavier(tape, weight, config->seed);
  return attn_fill_fan_in(tape, weight, config->seed, shape.size[1]);
}

static void declare_decoder(attn_tape *tape, attn_seq2seq *model) {
  const attn_seq2seq_config *config = &model->config;
  const int32_t hiddens = config->hiddens, vocabulary = config->target_vocab;
  const uint32_t seed = config->seed;
  const int32_t previous = attn_scope_enter(tape, "decoder");
  if (config->attention == ATTN_SEQ2SEQ_ATTENTION_BAHDANAU) {
    const int32_t outside = attn_scope_enter(tape, "attention");
    const attn_shape square = attn_shape2("H", hiddens, "H", hiddens);
    model->key_weight = declare_weight(tape, "W_k.weight", square, config);
    model->query_weight = declare_weight(tape, "W_q.weight", square, config);
    model->score_weight =
        declare_weight(tape, "w_v.weight", attn_shape2("1", 1, "H", hiddens), config);
    attn_scope_leave(tape, outside);
  }
  model->target_embedding = declare_embedding(tape, vocabulary, config->embedding, seed);
  declare_recurrent(tape, &model->decoder, config->embedding + hiddens, config);
  model->output_weight =
      declare_weight(tape, "dense.weight", attn_shape2("V", vocabulary, "H", hiddens), config);
  model->output_bias = attn_fill_fan_in(
      tape, attn_parameter(tape, "dense.bias", attn_shape1("V", vocabulary)), seed, hiddens);
  attn_scope_leave(tape, previous);
}

attn_seq2seq *attn_seq2seq_new(attn_tape *tape, const attn_seq2seq_config *config) {
  if (!check_config(tape, config)) return NULL;
  attn_seq2seq *model = attn_tape_take(tape, sizeof *model);
  if (!model) return NULL;
  *model = (attn_seq2seq){.config = *config};
  const int32_t previous = attn_scope_enter(tape, "encoder");
  model->source_embedding =
      declare_embedding(tape, config->source_vocab, config->embedding, config->seed);
  declare_recurrent(tape, &model->encoder, config->embedding, config);
  attn_scope_leave(tape, previous);
  declare_decoder(tape, model);
  return attn_tape_status(tape) == ATTN_OK ? model : NULL;
}

/* ---- the pass ----------------------------------------------------------------------------- */

static float dropout_of(const attn_seq2seq_pass *pass) {
  return pass->training ? pass->model->config.dropout : 0;
}

bool attn_seq2seq_encode(attn_tape *tape, const attn_seq2seq_pass *pass, const attn_tensor *source,
                         const attn_tensor *lengths, attn_seq2seq_state *state) {
  const attn_seq2seq *model = pass->model;
  *state = (attn_seq2seq_state){.lengths = lengths};
  const int32_t previous = attn_scope_enter(tape, "encoder");
  const attn_tensor *x = attn_embedding(tape, "embedded", source, model->source_embedding);
  const attn_tensor *hidden =
      attn_gru_run(tape, &model->encoder, x, state->hidden, dropout_of(pass), pass->seed);
  state->context = state->hidden[model->encoder.layers - 1];
  if (model->key_weight) {
    const attn_tensor *features =
        attn_linear(tape, "key_projection", hidden, model->key_weight, NULL);
    state->keys = attn_split_heads(tape, "key_features", features, 1, "Tk");
    state->values = attn_split_heads(tape, "values", hidden, 1, "Tk");
  }
  attn_scope_leave(tape, previous);
  return attn_tape_status(tape) == ATTN_OK;
}

/* The context [B, 1, H] of one step; its weights go to *weights. */
static const attn_tensor *attend(attn_tape *tape, const attn_seq2seq_pass *pass,
                                 const attn_tensor *query, const attn_seq2seq_state *state,
                                 const attn_tensor **weights) {
  const attn_seq2seq *model = pass->model;
  attn_attention_options options = attn_attention_defaults();
  options.valid_lengths = state->lengths;
  const int32_t previous = attn_scope_enter(tape, "attention");
  const attn_tensor *features =
      attn_linear(tape, "query_projection", query, model->query_weight, NULL);
  features = attn_split_heads(tape, "query_features", features, 1, "Tq");
  const attn_tensor *scores =
      attn_additive_scores(tape, features, state->keys, model->score_weight);
  *weights = attn_masked_softmax(tape, scores, &options);
  const attn_tensor *masked = *weights ? (*weights)->inputs[0] : NULL;
  const attn_tensor *kept =
      attn_dropout(tape, ATTN_DROPPED_WEIGHTS, *weights, dropout_of(pass), pass->seed);
  const attn_tensor *mixed = attn_mix(tape, "mixed", kept, state->values, masked);
  const attn_tensor *context = attn_merge_heads(tape, "output", mixed);
  attn_scope_leave(tape, previous);
  return context;
}

static int32_t enter_step(attn_tape *tape, int32_t step) {
  char digits[12];
  attn_text text = attn_text_in(digits, sizeof digits);
  attn_text_add(&text, "%d", step);
  return attn_scope_enter(tape, digits);
}

/* embedded [B, T, E] → top states [B, T, H], one step after the other. */
static const attn_tensor *attend_each_step(attn_tape *tape, const attn_seq2seq_pass *pass,
                                           attn_seq2seq_state *state, const attn_tensor *embedded) {
  const attn_gru_stack *stack = &pass->model->decoder;
  const int32_t steps = embedded->shape[1];
  const attn_tensor **hidden = attn_tape_take(tape, (size_t)steps * sizeof *hidden);
  const attn_tensor **weights = attn_tape_take(tape, (size_t)steps * sizeof *weights);
  if (!hidden || !weights) return NULL;
  for (int32_t t = 0; t < steps; t++) {
    const int32_t previous = enter_step(tape, state->position + t);
    const attn_tensor *query = state->hidden[stack->layers - 1];
    const attn_tensor *context = attend(tape, pass, query, state, &weights[t]);
    const attn_tensor *token = attn_slice(tape, "embedded", embedded, 1, t, 1);
    const attn_tensor *x = attn_join(tape, "input", 2, 2, (const attn_tensor *[]){context, token});
    hidden[t] = attn_gru_run(tape, stack, x, state->hidden, dropout_of(pass), pass->seed);
    attn_scope_leave(tape, previous);
  }
  const int32_t previous = attn_scope_enter(tape, "attention");
  attn_join(tape, "weights", 2, steps, weights);
  attn_scope_leave(tape, previous);
  return attn_join(tape, "hidden", 1, steps, hidden);
}

/* The same with one context for all steps. */
static const attn_tensor *run_all_steps(attn_tape *tape, const attn_seq2seq_pass *pass,
                                        attn_seq2seq_state *state, const attn_tensor *embedded) {
  const attn_tensor *context = attn_repeat(tape, "context", state->context, embedded->shape[1]);
  const attn_tensor *x = attn_join(tape, "input", 2, 2, (const attn_tensor *[]){embedded, context});
  return attn_gru_run(tape, &pass->model->decoder, x, state->hidden, dropout_of(pass), pass->seed);
}

attn_tensor *attn_seq2seq_decode(attn_tape *tape, const attn_seq2seq_pass *pass,
                                 attn_seq2seq_state *state, const attn_tensor *target) {
  const attn_seq2seq *model = pass->model;
  const int32_t previous = attn_scope_enter(tape, "decoder");
  const attn_tensor *embedded = attn_embedding(tape, "embedded", target, model->target_embedding);
  const attn_tensor *hidden = NULL;
  if (embedded)
    hidden = model->query_weight ? attend_each_step(tape, pass, state, embedded)
                                 : run_all_steps(tape, pass, state, embedded);
  attn_scope_leave(tape, previous);
  state->position += target->shape[1];
  return attn_linear(tape, "logits", hidden, model->output_weight, model->output_bias);
}

attn_tensor *attn_seq2seq_forward(attn_tape *tape, const attn_seq2seq *model,
                                  const attn_transformer_batch *batch, bool training,
                                  uint32_t seed) {
  const attn_seq2seq_pass pass = {model, training, seed};
  attn_seq2seq_state state;
  if (!ATTN_READY(tape, model) || !attn_check_sentences(tape, "source", batch->source) ||
      !attn_check_sentences(tape, "target", batch->target) ||
      !attn_check_pairs(tape, batch->source, batch->target) ||
      !attn_seq2seq_encode(tape, &pass, batch->source, batch->source_lengths, &state))
    return NULL;
  return attn_seq2seq_decode(tape, &pass, &state, batch->target);
}

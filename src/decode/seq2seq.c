/* Recurrent units that are asked for one token after the other.
 *
 * All they know of the tokens so far is the hidden state of each layer, so there is nothing else to
 * cache: a step reads only its new tokens. What came from the source (the context, or the keys and
 * values of attention) is alike in all rows.
 *
 * D2L's prediction takes the decoder's own last state for the context of its next step, as its
 * decoder does not tell the two apart; in training each step had the source's. */
#include "models/seq2seq.h"
#include "decode/decode.h"
#include "ops/ops.h"

typedef struct decoding {
  attn_decoder decoder;
  const attn_seq2seq *model;
  attn_seq2seq_state state;
  attn_tensor hidden[ATTN_GRU_MAX_LAYERS]; /* [rows, 1, H], kept between two steps */
  attn_tensor context, keys, values, lengths;
  int32_t known; /* tokens read */
  bool as_d2l;
} decoding;

static const attn_tensor *next(attn_tape *tape, void *state, const int32_t *tokens, int32_t stride,
                               int32_t rows, int32_t length) {
  decoding *in = state;
  const attn_seq2seq_pass pass = {.model = in->model};
  const attn_tensor *logits = NULL;
  while (in->known < length) {
    const int32_t first = in->known, count = in->as_d2l ? 1 : length - first;
    const attn_tensor *ids = attn_new_tokens(tape, tokens + first, stride, rows, count);
    if (!ids) return NULL;
    if (in->as_d2l) in->state.context = in->state.hidden[in->model->decoder.layers - 1];
    logits = attn_seq2seq_decode(tape, &pass, &in->state, ids);
    if (!logits) return NULL;
    in->known += count;
  }
  return logits;
}

static void follow(void *state, const int32_t *parents, int32_t rows) {
  decoding *in = state;
  attn_tensor *const alike[] = {&in->context, &in->keys, &in->values, &in->lengths};
  for (int32_t l = 0; l < in->model->decoder.layers; l++) {
    attn_copy_rows(&in->hidden[l], in->state.hidden[l], parents, rows);
    in->state.hidden[l] = &in->hidden[l];
  }
  for (int i = 0; i < 4; i++) alike[i]->shape[0] = rows;
}

/* *kept = `rows` rows that are all x's only one, and *x becomes it; the search starts with one. */
static bool keep_alike(attn_tape *tape, attn_tensor *kept, const attn_tensor **x, int32_t rows) {
  if (!*x) return true;
  if (!attn_reserve(tape, kept, (*x)->name, (size_t)rows * (size_t)attn_length(*x))) return false;
  attn_copy_rows(kept, *x, NULL, rows);
  kept->shape[0] = 1;
  *x = kept;
  return true;
}

static const attn_decoder *new_decoder(attn_tape *tape, const attn_seq2seq *model,
                                       const attn_tensor *source, const attn_tensor *source_length,
                                       int32_t rows, int32_t positions) {
  decoding *in = attn_tape_take(tape, sizeof *in);
  if (!in || !ATTN_CHECK_CHOICE(tape, "positions", positions, ATTN_DECODE_POSITIONS_LIST))
    return NULL;
  *in = (decoding){.decoder = {in, model->config.target_vocab, next, follow},
                   .model = model,
                   .as_d2l = positions == ATTN_DECODE_POSITIONS_AS_D2L};
  const attn_seq2seq_pass pass = {.model = model};
  attn_seq2seq_state *state = &in->state;
  if (!attn_seq2seq_encode(tape, &pass, source, source_length, state)) return NULL;
  for (int32_t l = 0; l < model->decoder.layers; l++)
    if (!attn_reserve(tape, &in->hidden[l], "kept_state",
                      (size_t)rows * (size_t)model->config.hiddens))
      return NULL;
  const bool kept = keep_alike(tape, &in->context, &state->context, rows) &&
                    keep_alike(tape, &in->keys, &state->keys, rows) &&
                    keep_alike(tape, &in->values, &state->values, rows) &&
                    keep_alike(tape, &in->lengths, &state->lengths, rows);
  return kept ? &in->decoder : NULL;
}

attn_tensor *attn_seq2seq_translate(attn_tape *tape, const attn_seq2seq *model,
                                    const attn_tensor *source, const attn_tensor *source_length,
                                    const attn_tensor *prefix, const attn_decode_options *options) {
  if (!ATTN_READY(tape, model) || !attn_check_decoding(tape, options) ||
      !attn_check_sentence(tape, "source", source) || !attn_check_sentence(tape, "target", prefix))
    return NULL;
  const attn_decoder *decoder = new_decoder(tape, model, source, source_length,
                                            attn_decoding_rows(options), options->positions);
  return attn_search(tape, decoder, prefix, options);
}

/* A Transformer that is asked for one token after the other.
 *
 *   none              all tokens so far pass the decoder again
 *   representations   only the new ones do; the inputs of self-attention so far stay and are
 *                     projected to keys and values again (D2L's state[2])
 *   keys-values       their projections stay, as do those of the source: nothing is computed twice
 *
 * Between two steps the tape goes back to where it was, so what stays is copied out of it, each row
 * from the row it goes on from. Buffers reach `length` tokens from the start. */
#include "decode/decode.h"
#include "math/functions.h"
#include "ops/ops.h"

/* What one layer keeps; `data` has room for [rows, length, H]. */
typedef struct layer_memory {
  attn_tensor inputs, key, value, cross_key, cross_value;
} layer_memory;

typedef struct decoding {
  attn_decoder decoder;
  const attn_transformer *model;
  attn_tensor memory;      /* [rows, Ts, H], all rows alike */
  attn_decoder_past *past; /* [decoder_layers] */
  layer_memory *layers;    /* [decoder_layers] */
  int32_t cache, most_rows;
  int32_t known; /* tokens that need not be read again */
  bool as_d2l;
} decoding;

/* The kept tensor takes over what the last pass left; *past then means the kept one. */
static void keep(attn_tensor *kept, const attn_tensor **past, const int32_t *parents,
                 int32_t rows) {
  if (!*past) return;
  attn_copy_rows(kept, *past, parents, rows);
  *past = kept;
}

/* The source's keys and values are alike in all rows and do not change: copied once. */
static void keep_source(attn_tensor *kept, const attn_tensor **past, int32_t most, int32_t rows) {
  if (!*past) return;
  if (*past != kept) attn_copy_rows(kept, *past, NULL, most);
  kept->shape[0] = rows;
  *past = kept;
}

static void follow(void *state, const int32_t *parents, int32_t rows) {
  decoding *in = state;
  if (in->memory.data) in->memory.shape[0] = rows;
  for (int32_t i = 0; i < in->model->config.decoder_layers; i++) {
    layer_memory *layer = &in->layers[i];
    attn_decoder_past *past = &in->past[i];
    keep(&layer->inputs, &past->inputs, parents, rows);
    keep(&layer->key, &past->self.key, parents, rows);
    keep(&layer->value, &past->self.value, parents, rows);
    keep_source(&layer->cross_key, &past->cross.key, in->most_rows, rows);
    keep_source(&layer->cross_value, &past->cross.value, in->most_rows, rows);
  }
}

static const attn_tensor *next(attn_tape *tape, void *state, const int32_t *tokens, int32_t stride,
                               int32_t rows, int32_t length) {
  decoding *in = state;
  const attn_transformer_pass pass = {.model = in->model};
  const int32_t first = in->known, count = length - first;
  const attn_tensor *ids = attn_new_tokens(tape, tokens + first, stride, rows, count);
  if (!ids) return NULL;
  if (in->cache != ATTN_CACHE_NONE) in->known = length;
  return attn_transformer_decode(tape, &pass, ids, NULL, in->memory.data ? &in->memory : NULL, NULL,
                                 in->as_d2l ? 0 : first, in->past);
}

static bool reserve_layer(attn_tape *tape, layer_memory *layer, const decoding *in, size_t own,
                          size_t source) {
  if (in->cache == ATTN_CACHE_REPRESENTATIONS)
    return attn_reserve(tape, &layer->inputs, "kept_inputs", own);
  return attn_reserve(tape, &layer->key, "kept_key", own) &&
         attn_reserve(tape, &layer->value, "kept_value", own) &&
         (source == 0 || (attn_reserve(tape, &layer->cross_key, "kept_source_key", source) &&
                          attn_reserve(tape, &layer->cross_value, "kept_source_value", source)));
}

/* Whether the numbers to be kept can be counted, and all tokens have a position. */
static bool check_room(attn_tape *tape, const attn_transformer_config *config, int32_t rows,
                       int32_t length) {
  const double bytes = (double)rows * config->hiddens * length * sizeof(attn_real);
  if (bytes > ATTN_MAX_BYTES)
    return attn_fail_at(tape, "maxLength", ATTN_TOO_BIG,
                        "%d rows of %d tokens would need %g MiB; the limit is %d MiB", rows, length,
                        bytes / (1 << 20), (int)(ATTN_MAX_BYTES >> 20));
  const bool table =
      config->position == ATTN_POSITION_SINUSOIDAL || config->position == ATTN_POSITION_LEARNED;
  if (table && length > config->max_length)
    return attn_fail_at(tape, "maxLength", ATTN_BAD_VALUE,
                        "%d tokens are to be read; the model's maxLength is %d", length,
                        config->max_length);
  return true;
}

const attn_decoder *attn_transformer_decoder(attn_tape *tape, const attn_transformer *model,
                                             const attn_tensor *source, int32_t rows,
                                             int32_t length, int32_t cache, int32_t positions) {
  const attn_transformer_config *config = &model->config;
  const size_t layers = (size_t)config->decoder_layers;
  const size_t cell = (size_t)rows * (size_t)config->hiddens;
  if (config->kind == ATTN_TRANSFORMER_ENCODER)
    return attn_fail(tape, ATTN_BAD_VALUE, "an encoder by itself cannot decode");
  if (!ATTN_CHECK_CHOICE(tape, "cache", cache, ATTN_CACHE_LIST) ||
      !ATTN_CHECK_CHOICE(tape, "positions", positions, ATTN_DECODE_POSITIONS_LIST) ||
      !check_room(tape, config, rows, length))
    return NULL;
  decoding *in = attn_tape_take(tape, sizeof *in);
  if (!in) return NULL;
  *in = (decoding){.decoder = {in, config->target_vocab, next, follow},
                   .model = model,
                   .cache = cache,
                   .most_rows = rows,
                   .as_d2l = positions == ATTN_DECODE_POSITIONS_AS_D2L};
  in->past = attn_tape_take(tape, layers * sizeof *in->past);
  in->layers = attn_tape_take(tape, layers * sizeof *in->layers);
  if (!in->layers) return NULL;
  size_t source_cells = 0;
  if (config->kind == ATTN_TRANSFORMER_ENCODER_DECODER) {
    const attn_transformer_pass pass = {.model = model};
    if (!attn_transformer_check(tape, model, "source", source, NULL)) return NULL;
    const attn_tensor *memory = attn_transformer_encode(tape, &pass, source, NULL);
    source_cells = cell * (size_t)source->shape[1];
    if (!memory || !attn_reserve(tape, &in->memory, "memory", source_cells)) return NULL;
    attn_copy_rows(&in->memory, memory, NULL, rows);
    in->memory.shape[0] = 1; /* a search starts with one row */
  }
  for (size_t i = 0; i < layers; i++) {
    in->past[i] = (attn_decoder_past){.keep = cache};
    in->layers[i] = (layer_memory){0};
    if (cache != ATTN_CACHE_NONE &&
        !reserve_layer(tape, &in->layers[i], in, cell * (size_t)length, source_cells))
      return NULL;
  }
  return &in->decoder;
}

const attn_decoder_past *attn_transformer_decoder_past(const attn_decoder *decoder) {
  return ((const decoding *)decoder->state)->past;
}

attn_tensor *attn_decode(attn_tape *tape, const attn_transformer *model, const attn_tensor *source,
                         const attn_tensor *prefix, const attn_decode_options *options) {
  if (!ATTN_READY(tape, model) || !attn_check_decoding(tape, options) ||
      (source && !attn_check_sentence(tape, "source", source)) ||
      !attn_check_sentence(tape, "target", prefix) ||
      !attn_transformer_check(tape, model, "target", prefix, NULL))
    return NULL;
  const int32_t read = prefix->shape[1] + options->max_length - 1;
  const attn_decoder *decoder = attn_transformer_decoder(
      tape, model, source, attn_decoding_rows(options), read, options->cache, options->positions);
  return attn_search(tape, decoder, prefix, options);
}

/* ---- consistency -------------------------------------------------------------------------- */

/* The largest |a - b| over a's last row and row t of b, both [1, T, n]. */
static attn_real largest_difference(const attn_tensor *a, const attn_tensor *b, int32_t t) {
  const int32_t width = attn_last(a);
  const attn_real *x = a->data + attn_length(a) - width;
  const attn_real *y = b->data + (ptrdiff_t)t * width;
  attn_real most = 0;
  for (int32_t i = 0; i < width; i++) {
    const attn_real difference = attn_abs(x[i] - y[i]);
    if (difference != difference) return difference;
    if (difference > most) most = difference;
  }
  return most;
}

attn_tensor *attn_consistency(attn_tape *tape, const attn_transformer *model,
                              const attn_tensor *source, const attn_tensor *target, int32_t prefill,
                              int32_t cache, int32_t positions) {
  if (!ATTN_READY(tape, model) || (source && !attn_check_sentence(tape, "source", source)) ||
      !attn_check_sentence(tape, "target", target) ||
      !attn_transformer_check(tape, model, "target", target, NULL))
    return NULL;
  const int32_t layers = model->config.decoder_layers, length = target->shape[1];
  if (prefill < 1 || prefill > length)
    return attn_fail_at(tape, "prefill", ATTN_BAD_VALUE, "prefill %d must be 1 to the %d tokens",
                        prefill, length);
  int32_t *tokens = attn_tape_take(tape, (size_t)length * sizeof *tokens);
  attn_tensor *report =
      attn_push(tape, "consistency", "consistency", attn_shape2("layer", layers + 1, "T", length),
                ATTN_INPUTS(source, target));
  if (!report || !attn_check_ids(tape, target, 0, model->config.target_vocab)) return NULL;
  for (int32_t t = 0; t < length; t++) tokens[t] = (int32_t)target->data[t];
  for (ptrdiff_t i = 0; i < attn_length(report); i++) report->data[i] = 0;

  const attn_decoder *whole = attn_transformer_decoder(
      tape, model, source, 1, length, ATTN_CACHE_NONE, ATTN_DECODE_POSITIONS_CORRECT);
  if (!whole) return NULL;
  const attn_tensor *logits = whole->next(tape, whole->state, tokens, length, 1, length);
  const attn_decoder *stepped =
      attn_transformer_decoder(tape, model, source, 1, length, cache, positions);
  if (!logits || !stepped) return NULL;
  const attn_decoder_past *full = attn_transformer_decoder_past(whole);
  const attn_decoder_past *past = attn_transformer_decoder_past(stepped);
  const attn_place place = attn_tape_place(tape);
  for (int32_t t = prefill; t <= length; t++) {
    const attn_tensor *found = stepped->next(tape, stepped->state, tokens, length, 1, t);
    if (!found) return NULL;
    for (int32_t i = 0; i < layers; i++)
      report->data[i * length + t - 1] = largest_difference(past[i].output, full[i].output, t - 1);
    report->data[layers * length + t - 1] = largest_difference(found, logits, t - 1);
    stepped->follow(stepped->state, (int32_t[]){0}, 1);
    attn_tape_back(tape, place);
  }
  return attn_finish(tape, report);
}

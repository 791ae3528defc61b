/* Tensors out of a seed: initial weights and embeddings of tokens by their text.
 *
 *   normal    √(-2 ln u) cos 2πv of two uniform numbers (Box and Muller 1958), and its sine twin
 *   uniform   [0, 1)
 *   xavier    uniform ±√(6 ÷ (in + out)) (Glorot and Bengio 2010)
 *
 * Element i depends on the key and i alone; the key is that of the seed and the tensor's full name.
 */
#include "base/text.h"
#include "math/functions.h"
#include "ops/ops.h"

/* Four standard normal numbers: the block i of the stream. */
static void normal_block(attn_real out[4], attn_random_key key, uint64_t i) {
  const attn_real full_turn = (attn_real)6.283185307179586;
  uint32_t word[4];
  attn_random_block(word, key, i);
  for (int pair = 0; pair < 4; pair += 2) {
    const attn_real u = 1 - attn_random_unit(word[pair]); /* (0, 1] */
    const attn_real angle = full_turn * attn_random_unit(word[pair + 1]);
    const attn_real radius = attn_sqrt(-2 * attn_log(u));
    out[pair] = radius * attn_cos(angle);
    out[pair + 1] = radius * attn_sin(angle);
  }
}

static void uniform_block(attn_real out[4], attn_random_key key, uint64_t i) {
  uint32_t word[4];
  attn_random_block(word, key, i);
  for (int lane = 0; lane < 4; lane++) out[lane] = attn_random_unit(word[lane]);
}

static void fill(attn_real *out, ptrdiff_t count, attn_random_key key,
                 void (*make_block)(attn_real[4], attn_random_key, uint64_t)) {
  attn_real block[4];
  for (ptrdiff_t i = 0; i < count; i++) {
    if (i % 4 == 0) make_block(block, key, (uint64_t)i / 4);
    out[i] = block[i % 4];
  }
}

attn_tensor *attn_random(attn_tape *tape, const char *name, int32_t rank, const int32_t *shape,
                         const char *const *axes, uint32_t seed, int32_t distribution) {
  if (rank < 0 || rank > ATTN_MAX_RANK)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; at most %d are possible", name, rank,
                     ATTN_MAX_RANK);
  if (!ATTN_CHECK_CHOICE(tape, "distribution", distribution, ATTN_DISTRIBUTION_LIST)) return NULL;
  if (distribution == ATTN_DISTRIBUTION_XAVIER && rank != 2)
    return attn_fail(tape, ATTN_BAD_SHAPE, "a Xavier tensor is [out, in]; %s has %d axes", name,
                     rank);
  attn_shape described = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) {
    described.size[i] = shape[i];
    described.axes[i] = axes[i];
  }
  attn_tensor *out = attn_push(tape, "random", name, described, 0, NULL);
  if (!out) return NULL;
  const attn_random_key key = attn_name_key(tape, seed, name);
  const ptrdiff_t count = attn_length(out);
  if (distribution == ATTN_DISTRIBUTION_NORMAL) {
    fill(out->data, count, key, normal_block);
  } else {
    fill(out->data, count, key, uniform_block);
  }
  if (distribution == ATTN_DISTRIBUTION_XAVIER) {
    const attn_real bound = attn_sqrt(6 / (attn_real)(shape[0] + shape[1]));
    for (ptrdiff_t i = 0; i < count; i++) out->data[i] = (2 * out->data[i] - 1) * bound;
  }
  return attn_finish(tape, out);
}

attn_tensor *attn_token_embedding(attn_tape *tape, const char *name, const attn_texts *texts,
                                  int32_t hiddens, uint32_t seed) {
  attn_tensor *out = attn_push(tape, "token_embedding", name,
                               attn_shape2("T", texts->count, "H", hiddens), 0, NULL);
  if (!out) return NULL;
  const char *text = texts->bytes;
  for (int32_t t = 0; t < texts->count; t++) {
    if (texts->lengths[t] < 0)
      return attn_fail(tape, ATTN_BAD_VALUE, "text %d has a length of %d bytes", t,
                       texts->lengths[t]);
    const attn_random_key key = attn_random_key_from(seed, text, (size_t)texts->lengths[t]);
    fill(out->data + (ptrdiff_t)t * hiddens, hiddens, key, normal_block);
    text += texts->lengths[t];
  }
  return attn_finish(tape, out);
}

/* ---- initial values of parameters --------------------------------------------------------- */

static attn_random_key key_of(const attn_tensor *tensor, uint32_t seed) {
  return attn_random_key_from(seed, tensor->name, attn_text_length(tensor->name));
}

attn_tensor *attn_fill_constant(attn_tape *tape, attn_tensor *out, attn_real value) {
  if (!ATTN_READY(tape, out)) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(out); i++) out->data[i] = value;
  return attn_finish(tape, out);
}

attn_tensor *attn_fill_normal(attn_tape *tape, attn_tensor *out, uint32_t seed,
                              attn_real deviation) {
  if (!ATTN_READY(tape, out)) return NULL;
  fill(out->data, attn_length(out), key_of(out, seed), normal_block);
  for (ptrdiff_t i = 0; i < attn_length(out); i++) out->data[i] *= deviation;
  return attn_finish(tape, out);
}

attn_tensor *attn_fill_uniform(attn_tape *tape, attn_tensor *out, uint32_t seed, attn_real low,
                               attn_real high) {
  if (!ATTN_READY(tape, out)) return NULL;
  fill(out->data, attn_length(out), key_of(out, seed), uniform_block);
  for (ptrdiff_t i = 0; i < attn_length(out); i++) out->data[i] = low + (high - low) * out->data[i];
  return attn_finish(tape, out);
}

attn_tensor *attn_fill_xavier(attn_tape *tape, attn_tensor *weight, uint32_t seed) {
  if (!ATTN_READY(tape, weight)) return NULL;
  const attn_real bound = attn_sqrt(6 / (attn_real)(weight->shape[0] + weight->shape[1]));
  return attn_fill_uniform(tape, weight, seed, -bound, bound);
}

attn_tensor *attn_fill_fan_in(attn_tape *tape, attn_tensor *out, uint32_t seed, int32_t in) {
  const attn_real bound = 1 / attn_sqrt((attn_real)in);
  return attn_fill_uniform(tape, out, seed, -bound, bound);
}

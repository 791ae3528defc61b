/* A table looked up by ids.
 *
 *   y[…, :] = weight[ids[…], :]     ids […], weight [V, H], y […, H]     (torch embedding)
 *
 * Backward adds each row of y's gradient to its row of the table, in the order of the ids. */
#include "ops/ops.h"

bool attn_check_ids(attn_tape *tape, const attn_tensor *ids, int32_t least, int32_t vocabulary) {
  for (ptrdiff_t i = 0; i < attn_length(ids); i++) {
    const attn_real id = ids->data[i];
    if (id >= (attn_real)least && id < (attn_real)vocabulary && id == (attn_real)(int32_t)id)
      continue;
    if (vocabulary < 1)
      return attn_fail_at(tape, ids->name, ATTN_BAD_VALUE,
                          "%s holds the id %g; a vocabulary of %d has none", ids->name, (double)id,
                          vocabulary);
    return attn_fail_at(tape, ids->name, ATTN_BAD_VALUE,
                        "%s holds the id %g; a vocabulary of %d has the ids %d to %d", ids->name,
                        (double)id, vocabulary, least, vocabulary - 1);
  }
  return true;
}

bool attn_check_sentences(attn_tape *tape, const char *what, const attn_tensor *ids) {
  if (attn_tape_status(tape) != ATTN_OK) return false;
  if (!ids)
    return attn_fail_at(tape, what, ATTN_BAD_VALUE, "this model needs the tokens of a %s", what);
  if (ids->rank != 2 || ids->shape[0] < 1)
    return attn_fail_at(tape, what, ATTN_BAD_SHAPE,
                        "%s has %d axes and %d sentences; it must be [B, T] with at least one",
                        what, ids->rank, ids->rank ? ids->shape[0] : 0);
  if (ids->shape[1] < 1)
    return attn_fail_at(tape, what, ATTN_BAD_VALUE, "sentence 0 of the %s is empty", what);
  return true;
}

bool attn_check_sentence(attn_tape *tape, const char *what, const attn_tensor *ids) {
  if (!attn_check_sentences(tape, what, ids)) return false;
  if (ids->shape[0] == 1) return true;
  return attn_fail_at(tape, what, ATTN_BAD_SHAPE, "%s has %d sentences; one is decoded at a time",
                      what, ids->shape[0]);
}

bool attn_check_pairs(attn_tape *tape, const attn_tensor *source, const attn_tensor *target) {
  if (source->shape[0] == target->shape[0]) return true;
  return attn_fail_at(tape, "target", ATTN_BAD_SHAPE,
                      "there are %d source sentences and %d target sentences; they must agree",
                      source->shape[0], target->shape[0]);
}

static void embedding_backward(attn_tape *tape, const attn_tensor *y) {
  const attn_tensor *ids = y->inputs[0];
  attn_real *table = attn_gradient(tape, y->inputs[1]);
  const int32_t width = attn_last(y);
  for (ptrdiff_t i = 0; i < attn_length(ids); i++) {
    attn_real *row = table + (ptrdiff_t)ids->data[i] * width;
    for (int32_t d = 0; d < width; d++) row[d] += y->gradient[i * width + d];
  }
}

attn_tensor *attn_embedding(attn_tape *tape, const char *name, const attn_tensor *ids,
                            const attn_tensor *weight) {
  if (!ATTN_READY(tape, ids, weight)) return NULL;
  if (weight->rank != 2 || ids->rank == ATTN_MAX_RANK)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "%s has %d axes and %s %d; an embedding needs a table [V, H] and at most %d "
                     "axes of ids",
                     weight->name, weight->rank, ids->name, ids->rank, ATTN_MAX_RANK - 1);
  if (!attn_check_ids(tape, ids, 0, weight->shape[0])) return NULL;
  attn_shape shape = attn_shape_of(ids);
  shape.size[shape.rank] = weight->shape[1];
  shape.axes[shape.rank++] = weight->axes[1];
  attn_tensor *y = attn_push(tape, "embedding", name, shape, ATTN_INPUTS(ids, weight));
  if (!y) return NULL;
  const int32_t width = attn_last(y);
  for (ptrdiff_t i = 0; i < attn_length(ids); i++) {
    const attn_real *row = weight->data + (ptrdiff_t)ids->data[i] * width;
    for (int32_t d = 0; d < width; d++) y->data[i * width + d] = row[d];
  }
  y->backward = embedding_backward;
  return attn_finish(tape, y);
}

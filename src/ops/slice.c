/* Longer and shorter tensors.
 *
 *   rows     y[i, :] = table[first + i, :], count rows of a table [N, H]
 *   append   y[…, :, :] = past[…, :, :] followed by x[…, :, :], along the last axis but one
 *
 * append has no gradient: only decoding, which never looks back, grows what it has. */
#include "ops/ops.h"

static void rows_backward(attn_tape *tape, const attn_tensor *y) {
  const int32_t *first = y->attributes;
  attn_real *table = attn_gradient(tape, y->inputs[0]);
  for (ptrdiff_t i = 0; i < attn_length(y); i++)
    table[(ptrdiff_t)*first * attn_last(y) + i] += y->gradient[i];
}

attn_tensor *attn_take_rows(attn_tape *tape, const char *name, const attn_tensor *table,
                            int32_t first, int32_t count) {
  if (!ATTN_READY(tape, table)) return NULL;
  if (table->rank != 2 || first < 0 || count < 0 || first > table->shape[0] - count)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d rows; %d rows from %d on do not lie in it",
                     table->name, table->shape[0], count, first);
  attn_tensor *y =
      attn_push(tape, "take_rows", name, attn_shape2("T", count, table->axes[1], table->shape[1]),
                ATTN_INPUTS(table));
  int32_t *kept = attn_tape_take(tape, sizeof *kept);
  if (!y || !kept) return NULL;
  *kept = first;
  const attn_real *from = table->data + (ptrdiff_t)first * attn_last(table);
  for (ptrdiff_t i = 0; i < attn_length(y); i++) y->data[i] = from[i];
  y->attributes = kept;
  y->backward = rows_backward;
  return attn_finish(tape, y);
}

attn_tensor *attn_append(attn_tape *tape, const char *name, const attn_tensor *past,
                         const attn_tensor *x) {
  if (!ATTN_READY(tape, past, x)) return NULL;
  bool fits = past->rank == x->rank && x->rank >= 2;
  for (int32_t i = 0; fits && i < x->rank; i++)
    fits = i == x->rank - 2 || past->shape[i] == x->shape[i];
  if (!fits)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s cannot be put behind %s: their shapes differ",
                     x->name, past->name);
  const int32_t axis = x->rank - 2;
  attn_shape shape = attn_shape_of(x);
  shape.size[axis] += past->shape[axis];
  attn_tensor *y = attn_push(tape, "append", name, shape, ATTN_INPUTS(past, x));
  if (!y) return NULL;
  const ptrdiff_t head = (ptrdiff_t)past->shape[axis] * attn_last(x);
  const ptrdiff_t tail = (ptrdiff_t)x->shape[axis] * attn_last(x);
  const ptrdiff_t whole = head + tail;
  for (ptrdiff_t i = 0, block = 0; i < attn_length(y); i += whole, block++) {
    for (ptrdiff_t j = 0; j < head; j++) y->data[i + j] = past->data[block * head + j];
    for (ptrdiff_t j = 0; j < tail; j++) y->data[i + head + j] = x->data[block * tail + j];
  }
  return attn_finish(tape, y);
}

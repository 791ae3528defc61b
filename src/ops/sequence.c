/* Sequences cut, put together and repeated.
 *
 *   slice    y = x[…, from : from + count, …]    along one axis
 *   join     y = pieces one after the other      along one axis
 *   repeat   y[b, t, :] = x[b, 0, :]             x [B, 1, H], y [B, T, H]
 *
 * Backward moves the same blocks the other way, adding. */
#include "math/rows.h"
#include "ops/ops.h"

/* Where a part stands in a whole: in each of `outer` stretches of `whole` numbers, the `part`
 * numbers from `from` on. */
typedef struct place {
  ptrdiff_t outer, whole, from, part;
} place;

static place place_of(const attn_tensor *whole, int32_t axis, int32_t from, int32_t count) {
  ptrdiff_t outer = 1, inner = 1;
  for (int32_t i = 0; i < axis; i++) outer *= whole->shape[i];
  for (int32_t i = axis + 1; i < whole->rank; i++) inner *= whole->shape[i];
  return (place){outer, whole->shape[axis] * inner, from * inner, count * inner};
}

/* `outer` blocks of `part` numbers, which lie `to_stride` and `from_stride` apart. */
static void copy(attn_real *to, ptrdiff_t to_stride, const attn_real *from, ptrdiff_t from_stride,
                 place at) {
  for (ptrdiff_t o = 0; o < at.outer; o++, to += to_stride, from += from_stride)
    attn_row_copy(to, from, at.part);
}

static void add(attn_real *to, ptrdiff_t to_stride, const attn_real *from, ptrdiff_t from_stride,
                place at) {
  for (ptrdiff_t o = 0; o < at.outer; o++, to += to_stride, from += from_stride)
    for (ptrdiff_t i = 0; i < at.part; i++) to[i] += from[i];
}

/* ---- slice -------------------------------------------------------------------------------- */

static void slice_backward(attn_tape *tape, const attn_tensor *y) {
  const place at = *(const place *)y->attributes;
  attn_real *gradient = attn_gradient(tape, y->inputs[0]);
  add(gradient + at.from, at.whole, y->gradient, at.part, at);
}

attn_tensor *attn_slice(attn_tape *tape, const char *name, const attn_tensor *x, int32_t axis,
                        int32_t from, int32_t count) {
  if (!ATTN_READY(tape, x)) return NULL;
  if (axis < 0 || axis >= x->rank)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; there is no axis %d to slice", x->name,
                     x->rank, axis);
  if (from < 0 || count < 0 || from > x->shape[axis] - count)
    return attn_fail(tape, ATTN_BAD_VALUE, "a slice of %d from %d on leaves %s, which has %d there",
                     count, from, x->name, x->shape[axis]);
  attn_shape shape = attn_shape_of(x);
  shape.size[axis] = count;
  attn_tensor *y = attn_push(tape, "slice", name, shape, ATTN_INPUTS(x));
  place *at = attn_tape_take(tape, sizeof *at);
  if (!y || !at) return NULL;
  *at = place_of(x, axis, from, count);
  copy(y->data, at->part, x->data + at->from, at->whole, *at);
  y->attributes = at;
  y->backward = slice_backward;
  return attn_finish(tape, y);
}

/* ---- join --------------------------------------------------------------------------------- */

static void join_backward(attn_tape *tape, const attn_tensor *y) {
  const place *at = y->attributes;
  for (int32_t p = 0; p < y->input_count; p++) {
    attn_real *gradient = attn_gradient(tape, y->inputs[p]);
    if (gradient) add(gradient, at[p].part, y->gradient + at[p].from, at[p].whole, at[p]);
  }
}

static bool agree(const attn_tensor *a, const attn_tensor *b, int32_t axis) {
  bool agree = a->rank == b->rank;
  for (int32_t i = 0; agree && i < a->rank; i++) agree = i == axis || a->shape[i] == b->shape[i];
  return agree;
}

/* At most ATTN_MAX_INPUTS pieces. */
static attn_tensor *join_few(attn_tape *tape, const char *name, int32_t axis, int32_t count,
                             const attn_tensor *const *pieces) {
  for (int32_t i = 0; i < count; i++)
    if (!ATTN_READY(tape, pieces[i])) return NULL;
  attn_shape shape = attn_shape_of(pieces[0]);
  if (axis < 0 || axis >= shape.rank)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; there is no axis %d to join along",
                     pieces[0]->name, shape.rank, axis);
  shape.size[axis] = 0;
  for (int32_t p = 0; p < count; p++) {
    if (!agree(pieces[0], pieces[p], axis))
      return attn_fail(tape, ATTN_BAD_SHAPE, "%s and %s cannot be joined: their other axes differ",
                       pieces[0]->name, pieces[p]->name);
    shape.size[axis] += pieces[p]->shape[axis];
  }
  attn_tensor *y = attn_push(tape, "join", name, shape, count, pieces);
  place *at = attn_tape_take(tape, (size_t)count * sizeof *at);
  if (!y || !at) return NULL;
  int32_t from = 0;
  for (int32_t p = 0; p < count; p++) {
    at[p] = place_of(y, axis, from, pieces[p]->shape[axis]);
    copy(y->data + at[p].from, at[p].whole, pieces[p]->data, at[p].part, at[p]);
    from += pieces[p]->shape[axis];
  }
  if (pieces[0]->sum_axis != axis) y->sum_axis = pieces[0]->sum_axis;
  y->attributes = at;
  y->backward = join_backward;
  return attn_finish(tape, y);
}

attn_tensor *attn_join(attn_tape *tape, const char *name, int32_t axis, int32_t count,
                       const attn_tensor *const *pieces) {
  if (count <= ATTN_MAX_INPUTS) return join_few(tape, name, axis, count, pieces);
  const int32_t groups = (count + ATTN_MAX_INPUTS - 1) / ATTN_MAX_INPUTS;
  const attn_tensor **group = attn_tape_take(tape, (size_t)groups * sizeof *group);
  if (!group) return NULL;
  const int32_t previous = attn_scope_enter(tape, "part");
  for (int32_t g = 0; g < groups; g++) {
    const int32_t first = g * ATTN_MAX_INPUTS, left = count - first;
    group[g] =
        join_few(tape, name, axis, left < ATTN_MAX_INPUTS ? left : ATTN_MAX_INPUTS, pieces + first);
  }
  attn_scope_leave(tape, previous);
  return attn_join(tape, name, axis, groups, group);
}

/* ---- repeat ------------------------------------------------------------------------------- */

static void repeat_backward(attn_tape *tape, const attn_tensor *y) {
  attn_real *gradient = attn_gradient(tape, y->inputs[0]);
  const int32_t width = attn_last(y), times = y->shape[1];
  for (ptrdiff_t row = 0; row < attn_rows(y); row++)
    for (int32_t d = 0; d < width; d++)
      gradient[row / times * width + d] += y->gradient[row * width + d];
}

attn_tensor *attn_repeat(attn_tape *tape, const char *name, const attn_tensor *x, int32_t times) {
  if (!ATTN_READY(tape, x)) return NULL;
  if (x->rank != 3 || x->shape[1] != 1)
    return attn_fail(tape, ATTN_BAD_SHAPE,
                     "%s has %d axes and %d rows; to repeat it must be "
                     "[B, 1, H]",
                     x->name, x->rank, (int)attn_rows(x));
  attn_shape shape = attn_shape_of(x);
  shape.size[1] = times;
  attn_tensor *y = attn_push(tape, "repeat", name, shape, ATTN_INPUTS(x));
  if (!y) return NULL;
  const int32_t width = attn_last(y);
  for (ptrdiff_t row = 0; row < attn_rows(y); row++)
    for (int32_t d = 0; d < width; d++) y->data[row * width + d] = x->data[row / times * width + d];
  y->backward = repeat_backward;
  return attn_finish(tape, y);
}

/* A tape: an arena, the list of its tensors, the scope of names, the overrides, the first error. */
#include "tape/tape.h"

#include "base/arena.h"
#include "base/text.h"

enum { SCOPE_CAPACITY = 128, MESSAGE_CAPACITY = 320 };

typedef struct override {
  const char *name;
  int32_t rank;
  int32_t at[ATTN_MAX_RANK];
  attn_real value;
  bool applied;
  struct override *next;
} override;

/* A state of the tape to go back to. */
typedef struct place {
  size_t used;
  attn_tensor *last;
  override *last_override;
} place;

struct attn_tape {
  attn_arena arena;
  place empty, kept;
  attn_tensor *first, *last;
  override *overrides, *last_override;
  attn_status status;
  const char *option; /* at fault */
  int32_t scope_length;
  char scope[SCOPE_CAPACITY];
  char message[MESSAGE_CAPACITY];
};

attn_tape *attn_tape_new(void *block, size_t size, attn_grow grow) {
  attn_arena arena = {block, size, 0, grow};
  attn_tape *tape = attn_arena_take(&arena, sizeof *tape);
  if (!tape) return NULL;
  tape->arena = arena;
  tape->empty = (place){.used = arena.used};
  attn_tape_reset(tape);
  return tape;
}

void attn_tape_reset(attn_tape *tape) {
  tape->first = NULL;
  tape->overrides = NULL;
  tape->kept = tape->empty;
  attn_tape_rewind(tape);
}

void attn_tape_keep(attn_tape *tape) {
  tape->kept = (place){tape->arena.used, tape->last, tape->last_override};
}

attn_place attn_tape_place(const attn_tape *tape) {
  return (attn_place){tape->arena.used, tape->last};
}

void attn_tape_back(attn_tape *tape, attn_place to) {
  tape->arena.used = to.used;
  tape->last = to.last;
  if (to.last)
    to.last->next = NULL;
  else
    tape->first = NULL;
}

void attn_tape_rewind(attn_tape *tape) {
  const place kept = tape->kept;
  attn_tape_back(tape, (attn_place){kept.used, kept.last});
  tape->last_override = kept.last_override;
  if (kept.last_override)
    kept.last_override->next = NULL;
  else
    tape->overrides = NULL;
  const uint8_t *dropped = tape->arena.block + kept.used;
  for (attn_tensor *tensor = tape->first; tensor; tensor = tensor->next)
    if ((const uint8_t *)tensor->gradient >= dropped) tensor->gradient = NULL;
  tape->status = ATTN_OK;
  tape->option = "";
  tape->scope_length = 0;
  tape->scope[0] = 0;
  tape->message[0] = 0;
}

attn_status attn_tape_status(const attn_tape *tape) { return tape->status; }

const char *attn_tape_message(const attn_tape *tape) { return tape->message; }

const char *attn_tape_option(const attn_tape *tape) { return tape->option; }

attn_tensor *attn_tape_first(const attn_tape *tape) { return tape->first; }

attn_tensor *attn_tape_find(const attn_tape *tape, const char *name) {
  for (attn_tensor *tensor = tape->first; tensor; tensor = tensor->next)
    if (attn_text_equal(tensor->name, name)) return tensor;
  return NULL;
}

static void *fail(attn_tape *tape, const char *option, attn_status status, const char *format,
                  va_list arguments) {
  if (tape->status != ATTN_OK) return NULL;
  tape->status = status;
  tape->option = option;
  attn_text text = attn_text_in(tape->message, MESSAGE_CAPACITY);
  attn_text_add_list(&text, format, arguments);
  return NULL;
}

void *attn_fail(attn_tape *tape, attn_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(tape, "", status, format, arguments);
  va_end(arguments);
  return NULL;
}

void *attn_fail_at(attn_tape *tape, const char *option, attn_status status, const char *format,
                   ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(tape, option, status, format, arguments);
  va_end(arguments);
  return NULL;
}

bool attn_check_choice(attn_tape *tape, const char *what, int32_t value, int32_t count) {
  if (value >= 0 && value < count) return true;
  return attn_fail(tape, ATTN_BAD_VALUE, "%s %d is unknown; it must be 0 to %d", what, value,
                   count - 1);
}

bool attn_check_size(attn_tape *tape, const char *option, int32_t size) {
  if (size < 1)
    return attn_fail_at(tape, option, ATTN_BAD_VALUE, "%s %d; there must be at least 1", option,
                        size);
  if (size > ATTN_MAX_SIZE)
    return attn_fail_at(tape, option, ATTN_TOO_BIG, "%s %d; there can be at most %d", option, size,
                        ATTN_MAX_SIZE);
  return true;
}

static void *take(attn_tape *tape, size_t bytes) {
  void *memory = attn_arena_take(&tape->arena, bytes);
  if (!memory)
    attn_fail(tape, ATTN_NO_MEMORY, "out of memory: %g MiB in use, %g MiB more asked for",
              (double)tape->arena.used / (1 << 20), (double)bytes / (1 << 20));
  return memory;
}

void *attn_tape_take(attn_tape *tape, size_t bytes) {
  return tape->status == ATTN_OK ? take(tape, bytes) : NULL;
}

int32_t attn_scope_enter(attn_tape *tape, const char *scope) {
  const int32_t previous = tape->scope_length;
  attn_text text = attn_text_in(tape->scope + previous, (size_t)(SCOPE_CAPACITY - previous));
  attn_text_add(&text, "%s.", scope);
  if (text.cut)
    attn_fail(tape, ATTN_BAD_VALUE, "the scope \"%s\" is nested deeper than %d characters", scope,
              SCOPE_CAPACITY - 1);
  tape->scope_length = previous + (int32_t)text.length;
  return previous;
}

void attn_scope_leave(attn_tape *tape, int32_t previous) {
  tape->scope_length = previous;
  tape->scope[previous] = 0;
}

/* ---- shapes ------------------------------------------------------------------------------- */

attn_shape attn_shape1(const char *axis, int32_t size) { return (attn_shape){1, {size}, {axis}}; }

attn_shape attn_shape2(const char *axis0, int32_t size0, const char *axis1, int32_t size1) {
  return (attn_shape){2, {size0, size1}, {axis0, axis1}};
}

attn_shape attn_shape3(const char *axis0, int32_t size0, const char *axis1, int32_t size1,
                       const char *axis2, int32_t size2) {
  return (attn_shape){3, {size0, size1, size2}, {axis0, axis1, axis2}};
}

attn_shape attn_shape4(const char *axis0, int32_t size0, const char *axis1, int32_t size1,
                       const char *axis2, int32_t size2, const char *axis3, int32_t size3) {
  return (attn_shape){4, {size0, size1, size2, size3}, {axis0, axis1, axis2, axis3}};
}

attn_shape attn_shape_of(const attn_tensor *tensor) {
  attn_shape shape = {.rank = tensor->rank};
  for (int32_t i = 0; i < tensor->rank; i++) {
    shape.size[i] = tensor->shape[i];
    shape.axes[i] = tensor->axes[i];
  }
  return shape;
}

/* ---- tensors ------------------------------------------------------------------------------ */

bool attn_ready(attn_tape *tape, int count, const void *const *needed) {
  for (int i = 0; i < count; i++)
    if (!needed[i]) attn_fail(tape, ATTN_BAD_VALUE, "NULL where a tensor or a model is needed");
  return tape->status == ATTN_OK;
}

/* Copied by hand: every step of a decoder names dozens of tensors. */
static const char *full_name(attn_tape *tape, const char *name) {
  const size_t scope = (size_t)tape->scope_length, length = attn_text_length(name);
  char *full = take(tape, scope + length + 1);
  if (!full) return NULL;
  for (size_t i = 0; i < scope; i++) full[i] = tape->scope[i];
  for (size_t i = 0; i <= length; i++) full[scope + i] = name[i];
  return full;
}

static bool is_called(const attn_tape *tape, const attn_tensor *tensor, const char *name) {
  const char *full = tensor->name;
  for (int32_t i = 0; i < tape->scope_length; i++)
    if (*full++ != tape->scope[i]) return false;
  return attn_text_equal(full, name);
}

attn_tensor *attn_find_after(const attn_tape *tape, const attn_tensor *tensor, const char *name) {
  attn_tensor *later = tensor ? tensor->next : NULL;
  while (later && !is_called(tape, later, name)) later = later->next;
  return later;
}

attn_random_key attn_name_key(attn_tape *tape, uint32_t seed, const char *name) {
  const attn_mark mark = attn_scratch_mark(tape);
  const char *full = full_name(tape, name);
  if (!full) return (attn_random_key){{0, 0}};
  attn_scratch_release(tape, mark);
  return attn_random_key_from(seed, full, attn_text_length(full));
}

attn_tensor *attn_push(attn_tape *tape, const char *op, const char *name, attn_shape shape,
                       int input_count, const attn_tensor *const *inputs) {
  if (tape->status != ATTN_OK) return NULL;
  const char *full = full_name(tape, name);
  if (!full) return NULL;

  size_t bytes;
  for (int32_t i = 0; i < shape.rank; i++)
    if (shape.size[i] < 0)
      return attn_fail(tape, ATTN_BAD_SHAPE, "%s: axis %s has the size %d", full, shape.axes[i],
                       shape.size[i]);
  if (!attn_checked_bytes(&bytes, shape.rank, shape.size, sizeof(attn_real))) {
    double wanted = sizeof(attn_real);
    for (int32_t i = 0; i < shape.rank; i++) wanted *= shape.size[i] ? shape.size[i] : 1;
    return attn_fail(tape, ATTN_TOO_BIG, "%s would need %g MiB; the limit is %d MiB", full,
                     wanted / (1 << 20), (int)(ATTN_MAX_BYTES >> 20));
  }

  attn_tensor *tensor = take(tape, sizeof *tensor);
  attn_real *data = tensor ? take(tape, bytes) : NULL;
  if (!data) return NULL;
  *tensor = (attn_tensor){.data = data,
                          .rank = shape.rank,
                          .sum_axis = -1,
                          .name = full,
                          .op = op,
                          .previous = tape->last};
  for (int32_t i = 0; i < shape.rank; i++) {
    tensor->shape[i] = shape.size[i];
    tensor->axes[i] = shape.axes[i];
  }
  for (int i = 0; i < input_count; i++) {
    if (!inputs[i]) continue;
    tensor->inputs[tensor->input_count++] = (attn_tensor *)inputs[i];
    tensor->requires_gradient |= inputs[i]->requires_gradient;
  }

  if (tape->last)
    tape->last->next = tensor;
  else
    tape->first = tensor;
  tape->last = tensor;
  return tensor;
}

attn_tensor *attn_input(attn_tape *tape, const char *name, int32_t rank, const int32_t *shape,
                        const char *const *axes) {
  if (rank < 0 || rank > ATTN_MAX_RANK)
    return attn_fail(tape, ATTN_BAD_SHAPE, "%s has %d axes; at most %d are possible", name, rank,
                     ATTN_MAX_RANK);
  attn_shape described = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) {
    described.size[i] = shape[i];
    described.axes[i] = axes[i];
  }
  return attn_push(tape, "input", name, described, 0, NULL);
}

attn_tensor *attn_input_ready(attn_tape *tape, attn_tensor *input) {
  return ATTN_READY(tape, input) ? attn_finish(tape, input) : NULL;
}

attn_tensor *attn_parameter(attn_tape *tape, const char *name, attn_shape shape) {
  attn_tensor *parameter = attn_push(tape, ATTN_PARAMETER, name, shape, 0, NULL);
  if (!parameter) return NULL;
  parameter->requires_gradient = true;
  return attn_gradient(tape, parameter) ? parameter : NULL;
}

/* ---- scratch ------------------------------------------------------------------------------ */

attn_mark attn_scratch_mark(const attn_tape *tape) { return tape->arena.used; }

attn_real *attn_scratch(attn_tape *tape, size_t count) {
  if (count > ATTN_MAX_BYTES / sizeof(attn_real))
    return attn_fail(tape, ATTN_TOO_BIG, "scratch memory of %g MiB; the limit is %d MiB",
                     (double)count * sizeof(attn_real) / (1 << 20), (int)(ATTN_MAX_BYTES >> 20));
  return attn_tape_take(tape, count * sizeof(attn_real));
}

void attn_scratch_release(attn_tape *tape, attn_mark mark) { tape->arena.used = mark; }

/* ---- overrides ---------------------------------------------------------------------------- */

attn_status attn_override(attn_tape *tape, const char *name, int32_t rank, const int32_t *at,
                          attn_real value) {
  if (rank < 0 || rank > ATTN_MAX_RANK) {
    attn_fail(tape, ATTN_BAD_SHAPE, "an override of %s with %d axes; at most %d are possible", name,
              rank, ATTN_MAX_RANK);
    return tape->status;
  }
  const size_t name_bytes = attn_text_length(name) + 1;
  override *added = attn_tape_take(tape, sizeof *added);
  char *copy = attn_tape_take(tape, name_bytes);
  if (!added || !copy) return tape->status;
  attn_text text = attn_text_in(copy, name_bytes);
  attn_text_add(&text, "%s", name);
  *added = (override){.name = copy, .rank = rank, .value = value};
  for (int32_t i = 0; i < rank; i++) added->at[i] = at[i];
  if (tape->last_override)
    tape->last_override->next = added;
  else
    tape->overrides = added;
  tape->last_override = added;
  return ATTN_OK;
}

/* Writes value to all cells of data, which has the tensor's shape, that `at` names. Axes the tensor
 * lacks stand in front, with size 1. */
static void write_cells(attn_real *data, const attn_tensor *tensor, const override *edit,
                        attn_real value) {
  int32_t size[ATTN_MAX_RANK], from[ATTN_MAX_RANK], to[ATTN_MAX_RANK];
  for (int32_t i = 0; i < ATTN_MAX_RANK; i++) {
    const int32_t axis = i - (ATTN_MAX_RANK - tensor->rank);
    size[i] = axis < 0 ? 1 : tensor->shape[axis];
    const bool whole = axis < 0 || edit->at[axis] < 0;
    from[i] = whole ? 0 : edit->at[axis];
    to[i] = whole ? size[i] : from[i] + 1;
  }
  for (ptrdiff_t i = from[0]; i < to[0]; i++)
    for (ptrdiff_t j = from[1]; j < to[1]; j++)
      for (ptrdiff_t k = from[2]; k < to[2]; k++)
        for (ptrdiff_t l = from[3]; l < to[3]; l++)
          data[((i * size[1] + j) * size[2] + k) * size[3] + l] = value;
}

attn_tensor *attn_finish(attn_tape *tape, attn_tensor *tensor) {
  if (!tensor || tape->status != ATTN_OK) return NULL;
  if (tensor->input_count && !tensor->backward) tensor->requires_gradient = false;
  for (override *edit = tape->overrides; edit; edit = edit->next) {
    if (!attn_text_equal(edit->name, tensor->name)) continue;
    if (edit->rank != tensor->rank)
      return attn_fail_at(tape, "overrides", ATTN_BAD_SHAPE,
                          "an override of %s names %d axes; it has %d", tensor->name, edit->rank,
                          tensor->rank);
    for (int32_t i = 0; i < edit->rank; i++)
      if (edit->at[i] < -1 || edit->at[i] >= tensor->shape[i])
        return attn_fail_at(tape, "overrides", ATTN_BAD_VALUE,
                            "an override of %s at %d on axis %s, which has the size %d",
                            tensor->name, edit->at[i], tensor->axes[i], tensor->shape[i]);
    write_cells(tensor->data, tensor, edit, edit->value);
    edit->applied = true;
    tensor->overridden = true;
  }
  return tensor;
}

void attn_overridden_zero(const attn_tape *tape, const attn_tensor *tensor) {
  if (!tensor->overridden) return;
  for (const override *edit = tape->overrides; edit; edit = edit->next)
    if (attn_text_equal(edit->name, tensor->name)) write_cells(tensor->gradient, tensor, edit, 0);
}

attn_status attn_overrides_check(attn_tape *tape) {
  for (const override *edit = tape->overrides; edit; edit = edit->next)
    if (!edit->applied)
      attn_fail_at(tape, "overrides", ATTN_NOT_FOUND,
                   "an override names \"%s\"; nothing that this pass computes has that name",
                   edit->name);
  return tape->status;
}

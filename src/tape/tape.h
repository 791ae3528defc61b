/* The tape as operations see it.
 *
 * An operation does three things: push a tensor (name, shape, sources), fill its data, finish it.
 * Push fails when the tape already failed, a source is missing, the size is too big or memory is
 * out; it then returns NULL and the operation returns NULL too. Finish applies the overrides.
 *
 * An operation with a gradient sets `backward`, and `attributes` where it needs them, in between.
 * Push has then told it, by requires_gradient, whether any source wants one. */
#ifndef ATTN_TAPE_TAPE_H
#define ATTN_TAPE_TAPE_H

#include "attn.h"
#include "base/random.h"

typedef struct attn_shape {
  int32_t rank;
  int32_t size[ATTN_MAX_RANK];
  const char *axes[ATTN_MAX_RANK];
} attn_shape;

attn_shape attn_shape1(const char *axis, int32_t size);
attn_shape attn_shape2(const char *axis0, int32_t size0, const char *axis1, int32_t size1);
attn_shape attn_shape3(const char *axis0, int32_t size0, const char *axis1, int32_t size1,
                       const char *axis2, int32_t size2);
attn_shape attn_shape4(const char *axis0, int32_t size0, const char *axis1, int32_t size1,
                       const char *axis2, int32_t size2, const char *axis3, int32_t size3);
attn_shape attn_shape_of(const attn_tensor *tensor);

/* The size of the last axis, the product of all others, the number of elements. */
static inline int32_t attn_last(const attn_tensor *tensor) {
  return tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
}
static inline ptrdiff_t attn_rows(const attn_tensor *tensor) {
  ptrdiff_t rows = 1;
  for (int32_t i = 0; i + 1 < tensor->rank; i++) rows *= tensor->shape[i];
  return rows;
}
static inline ptrdiff_t attn_length(const attn_tensor *tensor) {
  return attn_rows(tensor) * attn_last(tensor);
}

/* `op` must outlive the tape; `name` is copied behind the scope. Inputs that are NULL in the list
 * are left out: they stand for optional sources. */
attn_tensor *attn_push(attn_tape *tape, const char *op, const char *name, attn_shape shape,
                       int input_count, const attn_tensor *const *inputs);
#define ATTN_INPUTS(...)                                                            \
  (int)(sizeof((const attn_tensor *const[]){__VA_ARGS__}) / sizeof(attn_tensor *)), \
      (const attn_tensor *const[]) {                                                \
    __VA_ARGS__                                                                     \
  }

attn_tensor *attn_finish(attn_tape *tape, attn_tensor *tensor);

/* A tensor for the caller to fill, as attn_input, that requires a gradient. The gradient lies
 * beside it, starts at 0 and stays as long as the parameter. */
attn_tensor *attn_parameter(attn_tape *tape, const char *name, attn_shape shape);
#define ATTN_PARAMETER "parameter" /* its operation */

/* For `backward` to add to: the gradient of one of the inputs, NULL where it needs none. `backward`
 * takes scratch memory freely; it is given back behind it. */
attn_real *attn_gradient(attn_tape *tape, attn_tensor *tensor);

/* Memory for out->attributes, where out requires a gradient; NULL where not, and when memory is
 * out.
 */
void *attn_attributes(attn_tape *tape, attn_tensor *out, size_t bytes);

/* Sets the gradient to 0 where an override wrote the cell; the gradient must be there. */
void attn_overridden_zero(const attn_tape *tape, const attn_tensor *tensor);

/* Notes the first failure and returns NULL. The message format is that of attn_text_add. */
void *attn_fail(attn_tape *tape, attn_status status, const char *format, ...);

/* The same where one option of the caller is at fault, by the name callers write. */
void *attn_fail_at(attn_tape *tape, const char *option, attn_status status, const char *format,
                   ...);

/* Fails unless value is one of the choices of a list in attn.h. */
bool attn_check_choice(attn_tape *tape, const char *what, int32_t value, int32_t count);
#define ATTN_COUNT_CHOICE(name, text) +1
#define ATTN_CHECK_CHOICE(tape, what, value, list) \
  attn_check_choice(tape, what, value, list(ATTN_COUNT_CHOICE))

/* Fails unless a model can have this size: 1 to ATTN_MAX_SIZE, of which small multiples and sums
 * stay in range. */
bool attn_check_size(attn_tape *tape, const char *option, int32_t size);
#define ATTN_MAX_SIZE (1 << 24)

/* The first tensor behind `tensor` that has this name in the present scope; NULL: there is none. */
attn_tensor *attn_find_after(const attn_tape *tape, const attn_tensor *tensor, const char *name);

/* The random stream of the tensor that would be pushed under `name` now; takes scratch memory. */
attn_random_key attn_name_key(attn_tape *tape, uint32_t seed, const char *name);

/* Whether the tape is in order; fails unless the tensors and models an operation needs are there.
 */
bool attn_ready(attn_tape *tape, int count, const void *const *needed);
#define ATTN_READY(tape, ...)                                                          \
  attn_ready(tape, (int)(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)), \
             (const void *const[]){__VA_ARGS__})

/* Steps that share what lies before them: going back to a place drops the tensors behind it; the
 * overrides stay. */
typedef struct attn_place {
  size_t used;
  attn_tensor *last;
} attn_place;
attn_place attn_tape_place(const attn_tape *tape);
void attn_tape_back(attn_tape *tape, attn_place to);

/* Scratch memory of one operation: take it after the push, give it back before the finish. */
typedef size_t attn_mark;
attn_mark attn_scratch_mark(const attn_tape *tape);
attn_real *attn_scratch(attn_tape *tape, size_t count); /* NULL and a failed tape when out */
void attn_scratch_release(attn_tape *tape, attn_mark mark);

#endif

/* A bump allocator over one block that belongs to the caller.
 *
 * take() moves `used` up; a mark is the value of `used`, and going back to a mark drops everything
 * taken since. What must stay (parameters) is taken first, what goes (activations, scratch) later.
 * When the block is full, `grow` may lengthen it in place. */
#ifndef ATTN_BASE_ARENA_H
#define ATTN_BASE_ARENA_H

#include "attn.h"

#define ATTN_ALIGNMENT 32

typedef struct attn_arena {
  uint8_t *block;
  size_t size;
  size_t used;
  attn_grow grow;
} attn_arena;

/* NULL when the block is full and cannot grow; `used` is then unchanged. */
void *attn_arena_take(attn_arena *arena, size_t bytes);

/* The number of elements of a shape times element_bytes; false when a size is negative or the
 * product of all sizes that are not 0 passes ATTN_MAX_BYTES. So the number of rows of an empty
 * tensor is bounded too. No step of the computation can wrap. */
bool attn_checked_bytes(size_t *bytes, int32_t rank, const int32_t *shape, size_t element_bytes);

#endif

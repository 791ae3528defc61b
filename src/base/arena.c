#include "base/arena.h"

void *attn_arena_take(attn_arena *arena, size_t bytes) {
  if (bytes > ATTN_MAX_BYTES) return NULL;
  const size_t padding = -(uintptr_t)(arena->block + arena->used) & (ATTN_ALIGNMENT - 1);
  const size_t start = arena->used + padding;
  const size_t end = start + bytes;
  if (end > arena->size) {
    const size_t grown = arena->grow ? arena->grow(end) : 0;
    if (grown < end) return NULL;
    arena->size = grown;
  }
  arena->used = end;
  return arena->block + start;
}

bool attn_checked_bytes(size_t *bytes, int32_t rank, const int32_t *shape, size_t element_bytes) {
  uint64_t product = element_bytes;
  bool empty = false;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] < 0) return false;
    if (shape[i] == 0) empty = true;
    /* Below the limit, product × shape[i] < 2^29 × 2^31 fits in 64 bits. */
    if (shape[i] > 0) product *= (uint64_t)shape[i];
    if (product > ATTN_MAX_BYTES) return false;
  }
  *bytes = empty ? 0 : (size_t)product;
  return true;
}

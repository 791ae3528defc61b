/* All bits of a tape in one word (FNV-1a over words, upper bits folded down after each: a product
 * alone would let two flipped signs cancel). Two tapes with the same numbers have the same hash. */
#ifndef ATTN_TAPE_HASH_H
#define ATTN_TAPE_HASH_H

#include "tape/tape.h"

#define ATTN_HASH_SEED 2166136261u

static inline uint32_t attn_hash_word(uint32_t hash, uint32_t word) {
  hash = (hash ^ word) * 16777619u;
  return hash ^ hash >> 15;
}

static inline uint32_t attn_hash_numbers(uint32_t hash, const attn_real *numbers, ptrdiff_t count) {
  for (ptrdiff_t i = 0; i < count; i++) {
    const uint8_t *byte = (const uint8_t *)(numbers + i);
    hash = attn_hash_word(
        hash, byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24);
  }
  return hash;
}

#endif

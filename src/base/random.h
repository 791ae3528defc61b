/* Counter-based random numbers: Philox 4x32-10 (Salmon et al. 2011).
 *
 * Number i of a stream is a pure function of (key, i). The key comes from a seed and a name, so
 * that no stream depends on how many numbers another one used. */
#ifndef ATTN_BASE_RANDOM_H
#define ATTN_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct attn_random_key {
  uint32_t word[2];
} attn_random_key;

attn_random_key attn_random_key_from(uint32_t seed, const char *name, size_t name_length);

/* Four words for counter i. */
void attn_random_block(uint32_t out[4], attn_random_key key, uint64_t i);

/* [0, 1): the upper 24 bits, exact in float. */
static inline float attn_random_unit(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

#endif

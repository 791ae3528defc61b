/* attn_random_block for four counters at a time, lane by lane. */
#include "math/random.h"

#include "math/simd.h"

enum { BLOCKS = 4, WORDS = 4 * BLOCKS };

static void four_blocks(uint32_t out[WORDS], attn_random_key key, uint64_t i) {
  const attn_i32x4 first = attn_i32x4_splat((int32_t)0xd2511f53u);
  const attn_i32x4 second = attn_i32x4_splat((int32_t)0xcd9e8d57u);
  const uint64_t j = i + 1, k = i + 2, l = i + 3;
  attn_i32x4 x0 = attn_i32x4_make((uint32_t)i, (uint32_t)j, (uint32_t)k, (uint32_t)l);
  attn_i32x4 x1 = attn_i32x4_make((uint32_t)(i >> 32), (uint32_t)(j >> 32), (uint32_t)(k >> 32),
                                  (uint32_t)(l >> 32));
  attn_i32x4 x2 = attn_i32x4_splat(0), x3 = x2;
  attn_i32x4 k0 = attn_i32x4_splat((int32_t)key.word[0]);
  attn_i32x4 k1 = attn_i32x4_splat((int32_t)key.word[1]);
  for (int round = 0; round < 10; round++) {
    const attn_i32x4 a_high = attn_i32x4_mul_high(x0, first), a = attn_i32x4_mul(x0, first);
    const attn_i32x4 b_high = attn_i32x4_mul_high(x2, second), b = attn_i32x4_mul(x2, second);
    x0 = attn_i32x4_xor(attn_i32x4_xor(b_high, x1), k0);
    x2 = attn_i32x4_xor(attn_i32x4_xor(a_high, x3), k1);
    x1 = b;
    x3 = a;
    k0 = attn_i32x4_add(k0, attn_i32x4_splat((int32_t)0x9e3779b9u));
    k1 = attn_i32x4_add(k1, attn_i32x4_splat((int32_t)0xbb67ae85u));
  }
  uint32_t lane[4][BLOCKS];
  attn_i32x4_store(lane[0], x0);
  attn_i32x4_store(lane[1], x1);
  attn_i32x4_store(lane[2], x2);
  attn_i32x4_store(lane[3], x3);
  for (int word = 0; word < WORDS; word++) out[word] = lane[word % 4][word / 4];
}

void attn_random_words(uint32_t *out, ptrdiff_t count, attn_random_key key, uint64_t first) {
  for (ptrdiff_t done = 0; done < count;) {
    const uint64_t at = first + (uint64_t)done;
    const ptrdiff_t skip = (ptrdiff_t)(at % 4), ready = WORDS - skip, left = count - done;
    if (skip == 0 && left >= WORDS) {
      four_blocks(out + done, key, at / 4);
      done += WORDS;
      continue;
    }
    uint32_t words[WORDS];
    four_blocks(words, key, at / 4);
    for (ptrdiff_t i = 0; i < ready && i < left; i++) out[done + i] = words[skip + i];
    done += ready;
  }
}

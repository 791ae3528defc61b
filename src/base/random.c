#include "base/random.h"

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

attn_random_key attn_random_key_from(uint32_t seed, const char *name, size_t name_length) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (size_t i = 0; i < name_length; i++) hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
  hash = mix(hash ^ mix(seed + 0x9e3779b97f4a7c15u));
  return (attn_random_key){{(uint32_t)hash, (uint32_t)(hash >> 32)}};
}

void attn_random_block(uint32_t out[4], attn_random_key key, uint64_t i) {
  uint32_t x0 = (uint32_t)i, x1 = (uint32_t)(i >> 32), x2 = 0, x3 = 0;
  uint32_t k0 = key.word[0], k1 = key.word[1];
  for (int round = 0; round < 10; round++) {
    const uint64_t a = (uint64_t)x0 * 0xd2511f53u;
    const uint64_t b = (uint64_t)x2 * 0xcd9e8d57u;
    x0 = (uint32_t)(b >> 32) ^ x1 ^ k0;
    x2 = (uint32_t)(a >> 32) ^ x3 ^ k1;
    x1 = (uint32_t)b;
    x3 = (uint32_t)a;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  out[0] = x0, out[1] = x1, out[2] = x2, out[3] = x3;
}

/* Random numbers by the row. */
#ifndef ATTN_MATH_RANDOM_H
#define ATTN_MATH_RANDOM_H

#include "base/random.h"

/* Words first, first + 1, … of the stream: word i is lane i % 4 of block i / 4. */
void attn_random_words(uint32_t *out, ptrdiff_t count, attn_random_key key, uint64_t first);

#endif

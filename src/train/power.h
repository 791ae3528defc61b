/* base to a whole power, by squaring: the same bits everywhere, which pow does not promise. */
#ifndef ATTN_TRAIN_POWER_H
#define ATTN_TRAIN_POWER_H

#include <stdint.h>

static inline double attn_power(double base, int32_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}

#endif

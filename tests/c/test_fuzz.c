/*
 * The fuzz targets on inputs of this program's own making: a check in every build, without a
 * corpus.
 *
 *   test_fuzz [inputs]
 */
#define LLVMFuzzerTestOneInput fuzz_one_attention
#include "fuzz_attention.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_one_model
#include "fuzz_models.c"
#undef LLVMFuzzerTestOneInput
#include "harness.h"

static int inputs = 3000;

static void feed(int (*target)(const uint8_t *data, size_t size)) {
  uint32_t state = 1;
  for (int i = 0; i < inputs; i++) {
    uint8_t data[512];
    const size_t size = i % 3 ? sizeof data : (size_t)i % sizeof data;
    for (size_t at = 0; at < size; at++) {
      state = state * 1664525u + 1013904223u;
      data[at] = (uint8_t)(state >> 24);
    }
    CHECK_EQUAL(target(data, size), 0);
  }
}

static void attention_keeps_its_promises_whatever_comes_in(void) { feed(fuzz_one_attention); }

static void models_keep_their_promises_whatever_comes_in(void) { feed(fuzz_one_model); }

int main(int count, char **arguments) {
  if (count > 1) inputs = atoi(arguments[1]);
  RUN(attention_keeps_its_promises_whatever_comes_in);
  RUN(models_keep_their_promises_whatever_comes_in);
  return report();
}

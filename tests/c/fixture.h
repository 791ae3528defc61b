/*
 * What tests of tensors share: one tape in one block, inputs of random numbers, and comparisons
 * whose slack follows the number type.
 *
 *   fresh();
 *   attn_tensor *query = given("query", SHAPE(2, 1, 5, 8));
 *   CHECK_CLOSE(query->data[0], 0.25);
 */
#ifndef ATTN_TESTS_FIXTURE_H
#define ATTN_TESTS_FIXTURE_H

#include "harness.h"
#include "tape/tape.h"

enum { BLOCK_BYTES = 48 << 20 };

static _Alignas(32) uint8_t block[BLOCK_BYTES];
static attn_tape *tape;
static uint32_t random_state;

/* An empty tape. The block keeps what was in it: reading memory before writing it shows. */
static inline void fresh(void) {
  if (tape)
    attn_tape_reset(tape);
  else
    tape = attn_tape_new(block, sizeof block, NULL);
  random_state = 1;
}

static inline uint32_t random_word(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

static inline int random_below(int limit) { return (int)(random_word() % (uint32_t)limit); }

/* [-1, 1) */
static inline attn_real random_real(void) {
  return (attn_real)random_word() * (attn_real)0x1p-23 - 1;
}

#define SHAPE(...) \
  (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]) { __VA_ARGS__ }

/* An input of random numbers in [-1, 1). */
static inline attn_tensor *given(const char *name, int32_t rank, const int32_t *shape) {
  static const char *const axes[] = {"i", "j", "k", "l"};
  attn_tensor *tensor = attn_input(tape, name, rank, shape, axes);
  if (!tensor) return NULL;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = random_real();
  return attn_input_ready(tape, tensor);
}

static inline attn_tensor *found(const char *name) {
  attn_tensor *tensor = attn_tape_find(tape, name);
  CLAIM(tensor, "there is no tensor %s; status %d: %s", name, attn_tape_status(tape),
        attn_tape_message(tape));
  return tensor;
}

static inline bool equal_tensors(const attn_tensor *a, const attn_tensor *b) {
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  for (ptrdiff_t i = 0; i < attn_length(a); i++)
    if (!same_bits(a->data[i], b->data[i])) return false;
  return true;
}

/* A few roundings of attn_real in numbers of size 1. */
static const double slack = sizeof(attn_real) == sizeof(float) ? 1e-6 : 1e-12;

static inline bool is_close(double actual, double expected) {
  if (isnan(expected) || isinf(expected))
    return isnan(expected) ? isnan(actual) : actual == expected;
  return fabs(actual - expected) <= slack * (1 + fabs(expected));
}

static inline void check_close(const char *file, int line, const char *text, double actual,
                               double expected) {
  claim(is_close(actual, expected), file, line, "%s is %.17g, should be %.17g within %.3g", text,
        actual, expected, slack * (1 + fabs(expected)));
}

static inline void check_status(const char *file, int line, attn_status expected,
                                const char *message) {
  claim(attn_tape_status(tape) == expected && strcmp(attn_tape_message(tape), message) == 0, file,
        line, "status %d \"%s\", should be %d \"%s\"", attn_tape_status(tape),
        attn_tape_message(tape), expected, message);
}

#define CHECK_CLOSE(actual, expected) check_close(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_FAILED(status, message) check_status(__FILE__, __LINE__, status, message)
#define CHECK_OK() check_status(__FILE__, __LINE__, ATTN_OK, "")

#endif

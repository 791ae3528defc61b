/* What fuzz targets share: bytes become sizes, choices, numbers and tensors; and what must hold
 * after any call: a status that has a message, and a tape that works again after a reset. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn.h"
#include "tape/tape.h"

enum { FUZZ_BYTES = 4 << 20 };

static _Alignas(32) uint8_t fuzz_block[FUZZ_BYTES];

#define REQUIRE(condition) require(condition, #condition, __FILE__, __LINE__)

static void require(bool holds, const char *text, const char *file, int line) {
  if (holds) return;
  fprintf(stderr, "%s:%d: %s does not hold\n", file, line, text);
  abort();
}

/* ---- bytes -------------------------------------------------------------------------------- */

static const uint8_t *bytes_left, *bytes_end;
static bool learning; /* inputs require gradients */

static int next_byte(void) { return bytes_left < bytes_end ? *bytes_left++ : 0; }

/* 0 to count - 1; rarely something else. */
static int32_t next_choice(int count) {
  const int byte = next_byte();
  return byte < 253 ? byte % count : byte == 253 ? -1 : byte == 254 ? count : INT32_MIN;
}

/* A size up to `most`, small ones and those around a block of 64 more often; rarely absurd. */
static int32_t next_size(int most) {
  const int byte = next_byte();
  if (byte < 200) return byte % 6 % (most + 1);
  if (byte < 253) return (60 + byte % 9) % (most + 1);
  return byte == 253 ? -1 : byte == 254 ? 46341 : INT32_MAX;
}

/* The number usual, rarely a special one. */
static float next_float(float usual) {
  static const float special[] = {0,     -1,     NAN,   INFINITY, -INFINITY, 1e-45f,
                                  1e38f, -1e38f, -1e6f, 0.5f,     2,         0.999f};
  const int byte = next_byte();
  return byte < 240 ? usual : special[byte % 12];
}

static int32_t next_int(int32_t usual) {
  static const int32_t special[] = {-2, -1, 0, 1, 2, 5, 64, INT32_MAX, INT32_MIN};
  const int byte = next_byte();
  return byte < 100 ? usual : byte < 240 ? byte % 6 : special[byte % 9];
}

/* ---- tensors ------------------------------------------------------------------------------ */

/* Numbers in [-2, 2), as many special ones among them as a byte says. Values of 1e38 are left out
 * where sums of products should stay finite. */
static void fill(attn_tensor *tensor, bool moderate) {
  static const float special[] = {0, NAN, INFINITY, -INFINITY, 1e-40f, -1, 3e38f, -3e38f};
  const int share = next_byte() % 8 == 7 ? next_byte() % 64 : 0;
  uint32_t state = (uint32_t)next_byte() * 2654435761u + 1;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) {
    state = state * 1664525u + 1013904223u;
    const int word = (int)(state >> 16);
    const bool odd = word % 256 < share;
    tensor->data[i] =
        odd ? special[word / 256 % (moderate ? 6 : 8)] : (float)(word - 32768) / 16384;
  }
}

static attn_tensor *input(attn_tape *tape, const char *name, int32_t rank, const int32_t *shape,
                          bool moderate) {
  static const char *const axes[] = {"i", "j", "k", "l"};
  attn_tensor *tensor = attn_input(tape, name, rank, shape, axes);
  if (tensor) {
    fill(tensor, moderate);
    tensor->requires_gradient = learning;
  }
  return attn_input_ready(tape, tensor);
}

/* After whatever went wrong: two equal scores, values 1 and 3. */
static void check_recovery(attn_tape *tape) {
  attn_tape_reset(tape);
  REQUIRE(attn_tape_status(tape) == ATTN_OK && !*attn_tape_message(tape));
  static const char *const axes[] = {"B", "h", "T", "D"};
  attn_tensor *query = attn_input(tape, "query", 4, (int32_t[]){1, 1, 1, 1}, axes);
  attn_tensor *value = attn_input(tape, "value", 4, (int32_t[]){1, 1, 2, 1}, axes);
  REQUIRE(query && value);
  query->data[0] = 0, value->data[0] = 1, value->data[1] = 3;
  attn_attention_options options = attn_attention_defaults();
  const attn_tensor *output = attn_attention(tape, query, value, value, &options);
  REQUIRE(output && output->data[0] == 2);
}

static void check_end(attn_tape *tape) {
  const size_t told = strlen(attn_tape_message(tape));
  REQUIRE((attn_tape_status(tape) != ATTN_OK) == (told > 0));
  check_recovery(tape);
}

/* On a block that is small now and then. */
static attn_tape *next_tape(void) {
  const size_t size = next_byte() % 8 == 7 ? (size_t)(1 + next_byte()) * 16384 : FUZZ_BYTES;
  attn_tape *tape = attn_tape_new(fuzz_block, size, NULL);
  REQUIRE(tape != NULL);
  return tape;
}

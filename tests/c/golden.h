/*
 * The vectors that tests/golden wrote with PyTorch, one case a line (see generate.py), read as they
 * are needed. Tests run at the root of the project.
 *
 *   for (golden_open("gru"); golden_next();) {
 *     fresh();
 *     attn_tensor *x = golden_parameter("x");
 *     ...
 *     CHECK_GOLDEN(y->data, attn_length(y), "output");
 *   }
 */
#ifndef ATTN_TESTS_GOLDEN_H
#define ATTN_TESTS_GOLDEN_H

#include <stdlib.h>

#include "fixture.h"

enum { GOLDEN_BYTES = 1 << 20 };

static struct {
  char text[GOLDEN_BYTES];
  char *next; /* the line behind this case; NULL at the end */
  const char *line;
  int cases;
} golden;

/* A file of one case. */
static inline void golden_read(const char *path) {
  FILE *file = fopen(path, "rb");
  const size_t length = file ? fread(golden.text, 1, GOLDEN_BYTES - 1, file) : 0;
  if (file) fclose(file);
  CLAIM(length > 0 && length < GOLDEN_BYTES - 1, "%s has %d bytes", path, (int)length);
  golden.text[length] = 0;
  golden.line = golden.text;
}

static inline void golden_open(const char *family) {
  char path[128];
  snprintf(path, sizeof path, "tests/golden/core/%s.json", family);
  golden_read(path);
  golden.next = golden.text;
  golden.cases = 0;
}

/* The next case, NOTEd by its name. A family without cases breaks a claim. */
static inline bool golden_next(void) {
  harness.note[0] = 0;
  char *line = golden.next ? strstr(golden.next, "{\"name\":\"") : NULL;
  if (!line) {
    CLAIM(golden.cases > 0, "there is no golden case");
    return false;
  }
  golden.next = strchr(line, '\n');
  if (golden.next) *golden.next++ = 0;
  golden.line = line;
  golden.cases++;
  line += strlen("{\"name\":\"");
  NOTE("%.*s", (int)strcspn(line, "\""), line);
  return true;
}

/* What stands behind "key":, or NULL. */
static inline const char *golden_at(const char *key) {
  char quoted[96];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(golden.line, quoted);
  return at ? at + strlen(quoted) : NULL;
}

static inline double golden_number(const char *key) {
  const char *at = golden_at(key);
  CLAIM(at, "the case has no %s", key);
  return at ? strtod(at, NULL) : NAN;
}

/* The numbers of a JSON list into out, at most `most`; returns how many there are. */
static inline int golden_list(const char *at, double *out, int most) {
  int count = 0;
  for (at = strchr(at, '[') + 1; *at && *at != ']'; count++) {
    char *end;
    const double number = strtod(at, &end);
    if (count < most) out[count] = number;
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

enum { GOLDEN_NUMBERS = 1 << 14 };
static double golden_numbers[GOLDEN_NUMBERS];

/* The case's tensor `key` on the tape, requiring a gradient; NULL where the case has none. */
static inline attn_tensor *golden_parameter(const char *key) {
  static const char *const axes[] = {"i", "j", "k", "l"};
  const char *at = golden_at(key);
  if (!at) return NULL;
  double sizes[ATTN_MAX_RANK];
  attn_shape shape = {.rank = golden_list(strstr(at, "\"shape\""), sizes, ATTN_MAX_RANK)};
  for (int32_t i = 0; i < shape.rank; i++) {
    shape.size[i] = (int32_t)sizes[i];
    shape.axes[i] = axes[i];
  }
  attn_tensor *tensor = attn_parameter(tape, key, shape);
  const int count = golden_list(strstr(at, "\"data\""), golden_numbers, GOLDEN_NUMBERS);
  if (!tensor || count != attn_length(tensor)) return NULL;
  for (int i = 0; i < count; i++) tensor->data[i] = (attn_real)golden_numbers[i];
  return attn_input_ready(tape, tensor);
}

static inline void check_golden(const char *file, int line, const attn_real *actual,
                                ptrdiff_t length, const char *key) {
  const char *at = golden_at(key);
  const int count = at ? golden_list(strstr(at, "\"data\""), golden_numbers, GOLDEN_NUMBERS) : -1;
  claim(actual && count == length, file, line, "%s has %d numbers, should have %d", key, count,
        (int)length);
  if (!actual || count != length) return;
  for (int i = 0; i < count; i++)
    claim(fabs(actual[i] - golden_numbers[i]) <= 2e-6 + 1e-5 * fabs(golden_numbers[i]), file, line,
          "%s[%d] is %.9g, should be %.9g", key, i, (double)actual[i], golden_numbers[i]);
}

#define CHECK_GOLDEN(actual, length, key) check_golden(__FILE__, __LINE__, actual, length, key)

#endif

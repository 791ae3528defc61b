/* A test is a function that makes claims; it passes when all of them hold.
 *
 *   static void softmax_of_one_cell_is_1(void) { CHECK_NEAR(weight, 1.0, 1e-6); }
 *
 *   int main(void) {
 *     RUN(softmax_of_one_cell_is_1);
 *     return report();
 *   }
 *
 * A claim that fails prints where it stands, the value found and the value or limit it should keep;
 * in a loop, say before it with NOTE which round this is. report() prints "N passed, N failed" (and
 * ", N skipped") and returns what main should return. */
#ifndef ATTN_TESTS_HARNESS_H
#define ATTN_TESTS_HARNESS_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "attn.h"

enum { SHOWN_FAILURES = 5 }; /* of each test */

static struct {
  int passed, failed, skipped;
  bool skips;        /* the running test */
  int broken_claims; /* of the running test */
  char note[160];
} harness;

static inline void claim(bool holds, const char *file, int line, const char *format, ...) {
  if (holds || ++harness.broken_claims > SHOWN_FAILURES) return;
  printf("  %s:%d: ", file, line);
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  printf(harness.note[0] ? " (%s)\n" : "\n", harness.note);
}

static inline void run(const char *name, void (*test)(void)) {
  harness.broken_claims = 0;
  harness.note[0] = 0;
  harness.skips = false;
  test();
  bool holds = harness.broken_claims == 0;
  harness.skipped += holds && harness.skips;
  harness.passed += holds && !harness.skips;
  harness.failed += !holds;
  if (!holds) printf("FAILED %s: %d claims broken\n", name, harness.broken_claims);
}

/* For a test that lacks something from outside: says so, and return then. */
static inline void skip(const char *reason) {
  harness.skips = true;
  printf("SKIPPED: %s\n", reason);
}

static inline int report(void) {
  printf("%d passed, %d failed", harness.passed, harness.failed);
  if (harness.skipped) printf(", %d skipped", harness.skipped);
  printf("\n");
  return harness.failed || !harness.passed;
}

/* The same bits, any NaN being like any other. */
static inline bool same_bits(attn_real a, attn_real b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static inline void check_equal(const char *file, int line, const char *text, long long actual,
                               long long expected) {
  claim(actual == expected, file, line, "%s is %lld, should be %lld", text, actual, expected);
}

static inline void check_bits(const char *file, int line, const char *text, attn_real actual,
                              attn_real expected) {
  double a = actual, e = expected;
  claim(same_bits(actual, expected), file, line, "%s is %.9g (%a), should be %.9g (%a)", text, a, a,
        e, e);
}

static inline void check_near(const char *file, int line, const char *text, double actual,
                              double expected, double slack) {
  claim(fabs(actual - expected) <= slack, file, line, "%s is %.9g, should be %.9g within %.3g",
        text, actual, expected, slack);
}

#define RUN(test) run(#test, test)
#define NOTE(...) snprintf(harness.note, sizeof harness.note, __VA_ARGS__)
#define CLAIM(holds, ...) claim(holds, __FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) CLAIM(condition, "%s does not hold", #condition)
#define CHECK_EQUAL(actual, expected) check_equal(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_BITS(actual, expected) check_bits(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_NEAR(actual, expected, slack) \
  check_near(__FILE__, __LINE__, #actual, actual, expected, slack)

#endif

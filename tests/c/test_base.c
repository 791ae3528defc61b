/*
 * The base: the arena and its growth, sizes that cannot wrap, text in fixed buffers, random
 * streams.
 */
#include <float.h>
#include <limits.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "harness.h"
#include "math/random.h"

/* ---- arena -------------------------------------------------------------------------------- */

static size_t asked, granted, times_asked;

static size_t answer(size_t bytes) {
  asked = bytes;
  times_asked++;
  return granted;
}

static attn_arena arena_in(uint8_t *block, size_t size, size_t grant) {
  asked = times_asked = 0;
  granted = grant;
  return (attn_arena){block, size, 0, answer};
}

static void memory_is_aligned_wherever_the_block_starts(void) {
  _Alignas(64) uint8_t block[1024];
  for (size_t start = 0; start < 64; start++) {
    attn_arena arena = {block + start, 512, 0, NULL};
    for (size_t bytes = 1; bytes < 40; bytes += 13) {
      const size_t before = arena.used;
      uint8_t *taken = attn_arena_take(&arena, bytes);
      NOTE("block at %zu, %zu bytes", start, bytes);
      CHECK(taken && (uintptr_t)taken % ATTN_ALIGNMENT == 0);
      CHECK(taken >= block + start + before);
      CHECK_EQUAL(arena.used, taken + bytes - (block + start));
    }
  }
}

static void the_last_byte_of_the_block_can_be_taken_and_no_further(void) {
  _Alignas(32) uint8_t block[96];
  attn_arena arena = {block, sizeof block, 0, NULL};
  CHECK(attn_arena_take(&arena, 32) == block);
  CHECK(attn_arena_take(&arena, 65) == NULL);
  CHECK_EQUAL(arena.used, 32);
  CHECK(attn_arena_take(&arena, 64) == block + 32);
  CHECK(attn_arena_take(&arena, 0) == block + 96);
  CHECK(attn_arena_take(&arena, 1) == NULL);
  CHECK_EQUAL(arena.used, 96);
}

static void the_hook_is_asked_for_the_whole_block_and_only_when_it_is_full(void) {
  _Alignas(32) uint8_t block[256];
  attn_arena arena = arena_in(block, 64, 256);
  CHECK(attn_arena_take(&arena, 40) == block);
  CHECK_EQUAL(times_asked, 0);
  CHECK(attn_arena_take(&arena, 50) == block + 64);
  CHECK_EQUAL(times_asked, 1);
  CHECK_EQUAL(asked, 114);
  CHECK_EQUAL(arena.size, 256);
  CHECK(attn_arena_take(&arena, 100) == block + 128);
  CHECK_EQUAL(times_asked, 1);
}

static void a_hook_that_gives_too_little_changes_nothing(void) {
  _Alignas(32) uint8_t block[256];
  for (size_t grant = 0; grant < 160; grant += 53) {
    attn_arena arena = arena_in(block, 64, grant);
    attn_arena_take(&arena, 40);
    CHECK(attn_arena_take(&arena, 100) == NULL);
    CHECK_EQUAL(times_asked, 1);
    CHECK_EQUAL(arena.used, 40);
    CHECK_EQUAL(arena.size, 64);
    CHECK(attn_arena_take(&arena, 0) == block + 64);
  }
}

static void more_than_the_limit_is_refused_without_asking(void) {
  uint8_t block[64];
  attn_arena arena = arena_in(block, 64, SIZE_MAX);
  CHECK(attn_arena_take(&arena, (size_t)ATTN_MAX_BYTES + 1) == NULL);
  CHECK(attn_arena_take(&arena, SIZE_MAX) == NULL);
  CHECK(attn_arena_take(&arena, SIZE_MAX - 30) == NULL);
  CHECK_EQUAL(times_asked, 0);
  CHECK_EQUAL(arena.used, 0);
}

/* ---- checked sizes ------------------------------------------------------------------------ */

static bool fits(size_t *bytes, int32_t a, int32_t b, int32_t c, int32_t d) {
  return attn_checked_bytes(bytes, 4, (int32_t[]){a, b, c, d}, 4);
}

static void sizes_up_to_the_limit_are_exact(void) {
  size_t bytes = 1;
  CHECK(attn_checked_bytes(&bytes, 0, NULL, 8));
  CHECK_EQUAL(bytes, 8);
  CHECK(fits(&bytes, 2, 3, 5, 7));
  CHECK_EQUAL(bytes, 840);
  CHECK(fits(&bytes, 1, 1, 1, ATTN_MAX_BYTES / 4));
  CHECK_EQUAL(bytes, ATTN_MAX_BYTES);
  CHECK(fits(&bytes, 512, 512, 512, 1));
  CHECK_EQUAL(bytes, ATTN_MAX_BYTES);
  CHECK(!fits(&bytes, 1, 1, 1, ATTN_MAX_BYTES / 4 + 1));
  CHECK(!fits(&bytes, 512, 512, 513, 1));
}

static void products_that_wrap_in_32_or_64_bits_do_not_fit(void) {
  size_t bytes;
  CHECK(!fits(&bytes, 32768, 32768, 1, 1));     /* 2^32 bytes: 0 in 32 bits */
  CHECK(!fits(&bytes, 32768, 32768, 4, 1));     /* 2^34 */
  CHECK(!fits(&bytes, 65536, 65536, 65536, 1)); /* 2^50 */
  CHECK(!fits(&bytes, 65536, 65536, 65536, 65536));
  CHECK(!fits(&bytes, 1 << 30, 1 << 30, 4, 1)); /* 2^64: 0 in 64 bits */
  CHECK(!fits(&bytes, 1 << 30, 1 << 30, 1, 5));
  CHECK(!fits(&bytes, INT_MAX, INT_MAX, INT_MAX, INT_MAX));
  CHECK(!attn_checked_bytes(&bytes, 1, (int32_t[]){INT_MAX}, 1));
}

static void no_size_may_be_negative(void) {
  size_t bytes;
  CHECK(!fits(&bytes, -1, 1, 1, 1));
  CHECK(!fits(&bytes, 1, 1, 1, INT_MIN));
  CHECK(!fits(&bytes, 0, 1, -1, 1));
  CHECK(!fits(&bytes, -2, -3, 1, 1));
}

static void a_size_of_zero_needs_nothing_but_lets_no_other_axis_grow_beyond_the_limit(void) {
  size_t bytes = 1;
  CHECK(fits(&bytes, 3, 0, 5, 7));
  CHECK_EQUAL(bytes, 0);
  CHECK(fits(&bytes, 0, 0, 0, 0));
  CHECK_EQUAL(bytes, 0);
  CHECK(!fits(&bytes, 0, INT_MAX, 1, 1));
  CHECK(!fits(&bytes, INT_MAX, INT_MAX, INT_MAX, 0));
}

/* ---- text --------------------------------------------------------------------------------- */

static const char *written(const char *format, ...) {
  static char buffer[128];
  attn_text text = attn_text_in(buffer, sizeof buffer);
  va_list arguments;
  va_start(arguments, format);
  attn_text_add_list(&text, format, arguments);
  va_end(arguments);
  return buffer;
}

static void check_text(const char *actual, const char *expected) {
  CLAIM(strcmp(actual, expected) == 0, "\"%s\" should be \"%s\"", actual, expected);
}

static void integers_strings_and_percents_are_written(void) {
  check_text(written("%d %d %d", 0, -7, 1234567890), "0 -7 1234567890");
  check_text(written("%d %d", INT_MAX, INT_MIN), "2147483647 -2147483648");
  check_text(written("[%s|%s|%s]", "a", NULL, ""), "[a||]");
  check_text(written("100%% of %s", "it"), "100% of it");
  check_text(written("查询 %s", "键"), "查询 键");
}

static void numbers_have_seven_digits_and_no_zeros_behind(void) {
  static const struct {
    double number;
    const char *text;
  } cases[] = {{0, "0"},
               {-0.0, "0"},
               {1, "1"},
               {-1.5, "-1.5"},
               {10, "10"},
               {0.1f, "0.1"},
               {1.0 / 3, "0.3333333"},
               {-2.0 / 3, "-0.6666667"},
               {1024.5, "1024.5"},
               {1234567, "1234567"},
               {12345678, "12345680"},
               {1.23456749, "1.234567"},
               {1.23456751, "1.234568"},
               {-1e6, "-1000000"},
               {1e9, "1000000000"},
               {9876543210.0, "9876543000"},
               {1e10, "1e10"},
               {1e-4, "0.0001"},
               {0.00012345678, "0.0001234568"},
               {1e-5, "1e-5"},
               {1.25e-7, "1.25e-7"},
               {-FLT_MAX, "-3.402823e38"},
               {DBL_MAX, "1.797693e308"},
               {DBL_MIN, "2.225074e-308"},
               {5e-324, "4.940656e-324"},
               {INFINITY, "Infinity"},
               {-INFINITY, "-Infinity"},
               {NAN, "NaN"},
               {-NAN, "NaN"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_text(written("%g", cases[i].number), cases[i].text);
}

static void rounding_up_to_the_next_power_of_ten_carries(void) {
  check_text(written("%g", 9.99999951), "10");
  check_text(written("%g", 0.99999996), "1");
  check_text(written("%g", 99999.9999), "100000");
  check_text(written("%g", 0.000099999999), "0.0001");
  check_text(written("%g", 9999999999.0), "1e10");
  check_text(written("%g", 9.9999999e99), "1e100");
}

static void every_number_reads_back_within_half_a_digit(void) {
  for (int exponent = -1070; exponent < 1024; exponent++) {
    const double number = ldexp(exponent % 2 ? -1.3176543 : 1.7265193, exponent);
    const char *text = written("%g", number);
    char *end;
    const double read = strtod(text, &end);
    NOTE("%s", text);
    CHECK(*end == 0);
    CHECK(fabs(read - number) <= 0.501e-6 * fabs(number) + 5e-324);
    CHECK(strlen(text) <= 15);
  }
}

static void text_that_does_not_fit_is_cut_terminated_and_told(void) {
  for (size_t capacity = 1; capacity < 12; capacity++) {
    char buffer[16];
    memset(buffer, '#', sizeof buffer);
    attn_text text = attn_text_in(buffer, capacity);
    attn_text_add(&text, "%s%d", "abcdef", 1234);
    NOTE("capacity %zu", capacity);
    CHECK_EQUAL(text.cut, capacity < 11);
    CHECK_EQUAL(text.length, capacity < 11 ? capacity - 1 : 10);
    CHECK(memcmp(buffer, "abcdef1234", text.length) == 0);
    CHECK(buffer[text.length] == 0);
    CHECK(buffer[capacity] == '#');
  }
}

static void a_buffer_of_nothing_stays_untouched(void) {
  char byte = '#';
  attn_text text = attn_text_in(&byte, 0);
  attn_text_add(&text, "%s", "a");
  CHECK(text.cut);
  CHECK_EQUAL(text.length, 0);
  CHECK(byte == '#');
}

static void texts_are_equal_only_as_a_whole(void) {
  CHECK(attn_text_equal("", ""));
  CHECK(attn_text_equal("a.b", "a.b"));
  CHECK(!attn_text_equal("a", "ab"));
  CHECK(!attn_text_equal("ab", "a"));
  CHECK(!attn_text_equal("", "a"));
  CHECK_EQUAL(attn_text_length("键"), 3);
}

/* ---- random streams ----------------------------------------------------------------------- */

/* Philox 4x32-10 as its paper writes it, with the whole counter. */
static void philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
  uint32_t x[4], k[2] = {key[0], key[1]};
  memcpy(x, counter, sizeof x);
  for (int round = 0; round < 10; round++) {
    if (round > 0) k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
    const uint64_t left = UINT64_C(0xD2511F53) * x[0], right = UINT64_C(0xCD9E8D57) * x[2];
    const uint32_t next[4] = {(uint32_t)(right >> 32) ^ x[1] ^ k[0], (uint32_t)right,
                              (uint32_t)(left >> 32) ^ x[3] ^ k[1], (uint32_t)left};
    memcpy(x, next, sizeof x);
  }
  memcpy(out, x, sizeof x);
}

static void check_words(const uint32_t actual[4], const uint32_t expected[4]) {
  for (int i = 0; i < 4; i++) CHECK_EQUAL(actual[i], expected[i]);
}

static void the_reference_gives_the_published_answers(void) {
  static const struct {
    uint32_t counter[4], key[2], answer[4];
  } published[] = {
      {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  uint32_t words[4];
  for (int i = 0; i < 3; i++) {
    NOTE("vector %d", i);
    philox(words, published[i].counter, published[i].key);
    check_words(words, published[i].answer);
  }
  attn_random_block(words, (attn_random_key){{0, 0}}, 0);
  check_words(words, published[0].answer);
}

static void blocks_are_those_of_the_reference_for_counters_of_64_bits(void) {
  static const uint64_t counters[] = {0,         1, 2, 0xffffffff, 0x100000000, 0x123456789abcdef0,
                                      UINT64_MAX};
  for (int i = 0; i < 7; i++)
    for (uint32_t seed = 0; seed < 50; seed++) {
      const attn_random_key key = attn_random_key_from(seed, "weight", 6);
      const uint32_t counter[4] = {(uint32_t)counters[i], (uint32_t)(counters[i] >> 32)};
      uint32_t words[4], expected[4];
      attn_random_block(words, key, counters[i]);
      philox(expected, counter, key.word);
      NOTE("counter %#llx, seed %u", (unsigned long long)counters[i], seed);
      check_words(words, expected);
    }
}

static void words_by_the_row_are_those_of_the_blocks(void) {
  static const uint64_t starts[] = {0, 1, 2, 3, 5, 0x3fffffff8, UINT64_MAX / 2};
  const attn_random_key key = attn_random_key_from(9, "dropped", 7);
  for (int s = 0; s < 7; s++)
    for (int count = 0; count < 70; count++) {
      uint32_t words[71] = {0};
      words[count] = 0xabcdef01;
      attn_random_words(words, count, key, starts[s]);
      NOTE("from %#llx, %d words", (unsigned long long)starts[s], count);
      CHECK(words[count] == 0xabcdef01);
      for (int i = 0; i < count; i++) {
        const uint64_t at = starts[s] + (uint64_t)i;
        uint32_t block[4];
        attn_random_block(block, key, at / 4);
        CLAIM(words[i] == block[at % 4], "word %d", i);
      }
    }
}

static void every_seed_and_every_byte_of_a_name_gives_another_key(void) {
  static const char *const names[] = {"", "a", "b", "ab", "ba", "aa", "weight", "weighu", "键"};
  enum { NAMES = sizeof names / sizeof *names, SEEDS = 4 };
  static const uint32_t seeds[SEEDS] = {0, 1, 0x80000000, 0xffffffff};
  uint64_t keys[NAMES * SEEDS];
  for (int i = 0; i < NAMES * SEEDS; i++) {
    const char *name = names[i / SEEDS];
    const attn_random_key key = attn_random_key_from(seeds[i % SEEDS], name, strlen(name));
    keys[i] = (uint64_t)key.word[1] << 32 | key.word[0];
    for (int j = 0; j < i; j++) CLAIM(keys[i] != keys[j], "keys %d and %d are equal", i, j);
  }
  const attn_random_key short_key = attn_random_key_from(3, "weight", 5);
  const attn_random_key same_key = attn_random_key_from(3, "weigh", 5);
  CHECK(short_key.word[0] == same_key.word[0] && short_key.word[1] == same_key.word[1]);
}

static void streams_are_uniform_and_do_not_go_together(void) {
  enum { COUNT = 1 << 16 };
  static double stream[3][COUNT];
  const attn_random_key keys[3] = {attn_random_key_from(0, "query", 5),
                                   attn_random_key_from(1, "query", 5),
                                   attn_random_key_from(0, "key", 3)};
  for (int s = 0; s < 3; s++)
    for (uint32_t i = 0; i < COUNT; i += 4) {
      uint32_t words[4];
      attn_random_block(words, keys[s], i / 4);
      for (int lane = 0; lane < 4; lane++) stream[s][i + lane] = attn_random_unit(words[lane]);
    }
  /* Four standard deviations of a sum of COUNT products of two numbers of variance 1/12. */
  const double limit = 4 * sqrt(COUNT) / 12;
  for (int s = 0; s < 3; s++)
    for (int t = s; t < 3; t++)
      for (int lag = s == t; lag < 6; lag++) {
        double together = 0, sum = 0;
        for (int i = 0; i < COUNT; i++) {
          together += (stream[s][i] - 0.5) * (stream[t][(i + lag) % COUNT] - 0.5);
          sum += stream[s][i];
        }
        NOTE("streams %d and %d, lag %d", s, t, lag);
        CHECK_NEAR(together, 0, limit);
        CHECK_NEAR(sum / COUNT, 0.5, 4 / sqrt(12.0 * COUNT));
      }
}

static void units_reach_0_and_stay_below_1(void) {
  CHECK(attn_random_unit(0) == 0);
  CHECK(attn_random_unit(255) == 0);
  CHECK(attn_random_unit(256) == 0x1p-24f);
  CHECK(attn_random_unit(0x80000000) == 0.5f);
  CHECK(attn_random_unit(UINT32_MAX) == 1 - 0x1p-24f);
}

int main(void) {
  RUN(memory_is_aligned_wherever_the_block_starts);
  RUN(the_last_byte_of_the_block_can_be_taken_and_no_further);
  RUN(the_hook_is_asked_for_the_whole_block_and_only_when_it_is_full);
  RUN(a_hook_that_gives_too_little_changes_nothing);
  RUN(more_than_the_limit_is_refused_without_asking);
  RUN(sizes_up_to_the_limit_are_exact);
  RUN(products_that_wrap_in_32_or_64_bits_do_not_fit);
  RUN(no_size_may_be_negative);
  RUN(a_size_of_zero_needs_nothing_but_lets_no_other_axis_grow_beyond_the_limit);
  RUN(integers_strings_and_percents_are_written);
  RUN(numbers_have_seven_digits_and_no_zeros_behind);
  RUN(rounding_up_to_the_next_power_of_ten_carries);
  RUN(every_number_reads_back_within_half_a_digit);
  RUN(text_that_does_not_fit_is_cut_terminated_and_told);
  RUN(a_buffer_of_nothing_stays_untouched);
  RUN(texts_are_equal_only_as_a_whole);
  RUN(the_reference_gives_the_published_answers);
  RUN(blocks_are_those_of_the_reference_for_counters_of_64_bits);
  RUN(words_by_the_row_are_those_of_the_blocks);
  RUN(every_seed_and_every_byte_of_a_name_gives_another_key);
  RUN(streams_are_uniform_and_do_not_go_together);
  RUN(units_reach_0_and_stay_below_1);
  return report();
}

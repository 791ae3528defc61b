/*
 * What the core says about itself: the known answer, whatever the memory held before, and the
 * description, whose JSON is read here and compared with the compiler's layout.
 */
#include <stdlib.h>

#include "fixture.h"

/* ---- the known answer --------------------------------------------------------------------- */

static void the_answer_is_the_known_one_twice(void) {
  fresh();
  CHECK_EQUAL(attn_self_test(tape), ATTN_SELF_TEST_ANSWER);
  CHECK_EQUAL(attn_self_test(tape), ATTN_SELF_TEST_ANSWER);
}

static void the_answer_at_load_is_the_known_one(void) {
  fresh();
  CHECK_EQUAL(attn_load_test(tape), ATTN_LOAD_TEST_ANSWER);
  CHECK_OK();
  CHECK(attn_tape_first(tape) == NULL);
}

static void the_answer_leaves_an_empty_tape_in_order(void) {
  fresh();
  given("x", SHAPE(-1));
  CHECK_EQUAL(attn_self_test(tape), ATTN_SELF_TEST_ANSWER);
  CHECK_OK();
  CHECK(attn_tape_first(tape) == NULL);
}

static uint32_t answer_in(uint8_t *memory, size_t size) {
  attn_tape *dirty = attn_tape_new(memory, size, NULL);
  return dirty ? attn_self_test(dirty) : 0;
}

static void the_answer_does_not_depend_on_what_the_block_held(void) {
  enum { BYTES = 1 << 20 };
  for (int kind = 0; kind < 6; kind++) {
    static const uint8_t fills[] = {0, 0xAA, 0xFF, 0x7F};
    memset(block, fills[kind % 4], BYTES);
    random_state = (uint32_t)kind;
    if (kind > 3)
      for (int i = 0; i < BYTES; i++) block[i] = (uint8_t)random_word();
    NOTE("kind %d", kind);
    CHECK_EQUAL(answer_in(block, BYTES), ATTN_SELF_TEST_ANSWER);
  }
}

static void the_answer_does_not_depend_on_where_the_block_stands(void) {
  for (size_t start = 1; start < 64; start += 9) {
    NOTE("start %zu", start);
    CHECK_EQUAL(answer_in(block + start, 1 << 20), ATTN_SELF_TEST_ANSWER);
  }
}

static void too_little_memory_gives_another_answer_and_no_harm(void) {
  bool enough = false;
  for (size_t size = 500; size < 200000; size += 2803) {
    uint8_t *memory = malloc(size); /* of this very size: the sanitizer guards its end */
    const bool known = answer_in(memory, size) == ATTN_SELF_TEST_ANSWER;
    NOTE("%zu bytes", size);
    CHECK(known || !enough);
    enough = known;
    free(memory);
  }
  CHECK(enough);
}

/* ---- a reader of JSON --------------------------------------------------------------------- */

/* Steps over one value, or gives NULL where it is not well-formed. */
static const char *skip_value(const char *at);

static const char *skip_string(const char *at) {
  if (!at || *at++ != '"') return NULL;
  while (*at && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ') at++;
  return *at == '"' ? at + 1 : NULL;
}

static const char *skip_list(const char *at, char close, bool keyed) {
  if (*++at == close) return at + 1;
  for (;; at++) {
    if (keyed) {
      at = skip_string(at);
      if (!at || *at++ != ':') return NULL;
    }
    at = skip_value(at);
    if (!at || (*at != ',' && *at != close)) return NULL;
    if (*at == close) return at + 1;
  }
}

static const char *skip_value(const char *at) {
  if (*at == '{') return skip_list(at, '}', true);
  if (*at == '[') return skip_list(at, ']', false);
  if (*at == '"') return skip_string(at);
  char *end;
  strtol(at, &end, 10);
  return end == at ? NULL : end;
}

/* The value of a key of an object, or NULL. */
static const char *member(const char *object, const char *key) {
  const size_t length = strlen(key);
  for (const char *at = object; at && *at != '}';) {
    const char *name = at + 2;
    const char *value = skip_string(at + 1) + 1;
    if (strncmp(name, key, length) == 0 && name[length] == '"') return value;
    at = skip_value(value);
  }
  return NULL;
}

static const char *path(const char *object, const char *first, const char *second) {
  const char *inner = member(object, first);
  const char *value = inner ? member(inner, second) : NULL;
  CLAIM(value, "there is no %s.%s", first, second);
  return value ? value : "";
}

static char described[20000];

static size_t describe(void) { return attn_describe(described, sizeof described); }

/* ---- the description ---------------------------------------------------------------------- */

static void the_description_is_one_json_object(void) {
  const size_t length = describe();
  CHECK_EQUAL(length, strlen(described));
  CHECK(described[0] == '{' && skip_value(described) == described + length);
  CHECK(length < 16384); /* what the border gives it */
}

static void a_buffer_too_small_by_one_is_told_and_not_overrun(void) {
  const size_t length = describe();
  char *small = malloc(length + 1);
  CHECK_EQUAL(attn_describe(small, length + 1), length);
  CHECK(strcmp(small, described) == 0);
  free(small);
  small = malloc(length);
  CHECK_EQUAL(attn_describe(small, length), 0);
  free(small);
  CHECK_EQUAL(attn_describe(NULL, 0), 0);
}

#define CHECK_NUMBER(first, second, number) \
  CHECK_EQUAL(strtol(path(described, first, second), NULL, 10), number)

static void status_codes_reasons_and_flags_have_their_numbers(void) {
  describe();
#define CHECK_STATUS(name, value) CHECK_NUMBER("status", #name, ATTN_##name);
  ATTN_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
  CHECK_NUMBER("reasons", "validLength", 1);
  CHECK_NUMBER("reasons", "causal", 2);
  CHECK_NUMBER("reasons", "window", 4);
  CHECK_NUMBER("reasons", "cell", 8);
  CHECK_NUMBER("reasons", "bias", 16);
  CHECK_NUMBER("rowFlags", "empty", 1);
  CHECK_NUMBER("rowFlags", "notFinite", 2);
}

/* A choice is its place in the list. */
static void check_choice(const char *list, int value, const char *text) {
  const char *choices = member(described, "choices");
  const char *at = choices ? member(choices, list) : NULL;
  CLAIM(at, "there is no choices.%s", list);
  if (!at) return;
  for (at++; value > 0; value--) at = skip_string(at) + 1;
  CLAIM(strncmp(at + 1, text, strlen(text)) == 0 && at[1 + strlen(text)] == '"',
        "%s should be the choice of %s at %.30s", text, list, at);
}

static void choices_stand_at_their_values(void) {
  describe();
  check_choice("score", ATTN_SCORE_SCALED_DOT, "scaled-dot");
  check_choice("score", ATTN_SCORE_GAUSSIAN, "gaussian");
  check_choice("normalise", ATTN_NORMALISE_RELU, "relu");
  check_choice("causal", ATTN_CAUSAL_TOP_LEFT, "top-left");
  check_choice("scale", ATTN_SCALE_OFF, "off");
  check_choice("fill", ATTN_FILL_GIVEN, "given");
  check_choice("pairing", ATTN_PAIRING_INTERLEAVED, "interleaved");
  check_choice("activation", ATTN_ACTIVATION_GELU_TANH, "gelu-tanh");
  check_choice("norm", ATTN_NORM_PRE, "pre");
  check_choice("distribution", ATTN_DISTRIBUTION_XAVIER, "xavier");
  check_choice("position", ATTN_POSITION_ALIBI, "alibi");
}

static size_t struct_size(const char *name) {
  const char *layout = path(described, "structs", name);
  return *layout ? (size_t)strtol(member(layout, "size"), NULL, 10) : 0;
}

static void check_offset(const char *type, const char *field, size_t offset) {
  const char *layout = path(described, "structs", type);
  const char *value = *layout ? member(member(layout, "fields"), field) : NULL;
  NOTE("%s.%s", type, field);
  CHECK(value != NULL);
  if (value) CHECK_EQUAL(strtol(value + 1, NULL, 10), offset);
}

static void fields_stand_where_the_compiler_put_them(void) {
  describe();
#define CHECK_FIELD(type, field) check_offset(#type, #field, offsetof(attn_##type, field))
  CHECK_FIELD(tensor, data);
  CHECK_FIELD(tensor, shape);
  CHECK_FIELD(tensor, inputs);
  CHECK_FIELD(tensor, next);
  CHECK_FIELD(texts, lengths);
  CHECK_FIELD(texts, count);
  CHECK_FIELD(attention_options, score);
  CHECK_FIELD(attention_options, global_tokens);
  CHECK_FIELD(attention_options, temperature);
  CHECK_FIELD(attention_options, seed);
  CHECK_FIELD(attention_options, rotary_base);
  CHECK_FIELD(attention_options, valid_lengths);
  CHECK_FIELD(attention_options, score_width);
  CHECK_FIELD(multi_head_weights, output_bias);
  CHECK_FIELD(feed_forward_weights, linear2_bias);
  CHECK_FIELD(encoder_layer_weights, norm2_bias);
  CHECK_FIELD(encoder_layer_weights, feed_forward);
  CHECK_FIELD(encoder_layer_options, eps);
  CHECK_FIELD(attention_layer_options, hiddens);
  CHECK_FIELD(attention_layer_options, parameter_seed);
  CHECK_FIELD(transformer_config, feed_forward);
  CHECK_FIELD(transformer_config, seed);
  CHECK_FIELD(transformer_batch, target_lengths);
#undef CHECK_FIELD
#define CHECK_SIZE(type) CHECK_EQUAL(struct_size(#type), sizeof(attn_##type))
  CHECK_SIZE(tensor);
  CHECK_SIZE(texts);
  CHECK_SIZE(attention_options);
  CHECK_SIZE(multi_head_weights);
  CHECK_SIZE(feed_forward_weights);
  CHECK_SIZE(encoder_layer_weights);
  CHECK_SIZE(encoder_layer_options);
  CHECK_SIZE(attention_layer_options);
  CHECK_SIZE(transformer_config);
  CHECK_SIZE(transformer_batch);
#undef CHECK_SIZE
}

static size_t bytes_of(const char *field, const char *kind) {
  if (strncmp(kind, "struct:", 7) == 0) {
    char name[64] = "";
    strncat(name, kind + 7, strcspn(kind + 7, "\""));
    return struct_size(name);
  }
  const bool number = *kind == 'i' || *kind == 'u' || *kind == 'f' || *kind == 'c';
  const int count = strncmp(field, "shape\"", 6) == 0 || strncmp(field, "axes\"", 5) == 0
                        ? ATTN_MAX_RANK
                    : strncmp(field, "inputs\"", 7) == 0 ? ATTN_MAX_INPUTS
                                                         : 1;
  return (number ? 4 : sizeof(void *)) * (size_t)count;
}

/* Fields follow each other with no more than an alignment between them: none was forgotten. */
static void check_no_gap(const char *type, const char *layout) {
  size_t end = 0, step = sizeof(void *);
  int count = 0;
  for (const char *at = member(layout, "fields"); *at != '}'; count++) {
    const char *field = at + 2;
    char *comma;
    const char *value = skip_string(at + 1) + 1;
    const size_t offset = (size_t)strtol(value + 1, &comma, 10);
    NOTE("%s.%.20s", type, field);
    CHECK(offset == end || (offset == (end + step - 1) / step * step));
    end = offset + bytes_of(field, comma + 2);
    at = skip_value(value);
  }
  NOTE("%s", type);
  CHECK(count >= 3);
  CHECK_EQUAL((end + step - 1) / step * step, (struct_size(type) + step - 1) / step * step);
}

static void no_field_is_forgotten(void) {
  describe();
  static const char *const types[] = {"tensor",
                                      "texts",
                                      "attention_options",
                                      "multi_head_weights",
                                      "feed_forward_weights",
                                      "encoder_layer_weights",
                                      "encoder_layer_options",
                                      "attention_layer_options",
                                      "transformer_config",
                                      "transformer_batch"};
  for (int i = 0; i < 10; i++) {
    const char *layout = path(described, "structs", types[i]);
    if (*layout) check_no_gap(types[i], layout);
  }
}

int main(void) {
  RUN(the_answer_is_the_known_one_twice);
  RUN(the_answer_at_load_is_the_known_one);
  RUN(the_answer_leaves_an_empty_tape_in_order);
  RUN(the_answer_does_not_depend_on_what_the_block_held);
  RUN(the_answer_does_not_depend_on_where_the_block_stands);
  RUN(too_little_memory_gives_another_answer_and_no_harm);
  RUN(the_description_is_one_json_object);
  RUN(a_buffer_too_small_by_one_is_told_and_not_overrun);
  RUN(status_codes_reasons_and_flags_have_their_numbers);
  RUN(choices_stand_at_their_values);
  RUN(fields_stand_where_the_compiler_put_them);
  RUN(no_field_is_forgotten);
  return report();
}

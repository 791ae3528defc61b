/*
 * The Transformer as a whole: its parameters, the tensors it leaves, what padding, order and the
 * future may and may not change, and the tokens it refuses. Its numbers stand against PyTorch's in
 * tests/node.
 */
#include "fixture.h"

static attn_transformer_config config;

/* D2L's translation model. */
static void start(void) {
  fresh();
  config = attn_transformer_defaults();
  config.source_vocab = 184;
  config.target_vocab = 201;
  config.attention_bias = 0;
  config.initialiser = ATTN_INITIALISER_XAVIER;
  config.seed = 7;
}

static attn_transformer *build(void) {
  attn_transformer *model = attn_transformer_new(tape, &config);
  attn_tape_keep(tape);
  return model;
}

static attn_tensor *numbers(const char *name, int32_t rank, const int32_t *shape,
                            const attn_real *values) {
  attn_tensor *tensor = attn_input(tape, name, rank, shape, (const char *[]){"B", "T"});
  for (ptrdiff_t i = 0; tensor && i < attn_length(tensor); i++) tensor->data[i] = values[i];
  return attn_input_ready(tape, tensor);
}

enum { BATCH = 2, SOURCE = 4, TARGET = 3 };
static const attn_real source_ids[] = {5, 17, 3, 1, 9, 3, 1, 1};
static const attn_real target_ids[] = {2, 40, 7, 2, 11, 1};

static attn_transformer_batch batch_of(const attn_real *source, const attn_real *target) {
  return (attn_transformer_batch){
      .source = numbers("source", SHAPE(BATCH, SOURCE), source),
      .source_lengths = numbers("source_lengths", SHAPE(BATCH), (attn_real[]){4, 2}),
      .target = numbers("target", SHAPE(BATCH, TARGET), target)};
}

static const attn_tensor *forward(const attn_transformer *model, const attn_real *source,
                                  const attn_real *target, bool training, uint32_t seed) {
  attn_tape_rewind(tape);
  const attn_transformer_batch batch = batch_of(source, target);
  const attn_tensor *logits = attn_transformer_forward(tape, model, &batch, training, seed);
  CHECK_OK();
  return logits;
}

static ptrdiff_t parameter_count(void) {
  ptrdiff_t count = 0;
  for (const attn_tensor *t = attn_tape_first(tape); t; t = t->next)
    if (t->requires_gradient) count += attn_length(t);
  return count;
}

/* ---- parameters --------------------------------------------------------------------------- */

static void d2ls_model_has_60937_parameters(void) {
  start();
  build();
  CHECK_EQUAL(parameter_count(), 60937);
}

static void each_option_adds_its_parameters(void) {
  static const struct {
    int32_t *option;
    int32_t value, more;
  } rows[] = {{&config.attention_bias, 1, 6 * 4 * 32},
              {&config.final_norm, 1, 2 * 64},
              {&config.position, ATTN_POSITION_LEARNED, 2 * 1000 * 32},
              {&config.position, ATTN_POSITION_ALIBI, 0},
              {&config.bias, 0, -(4 * (64 + 32) + 10 * 32 + 201)},
              {&config.decoder_layers, 3, 12576},
              {&config.encoder_layers, 1, -8416},
              {&config.kind, ATTN_TRANSFORMER_ENCODER, 6072 - (6432 + 2 * 12576 + 6633)},
              {&config.kind, ATTN_TRANSFORMER_DECODER, -(5888 + 2 * 8416 + 2 * (4096 + 64))}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    start();
    *rows[i].option = rows[i].value;
    build();
    NOTE("row %d", (int)i);
    CHECK_OK();
    CHECK_EQUAL(parameter_count(), 60937 + rows[i].more);
  }
}

static double largest(const attn_tensor *tensor) {
  double most = 0;
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) most = fmax(most, fabs(tensor->data[i]));
  return most;
}

/* Uniform ±bound: the largest of many numbers lies just below. */
static void check_bound(const char *name, double bound) {
  const double most = largest(found(name));
  NOTE("%s", name);
  CLAIM(most <= bound * (1 + slack) && most > 0.9 * bound, "%g is not near %g", most, bound);
}

static void initial_values_are_those_of_their_initialiser(void) {
  start();
  config.attention_bias = 1;
  build();
  check_bound("encoder.1.attention.query.weight", sqrt(6. / 64));
  check_bound("decoder.0.cross_attention.output.bias", sqrt(1. / 32));
  check_bound("decoder.1.feed_forward.linear2.weight", sqrt(6. / 96));
  check_bound("decoder.1.feed_forward.linear2.bias", sqrt(1. / 64));
  check_bound("output.weight", sqrt(6. / 233));
  start();
  config.attention_bias = 1;
  config.initialiser = ATTN_INITIALISER_TORCH;
  build();
  check_bound("encoder.1.attention.query.weight", sqrt(6. / 128));
  check_bound("encoder.1.attention.output.weight", sqrt(6. / 64));
  CHECK(largest(found("decoder.0.cross_attention.output.bias")) == 0);
  check_bound("output.weight", sqrt(1. / 32));
  CHECK_BITS(found("decoder.1.norm3.weight")->data[31], 1);
  CHECK_BITS(found("decoder.1.norm3.bias")->data[31], 0);
}

static void the_seed_draws_the_parameters(void) {
  attn_real first[3];
  for (int i = 0; i < 3; i++) {
    start();
    if (i == 1) config.seed = 8;
    build();
    first[i] = found("decoder.1.self_attention.key.weight")->data[100];
  }
  CHECK(first[0] != first[1]);
  CHECK_BITS(first[2], first[0]);
}

/* ---- forward ------------------------------------------------------------------------------ */

static void check_shape(const char *name, int32_t rank, const int32_t *shape) {
  const attn_tensor *tensor = found(name);
  NOTE("%s", name);
  CHECK(tensor && tensor->rank == rank);
  for (int32_t i = 0; tensor && i < rank; i++) CHECK_EQUAL(tensor->shape[i], shape[i]);
}

static void all_three_kinds_of_weights_are_there(void) {
  for (int32_t norm = ATTN_NORM_POST; norm <= ATTN_NORM_PRE; norm++) {
    start();
    config.norm = config.final_norm = norm;
    forward(build(), source_ids, target_ids, norm, 1);
    check_shape("encoder.0.attention.weights", SHAPE(2, 4, 4, 4));
    check_shape("encoder.1.attention.weights", SHAPE(2, 4, 4, 4));
    check_shape("decoder.0.self_attention.weights", SHAPE(2, 4, 3, 3));
    check_shape("decoder.1.cross_attention.weights", SHAPE(2, 4, 3, 4));
    check_shape("decoder.1.output", SHAPE(2, 3, 32));
    check_shape("logits", SHAPE(2, 3, 201));
  }
}

static void padding_changes_nothing_and_the_future_nothing_before_it(void) {
  static const attn_real other_padding[] = {5, 17, 3, 1, 9, 3, 100, 60};
  static const attn_real other_future[] = {2, 40, 99, 2, 11, 98};
  attn_real before[BATCH * TARGET * 201];
  for (int32_t position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++) {
    start();
    config.position = position;
    const attn_transformer *model = build();
    const attn_tensor *logits = forward(model, source_ids, target_ids, false, 0);
    memcpy(before, logits->data, sizeof before);
    logits = forward(model, other_padding, target_ids, false, 0);
    CHECK(memcmp(before, logits->data, sizeof before) == 0);
    logits = forward(model, source_ids, other_future, false, 0);
    NOTE("position %d", position);
    for (int b = 0; b < BATCH; b++) {
      const ptrdiff_t row = b * TARGET * 201;
      CHECK(memcmp(before + row, logits->data + row, 2 * 201 * sizeof *before) == 0);
      CHECK(memcmp(before + row + 402, logits->data + row + 402, 201 * sizeof *before) != 0);
    }
  }
}

static void each_kind_has_logits_for_its_tokens(void) {
  start();
  config.kind = ATTN_TRANSFORMER_ENCODER;
  forward(build(), source_ids, target_ids, false, 0);
  check_shape("logits", SHAPE(2, 4, 184));
  CHECK(attn_tape_find(tape, "target.embedding") == NULL);
  start();
  config.kind = ATTN_TRANSFORMER_DECODER;
  forward(build(), source_ids, target_ids, false, 0);
  check_shape("logits", SHAPE(2, 3, 201));
  check_shape("decoder.1.self_attention.weights", SHAPE(2, 4, 3, 3));
  CHECK(attn_tape_find(tape, "source.embedding") == NULL);
}

static void dropout_is_for_training_and_follows_its_seed(void) {
  static float *const places[] = {&config.embedding_dropout, &config.attention_dropout,
                                  &config.feed_forward_dropout, &config.residual_dropout};
  attn_real seen[3][8];
  for (int place = 0; place < 4; place++) {
    start();
    *places[place] = 0.25f;
    const attn_transformer *model = build();
    for (int i = 0; i < 3; i++)
      memcpy(seen[i], forward(model, source_ids, target_ids, i > 0, i == 2)->data, sizeof seen[i]);
    NOTE("place %d", place);
    CHECK(memcmp(seen[0], seen[1], sizeof seen[0]) != 0);
    CHECK(memcmp(seen[1], seen[2], sizeof seen[0]) != 0);
    memcpy(seen[0], forward(model, source_ids, target_ids, true, 0)->data, sizeof seen[0]);
    CHECK(memcmp(seen[0], seen[1], sizeof seen[0]) == 0);
  }
}

/* ---- what it refuses ---------------------------------------------------------------------- */

static void sizes_out_of_range_are_named(void) {
  static const struct {
    int32_t *option;
    int32_t value, status;
    const char *message;
  } rows[] = {
      {&config.heads, 48, ATTN_BAD_SHAPE, "hiddens 32 is not a multiple of heads 48"},
      {&config.heads, 0, ATTN_BAD_VALUE, "heads 0; there must be at least 1"},
      {&config.target_vocab, 0, ATTN_BAD_VALUE, "targetVocab 0; there must be at least 1"},
      {&config.decoder_layers, -1, ATTN_BAD_VALUE, "layers -1; there must be at least 1"},
      {&config.encoder_layers, 1 << 30, ATTN_TOO_BIG, NULL},
      {&config.hiddens, 1 << 20, ATTN_TOO_BIG, NULL},
      {&config.hiddens, INT32_MAX, ATTN_TOO_BIG,
       "hiddens 2147483647; there can be at most 16777216"},
      {&config.kind, 3, ATTN_BAD_VALUE, "kind 3 is unknown; it must be 0 to 2"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    start();
    *rows[i].option = rows[i].value;
    CHECK(attn_transformer_new(tape, &config) == NULL);
    NOTE("row %d", (int)i);
    CHECK_FAILED(rows[i].status, rows[i].message ? rows[i].message : attn_tape_message(tape));
  }
  start();
  config.residual_dropout = 1;
  CHECK(attn_transformer_new(tape, &config) == NULL);
  CHECK_FAILED(ATTN_BAD_VALUE, "the dropout 1 of the residual sums must be at least 0 and below 1");
}

static void check_refused(const attn_transformer *model, attn_transformer_batch batch,
                          attn_status status, const char *message) {
  CHECK(attn_transformer_forward(tape, model, &batch, false, 0) == NULL);
  CHECK_FAILED(status, message);
  attn_tape_rewind(tape);
}

static void tokens_that_are_none_are_named(void) {
  start();
  const attn_transformer *model = build();
  attn_transformer_batch batch = batch_of(source_ids, target_ids);
  batch.source = numbers("source", SHAPE(1, 2), (attn_real[]){3, 184});
  batch.source_lengths = NULL;
  check_refused(model, batch, ATTN_BAD_VALUE,
                "source holds the id 184; a vocabulary of 184 has the ids 0 to 183");
  batch = batch_of(source_ids, target_ids);
  batch.source_lengths = numbers("source_lengths", SHAPE(2), (attn_real[]){1, 0});
  check_refused(model, batch, ATTN_BAD_VALUE, "sentence 1 of the source is empty");
  batch = batch_of(source_ids, target_ids);
  batch.target = numbers("target", SHAPE(2, 0), NULL);
  check_refused(model, batch, ATTN_BAD_VALUE, "sentence 0 of the target is empty");
  batch = batch_of(source_ids, target_ids);
  batch.target = numbers("target", SHAPE(1, 3), target_ids);
  check_refused(model, batch, ATTN_BAD_SHAPE,
                "there are 2 source sentences and 1 target sentences; they must agree");
  batch = batch_of(source_ids, target_ids);
  batch.target = NULL;
  check_refused(model, batch, ATTN_BAD_VALUE, "this model needs the tokens of a target");
  batch = batch_of(source_ids, target_ids);
  batch.source = given("source", SHAPE(1, 1001));
  check_refused(model, batch, ATTN_BAD_SHAPE,
                "source has 1001 tokens; the model's maxLength is 1000");
  CHECK(forward(model, source_ids, target_ids, false, 0) != NULL);
}

int main(void) {
  RUN(d2ls_model_has_60937_parameters);
  RUN(each_option_adds_its_parameters);
  RUN(initial_values_are_those_of_their_initialiser);
  RUN(the_seed_draws_the_parameters);
  RUN(all_three_kinds_of_weights_are_there);
  RUN(padding_changes_nothing_and_the_future_nothing_before_it);
  RUN(each_kind_has_logits_for_its_tokens);
  RUN(dropout_is_for_training_and_follows_its_seed);
  RUN(sizes_out_of_range_are_named);
  RUN(tokens_that_are_none_are_named);
  return report();
}

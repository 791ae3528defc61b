/*
 * Sequence to sequence, with and without attention, against the same in PyTorch: logits, weights,
 * loss and every gradient; decoding step by step against the whole.
 */
#include "models/seq2seq.h"

#include "derivative.h"
#include "golden.h"

static attn_seq2seq *model;
static attn_transformer_batch batch;
static const attn_tensor *labels, *label_lengths;

/* The golden case's model, filled with its parameters. */
static void golden_model(void) {
  fresh();
  attn_seq2seq_config config = attn_seq2seq_defaults();
  config.attention = (int32_t)golden_number("attention");
  config.layers = (int32_t)golden_number("layers");
  config.source_vocab = (int32_t)golden_number("source_vocab");
  config.target_vocab = (int32_t)golden_number("target_vocab");
  config.embedding = (int32_t)golden_number("embedding");
  config.hiddens = (int32_t)golden_number("hiddens");
  model = attn_seq2seq_new(tape, &config);
  CHECK_OK();
  for (attn_tensor *p = attn_tape_first(tape); p; p = p->next) {
    const char *at = golden_at(p->name);
    CLAIM(at, "PyTorch has no parameter %s", p->name);
    if (!at) continue;
    const int count = golden_list(strstr(at, "\"data\""), golden_numbers, GOLDEN_NUMBERS);
    CHECK_EQUAL(count, attn_length(p));
    for (int i = 0; i < count; i++) p->data[i] = (attn_real)golden_numbers[i];
  }
}

static void models_agree_with_pytorch(void) {
  for (golden_open("seq2seq"); golden_next();) {
    golden_model();
    attn_tape_keep(tape);
    batch.source = golden_parameter("source");
    batch.source_lengths = golden_parameter("source_lengths");
    batch.target = golden_parameter("target");
    const attn_tensor *logits = attn_seq2seq_forward(tape, model, &batch, true, 1);
    attn_tensor *loss =
        attn_cross_entropy(tape, "loss", logits, golden_parameter("labels"),
                           golden_parameter("label_lengths"), ATTN_REDUCTION_D2L_V1);
    CHECK_EQUAL(attn_backward(tape, loss), ATTN_OK);
    CHECK_OK();
    if (!logits || !loss) continue;
    CHECK_GOLDEN(logits->data, attn_length(logits), "logits");
    CHECK_GOLDEN(loss->data, 1, "loss");
    if (golden_at("weights")) {
      const attn_tensor *weights = found("decoder.attention.weights");
      CHECK_GOLDEN(weights->data, attn_length(weights), "weights");
      CHECK(weights->rank == 4 && weights->shape[1] == 1 && weights->sum_axis == 3);
    }
    for (const attn_tensor *p = attn_tape_first(tape); p && p->op[0] == 'p'; p = p->next) {
      if (strchr(p->name, '.') == NULL) continue; /* ids and lengths of the case */
      char key[80];
      snprintf(key, sizeof key, "d_%s", p->name);
      CHECK_GOLDEN(p->gradient, attn_length(p), key);
    }
  }
}

static attn_tensor *ids(const char *name, int sentences, int length, int vocabulary) {
  attn_tensor *tensor = given(name, SHAPE(sentences, length));
  for (int i = 0; i < sentences * length; i++)
    tensor->data[i] = (attn_real)random_below(vocabulary);
  return tensor;
}

static void small_model(int32_t attention, int32_t layers) {
  fresh();
  attn_seq2seq_config config = attn_seq2seq_defaults();
  config.attention = attention;
  config.source_vocab = 9;
  config.target_vocab = 8;
  config.embedding = 3;
  config.hiddens = 5;
  config.layers = layers;
  config.dropout = 0.25f;
  config.seed = 3;
  model = attn_seq2seq_new(tape, &config);
}

static void given_batch(int steps) {
  batch.source = ids("source", 3, 4, 9);
  batch.target = ids("target", 3, steps, 8);
  labels = ids("labels", 3, steps, 8);
  attn_tensor *lengths = given("lengths", SHAPE(3));
  for (int b = 0; b < 3; b++) lengths->data[b] = (attn_real)(4 - b);
  batch.source_lengths = label_lengths = lengths;
}

static attn_tensor *loss_with_dropout(void) {
  return attn_cross_entropy(tape, "loss", attn_seq2seq_forward(tape, model, &batch, true, 11),
                            labels, label_lengths, ATTN_REDUCTION_MEAN);
}

static void gradients_pass_through_dropout_layers_and_steps(void) {
  for (int attention = 0; attention < 2; attention++)
    for (int layers = 1; layers <= 2; layers++) {
      NOTE("attention %d, layers %d", attention, layers);
      small_model(attention, layers);
      given_batch(4);
      CHECK_GRADIENTS(loss_with_dropout);
    }
}

static void decoding_token_by_token_is_the_whole(void) {
  for (int attention = 0; attention < 2; attention++) {
    NOTE("attention %d", attention);
    small_model(attention, 2);
    given_batch(10);
    const attn_tensor *whole = attn_seq2seq_forward(tape, model, &batch, false, 0);
    const attn_seq2seq_pass pass = {model, false, 0};
    attn_seq2seq_state state;
    CHECK(attn_seq2seq_encode(tape, &pass, batch.source, batch.source_lengths, &state));
    for (int t = 0; t < 10; t++) {
      const attn_tensor *token = attn_slice(tape, "token", batch.target, 1, t, 1);
      const attn_tensor *logits = attn_seq2seq_decode(tape, &pass, &state, token);
      CHECK(equal_tensors(logits, attn_slice(tape, "row", whole, 1, t, 1)));
      CHECK_EQUAL(state.position, t + 1);
    }
    CHECK_OK();
  }
}

static void padding_of_the_source_is_not_attended_to(void) {
  small_model(ATTN_SEQ2SEQ_ATTENTION_BAHDANAU, 1);
  given_batch(3);
  attn_seq2seq_forward(tape, model, &batch, false, 0);
  const attn_tensor *weights = found("decoder.attention.weights");
  for (int b = 0; b < 3; b++)
    for (int t = 0; t < 3; t++) {
      const attn_real *row = weights->data + (b * 3 + t) * 4;
      for (int j = 0; j < 4; j++) CHECK(j < 4 - b ? row[j] > 0 : row[j] == 0);
    }
  CHECK(equal_tensors(attn_slice(tape, "row", weights, 2, 1, 1),
                      found("decoder.1.attention.weights")));
}

static void dropout_is_for_training_and_follows_the_seed(void) {
  small_model(ATTN_SEQ2SEQ_ATTENTION_BAHDANAU, 2);
  given_batch(3);
  const attn_tensor *calm = attn_seq2seq_forward(tape, model, &batch, false, 1);
  CHECK(equal_tensors(calm, attn_seq2seq_forward(tape, model, &batch, false, 2)));
  const attn_tensor *first = attn_seq2seq_forward(tape, model, &batch, true, 1);
  CHECK(equal_tensors(first, attn_seq2seq_forward(tape, model, &batch, true, 1)));
  CHECK(!equal_tensors(first, calm));
  CHECK(!equal_tensors(first, attn_seq2seq_forward(tape, model, &batch, true, 2)));
}

/* ---- decoding ----------------------------------------------------------------------------- */

enum { NEW_TOKENS = 6 };

/* One padded sentence of 3 tokens, and the first token. */
static void given_sentence(void) {
  attn_tape_rewind(tape);
  batch.source = ids("source", 1, 5, 9);
  attn_tensor *length = given("length", SHAPE(1));
  length->data[0] = 3;
  batch.source_lengths = length;
}

static const attn_tensor *translate(const attn_decode_options *options) {
  given_sentence();
  attn_tensor *start = given("start", SHAPE(1, 1));
  start->data[0] = 1;
  return attn_seq2seq_translate(tape, model, batch.source, batch.source_lengths, start, options);
}

/* Σ log p of tokens behind the first, by the whole pass. */
static double log_probability(const attn_real *tokens, int count) {
  random_state = 1;
  given_sentence();
  attn_tensor *target = given("target", SHAPE(1, count));
  for (int t = 0; t < count; t++) target->data[t] = t ? tokens[t - 1] : 1;
  batch.target = target;
  const attn_tensor *logits = attn_seq2seq_forward(tape, model, &batch, false, 0);
  double sum = 0;
  for (int t = 0; t < count; t++) {
    const attn_real *row = logits->data + t * 8;
    double powers = 0;
    for (int v = 0; v < 8; v++) powers += exp(row[v]);
    sum += row[(int)tokens[t]] - log(powers);
  }
  return sum;
}

static void translations_are_worth_what_the_whole_pass_says(void) {
  for (int attention = 0; attention < 2; attention++)
    for (int method = ATTN_DECODE_METHOD_GREEDY; method <= ATTN_DECODE_METHOD_SAMPLE; method++) {
      NOTE("attention %d, method %d", attention, method);
      small_model(attention, 2);
      attn_tape_keep(tape);
      attn_decode_options options = attn_decode_defaults();
      options.method = method;
      options.max_length = NEW_TOKENS;
      options.beams = 3;
      options.length_penalty = 0;
      random_state = 1;
      const attn_tensor *found_tokens = translate(&options);
      CHECK_OK();
      if (!found_tokens) continue;
      const int rows = found_tokens->shape[0];
      CHECK_EQUAL(rows, method == ATTN_DECODE_METHOD_BEAM ? 3 : 1);
      attn_real tokens[3 * NEW_TOKENS];
      double scores[3];
      memcpy(tokens, found_tokens->data, (size_t)rows * NEW_TOKENS * sizeof *tokens);
      for (int row = 0; row < rows; row++) scores[row] = found("decoded_scores")->data[row];
      for (int row = 0; row < rows; row++)
        CHECK_NEAR(scores[row], log_probability(tokens + row * NEW_TOKENS, NEW_TOKENS), 20 * slack);
    }
}

static void greedy_takes_the_likeliest_token_each_time(void) {
  small_model(ATTN_SEQ2SEQ_ATTENTION_BAHDANAU, 2);
  attn_tape_keep(tape);
  attn_decode_options options = attn_decode_defaults();
  options.max_length = NEW_TOKENS;
  random_state = 1;
  const attn_tensor *tokens = translate(&options);
  CHECK_OK();
  attn_real greedy[NEW_TOKENS];
  memcpy(greedy, tokens->data, sizeof greedy);
  for (int t = 0; t < NEW_TOKENS; t++) {
    const double best = log_probability(greedy, t + 1);
    attn_real other[NEW_TOKENS];
    memcpy(other, greedy, sizeof other);
    for (int v = 0; v < 8; v++) {
      other[t] = (attn_real)v;
      CHECK(log_probability(other, t + 1) <= best);
    }
  }
}

/* In D2L's way each step's context is the decoder's own state before it. */
static void the_context_of_d2l_is_the_decoders_own_state(void) {
  for (int attention = 0; attention < 2; attention++) {
    NOTE("attention %d", attention);
    small_model(attention, 2);
    attn_tape_keep(tape);
    attn_decode_options options = attn_decode_defaults();
    options.max_length = NEW_TOKENS;
    attn_real correct[NEW_TOKENS], as_d2l[NEW_TOKENS];
    double scores[2];
    for (int as = 0; as < 2; as++) {
      options.positions = as ? ATTN_DECODE_POSITIONS_AS_D2L : ATTN_DECODE_POSITIONS_CORRECT;
      random_state = 1;
      memcpy(as ? as_d2l : correct, translate(&options)->data, sizeof correct);
      scores[as] = found("decoded_scores")->data[0];
    }
    if (attention) {
      CHECK(memcmp(correct, as_d2l, sizeof correct) == 0 && scores[0] == scores[1]);
      continue;
    }
    CHECK(scores[0] != scores[1]);
    random_state = 1;
    given_sentence();
    const attn_seq2seq_pass pass = {model, false, 0};
    attn_seq2seq_state state;
    attn_seq2seq_encode(tape, &pass, batch.source, batch.source_lengths, &state);
    for (int t = 0; t < NEW_TOKENS; t++) {
      attn_tensor *token = given("token", SHAPE(1, 1));
      token->data[0] = t ? as_d2l[t - 1] : 1;
      state.context = state.hidden[1];
      const attn_tensor *logits = attn_seq2seq_decode(tape, &pass, &state, token);
      for (int v = 0; v < 8; v++) CHECK(logits->data[v] <= logits->data[(int)as_d2l[t]]);
    }
  }
}

static void what_cannot_be_is_named(void) {
  attn_seq2seq_config config = attn_seq2seq_defaults();
  fresh();
  CHECK(!attn_seq2seq_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE, "sourceVocab 0; there must be at least 1");
  config.source_vocab = config.target_vocab = 5;
  fresh();
  config.embedding = INT32_MAX;
  CHECK(!attn_seq2seq_new(tape, &config));
  CHECK_FAILED(ATTN_TOO_BIG, "embedding 2147483647; there can be at most 16777216");
  config.embedding = 8;
  fresh();
  config.layers = 0;
  CHECK(!attn_seq2seq_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE, "layers 0; there can be 1 to 8");
  fresh();
  config.layers = 1;
  config.dropout = 1;
  CHECK(!attn_seq2seq_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE, "dropout 1 must be at least 0 and below 1");
  fresh();
  config.dropout = 0;
  config.attention = 2;
  CHECK(!attn_seq2seq_new(tape, &config));
  CHECK_FAILED(ATTN_BAD_VALUE, "attention 2 is unknown; it must be 0 to 1");
  small_model(0, 1);
  batch = (attn_transformer_batch){.source = given("source", SHAPE(2, 0))};
  CHECK(!attn_seq2seq_forward(tape, model, &batch, false, 0));
  CHECK_FAILED(ATTN_BAD_VALUE, "sentence 0 of the source is empty");
  small_model(0, 1);
  batch =
      (attn_transformer_batch){.source = ids("source", 1, 3, 9), .target = ids("target", 2, 3, 8)};
  CHECK(!attn_seq2seq_forward(tape, model, &batch, false, 0));
  CHECK_FAILED(ATTN_BAD_SHAPE,
               "there are 1 source sentences and 2 target sentences; they must agree");
  small_model(0, 1);
  batch = (attn_transformer_batch){.source = ids("source", 2, 3, 9)};
  CHECK(!attn_seq2seq_forward(tape, model, &batch, false, 0));
  CHECK_FAILED(ATTN_BAD_VALUE, "this model needs the tokens of a target");
  small_model(0, 1);
  batch.source = ids("source", 2, 3, 9);
  batch.target = ids("target", 2, 3, 8);
  batch.target->data[4] = 8;
  CHECK(!attn_seq2seq_forward(tape, model, &batch, false, 0));
  CHECK_FAILED(ATTN_BAD_VALUE, "target holds the id 8; a vocabulary of 8 has the ids 0 to 7");
}

int main(void) {
  RUN(models_agree_with_pytorch);
  RUN(gradients_pass_through_dropout_layers_and_steps);
  RUN(decoding_token_by_token_is_the_whole);
  RUN(padding_of_the_source_is_not_attended_to);
  RUN(dropout_is_for_training_and_follows_the_seed);
  RUN(translations_are_worth_what_the_whole_pass_says);
  RUN(greedy_takes_the_likeliest_token_each_time);
  RUN(the_context_of_d2l_is_the_decoders_own_state);
  RUN(what_cannot_be_is_named);
  return report();
}

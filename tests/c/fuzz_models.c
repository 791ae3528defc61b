/*
 * A fuzz target: bytes become a model, sentences, a step of training and a way of decoding.
 *
 * Whatever comes in, nothing crashes, and a call that fails says why. Where calls succeed, what is
 * decoded are ids of the vocabulary up to the end's, with log-probabilities; at correct positions
 * the three caches write the same, and decoding agrees with the full pass; and a step of training
 * that fails has moved nothing.
 */
#include "fuzz.h"

static bool touched; /* there are overrides of a model's tensors */

/* ---- from bytes --------------------------------------------------------------------------- */

/* A size that a model can have; rarely another one. */
static int32_t next_count(int most) {
  const int byte = next_byte();
  return byte < 250 ? 1 + byte % most : next_size(most);
}

/* Whole numbers below `count`; rarely something else. */
static void fill_ids(attn_tensor *ids, int32_t count) {
  for (ptrdiff_t i = 0; i < attn_length(ids); i++) {
    const int byte = next_byte();
    ids->data[i] = byte == 255 ? next_float(-1) : (attn_real)(byte % (count > 0 ? count : 1));
  }
}

static attn_tensor *next_ids(attn_tape *tape, const char *name, int32_t batch, int32_t length,
                             int32_t vocabulary) {
  static const char *const axes[] = {"B", "T"};
  attn_tensor *ids = attn_input(tape, name, 2, (int32_t[]){batch, length}, axes);
  if (ids) fill_ids(ids, vocabulary);
  return attn_input_ready(tape, ids);
}

static attn_tensor *next_lengths(attn_tape *tape, const char *name, int32_t batch, int32_t length) {
  static const char *const axes[] = {"B"};
  if (next_byte() % 2) return NULL;
  attn_tensor *lengths = attn_input(tape, name, 1, &batch, axes);
  if (lengths) fill_ids(lengths, length + 1);
  return attn_input_ready(tape, lengths);
}

static attn_transformer_config next_transformer(void) {
  attn_transformer_config config = attn_transformer_defaults();
  config.kind = next_choice(3);
  config.source_vocab = next_count(9);
  config.target_vocab = next_count(9);
  config.heads = next_count(4);
  const int width = next_byte() % 8 ? 2 + next_byte() % 2 * 2 : 1 + next_byte() % 5;
  config.hiddens = next_byte() % 8 && config.heads < 64 ? config.heads * width : next_count(9);
  config.feed_forward = next_count(9);
  config.encoder_layers = next_count(2);
  config.decoder_layers = next_count(2);
  config.norm = next_choice(2);
  config.final_norm = next_choice(2);
  config.activation = next_choice(3);
  config.position = next_choice(5);
  config.max_length = next_byte() % 4 ? 24 : next_count(9);
  config.bias = next_choice(2);
  config.attention_bias = next_choice(2);
  config.embedding_scale = next_choice(2);
  config.embedding_dropout = next_float(0.1f);
  config.attention_dropout = next_float(0.1f);
  config.feed_forward_dropout = next_float(0);
  config.residual_dropout = next_float(0.1f);
  config.initialiser = next_choice(2);
  config.seed = (uint32_t)next_byte();
  return config;
}

static attn_seq2seq_config next_seq2seq(void) {
  attn_seq2seq_config config = attn_seq2seq_defaults();
  config.attention = next_choice(2);
  config.source_vocab = next_count(9);
  config.target_vocab = next_count(9);
  config.embedding = next_count(9);
  config.hiddens = next_count(9);
  config.layers = next_count(2);
  config.dropout = next_float(0.1f);
  config.initialiser = next_choice(2);
  config.seed = (uint32_t)next_byte();
  return config;
}

static attn_decode_options next_decoding(int32_t vocabulary) {
  attn_decode_options options = attn_decode_defaults();
  options.method = next_choice(3);
  options.positions = next_choice(2);
  options.max_length = next_int(8);
  options.prefill = next_int(0);
  options.end = next_byte() % 4 ? next_choice(vocabulary > 0 ? vocabulary : 1) : -1;
  options.beams = next_count(4);
  options.length_penalty = next_float(0);
  options.temperature = next_float(1);
  options.top_k = next_int(0);
  options.top_p = next_float(1);
  options.seed = (uint32_t)next_byte();
  return options;
}

static void touch(attn_tape *tape) {
  static const char *const names[] = {"logits",
                                      "decoder.0.cross_attention.weights",
                                      "decoder.0.self_attention.scores",
                                      "encoder.0.attention.weights",
                                      "decoder.attention.weights",
                                      "encoder.output",
                                      "no such"};
  touched = next_byte() % 4 == 3;
  if (!touched) return;
  int32_t at[ATTN_MAX_RANK];
  for (int axis = 0; axis < ATTN_MAX_RANK; axis++) at[axis] = next_byte() % 4 - 1;
  attn_override(tape, names[next_byte() % 7], 3 + next_byte() % 2, at, next_float(1));
}

/* ---- what must hold ----------------------------------------------------------------------- */

static uint32_t hash_parameters(const attn_training *training) {
  uint32_t hash = 1;
  for (int32_t i = 0; i < training->parameter_count; i++) {
    const attn_tensor *parameter = training->parameters[i];
    const uint8_t *bytes = (const uint8_t *)parameter->data;
    for (size_t k = 0; k < (size_t)attn_length(parameter) * sizeof(attn_real); k++)
      hash = (hash ^ bytes[k]) * 16777619u;
  }
  return hash;
}

static void train(attn_tape *tape, attn_training *training, attn_tensor *loss) {
  attn_training_options options = attn_training_defaults();
  options.optimiser = next_choice(3);
  options.learning_rate = next_float(0.01f);
  options.momentum = next_float(0.9f);
  options.weight_decay = next_float(0);
  options.clip = next_float(1);
  const uint32_t before = hash_parameters(training);
  if (!loss) return;
  const attn_status status = attn_train_step(tape, training, loss, &options);
  REQUIRE(status == attn_tape_status(tape));
  REQUIRE(training->steps == (status == ATTN_OK));
  if (status != ATTN_OK) REQUIRE(hash_parameters(training) == before);
}

static void train_words(attn_tape *tape, attn_training *training, const attn_tensor *logits) {
  if (!logits) return;
  const attn_tensor *labels =
      next_ids(tape, "labels", logits->shape[0], logits->shape[1], attn_last(logits));
  const attn_tensor *lengths =
      next_lengths(tape, "label_lengths", logits->shape[0], logits->shape[1]);
  if (!labels) return;
  train(tape, training, attn_cross_entropy(tape, "loss", logits, labels, lengths, next_choice(3)));
}

static void check_decoded(attn_tape *tape, const attn_tensor *tokens, int32_t vocabulary,
                          const attn_decode_options *options) {
  const attn_tensor *scores = attn_tape_find(tape, "decoded_scores");
  REQUIRE(scores && scores->shape[0] == tokens->shape[0]);
  for (int32_t row = 0; row < tokens->shape[0]; row++) {
    REQUIRE(scores->data[row] < 1e-4 || touched);
    bool over = false;
    for (int32_t i = 0; i < tokens->shape[1]; i++) {
      const attn_real id = tokens->data[row * tokens->shape[1] + i];
      REQUIRE(id == -1 || (!over && id >= 0 && id < vocabulary && id == (int32_t)id));
      over = over || id == -1 || id == options->end;
    }
  }
}

enum { MOST_DECODED = 256 };

/* Each cache in turn; the first that works is what the others are held to. */
static void decode_with_caches(attn_tape *tape, const attn_transformer *model, int32_t vocabulary,
                               const attn_tensor *source, const attn_tensor *prefix) {
  attn_decode_options options = next_decoding(vocabulary);
  attn_real written[MOST_DECODED];
  ptrdiff_t count = -1;
  for (options.cache = 0; options.cache < 3; options.cache++) {
    const attn_tensor *tokens = attn_decode(tape, model, source, prefix, &options);
    if (!tokens) return;
    check_decoded(tape, tokens, vocabulary, &options);
    const bool same = options.positions == ATTN_DECODE_POSITIONS_CORRECT &&
                      options.method != ATTN_DECODE_METHOD_SAMPLE && !touched;
    if (count >= 0 && same) {
      REQUIRE(attn_length(tokens) == count);
      for (ptrdiff_t i = 0; i < count; i++) REQUIRE(tokens->data[i] == written[i]);
    } else if (attn_length(tokens) <= MOST_DECODED) {
      count = attn_length(tokens);
      for (ptrdiff_t i = 0; i < count; i++) written[i] = tokens->data[i];
    }
    attn_tape_rewind(tape);
  }
}

static void check_consistency(attn_tape *tape, const attn_transformer *model,
                              const attn_tensor *source, const attn_tensor *target) {
  const int32_t prefill = next_count(3), positions = next_choice(2);
  const attn_tensor *report =
      attn_consistency(tape, model, source, target, prefill, next_choice(3), positions);
  if (!report || positions != ATTN_DECODE_POSITIONS_CORRECT || touched) return;
  for (ptrdiff_t i = 0; i < attn_length(report); i++) REQUIRE(report->data[i] < 1e-3);
}

/* ---- models ------------------------------------------------------------------------------- */

static void fuzz_transformer(attn_tape *tape) {
  const attn_transformer_config config = next_transformer();
  const attn_transformer *model = attn_transformer_new(tape, &config);
  attn_training *training = model ? attn_training_new(tape) : NULL;
  const int use = config.kind == ATTN_TRANSFORMER_ENCODER ? 0 : next_byte() % 3;
  const int32_t batch = use ? 1 : next_count(3), sources = next_count(9), targets = next_count(9);
  const attn_transformer_batch words = {
      .source = next_ids(tape, "source", batch, sources, config.source_vocab),
      .source_lengths = next_lengths(tape, "source_lengths", batch, sources),
      .target = next_ids(tape, "target", batch, targets, config.target_vocab),
      .target_lengths = next_lengths(tape, "target_lengths", batch, targets)};
  if (attn_tape_status(tape)) return;
  attn_tape_keep(tape);
  touch(tape);
  const bool alone = config.kind == ATTN_TRANSFORMER_DECODER;
  if (use == 1) {
    decode_with_caches(tape, model, config.target_vocab, alone ? NULL : words.source, words.target);
  } else if (use == 2) {
    check_consistency(tape, model, alone ? NULL : words.source, words.target);
  } else {
    const bool dropping = next_byte() % 2;
    train_words(tape, training,
                attn_transformer_forward(tape, model, &words, dropping, next_int(0)));
  }
}

static void fuzz_seq2seq(attn_tape *tape) {
  const attn_seq2seq_config config = next_seq2seq();
  const attn_seq2seq *model = attn_seq2seq_new(tape, &config);
  attn_training *training = model ? attn_training_new(tape) : NULL;
  const bool decodes = next_byte() % 2;
  const int32_t batch = decodes ? 1 : next_count(3), sources = next_count(9);
  const int32_t targets = next_count(9);
  const attn_transformer_batch words = {
      .source = next_ids(tape, "source", batch, sources, config.source_vocab),
      .source_lengths = next_lengths(tape, "source_lengths", batch, sources),
      .target = next_ids(tape, "target", batch, targets, config.target_vocab)};
  if (attn_tape_status(tape)) return;
  attn_tape_keep(tape);
  touch(tape);
  if (decodes) {
    const attn_decode_options options = next_decoding(config.target_vocab);
    const attn_tensor *tokens = attn_seq2seq_translate(
        tape, model, words.source, words.source_lengths, words.target, &options);
    if (tokens) check_decoded(tape, tokens, config.target_vocab, &options);
  } else {
    const bool dropping = next_byte() % 2;
    train_words(tape, training,
                attn_seq2seq_forward(tape, model, &words, dropping, (uint32_t)next_byte()));
  }
}

static void fuzz_kernel_regression(attn_tape *tape) {
  attn_kernel_regression_config config = attn_kernel_regression_defaults();
  config.kernel = next_choice(6);
  config.learned = next_choice(2);
  config.width = next_float(1);
  config.seed = (uint32_t)next_byte();
  const attn_kernel_regression *model = attn_kernel_regression_new(tape, &config);
  attn_training *training = model ? attn_training_new(tape) : NULL;
  const int32_t keys = next_count(70), width = next_count(3);
  const int32_t places[] = {1, 1, next_byte() % 2 ? keys : next_count(70), width};
  const int32_t keyed[] = {1, 1, keys, width};
  const attn_tensor *queries = input(tape, "queries", 4, places, true);
  const attn_tensor *points = input(tape, "keys", 4, keyed, true);
  const attn_tensor *values = input(tape, "values", 4, keyed, true);
  const attn_tensor *wanted = input(tape, "wanted", 4, places, true);
  if (attn_tape_status(tape)) return;
  attn_tape_keep(tape);
  const attn_tensor *predicted =
      attn_kernel_regression_forward(tape, model, queries, points, values, next_byte() % 2);
  if (!predicted || !predicted->requires_gradient) return;
  train(tape, training, attn_squared_error(tape, "loss", predicted, wanted, next_choice(2)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bytes_left = data, bytes_end = data + size;
  const int kind = next_byte() % 8;
  learning = next_byte() % 2;
  attn_tape *tape = next_tape();
  if (kind == 0)
    fuzz_kernel_regression(tape);
  else if (kind < 4)
    fuzz_seq2seq(tape);
  else
    fuzz_transformer(tape);
  check_end(tape);
  return 0;
}

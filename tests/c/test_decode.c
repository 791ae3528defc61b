/*
 * Decoding: each cache gives the same tokens and numbers as reading everything again, beams are
 * those of a search through all sentences, sampling follows its probabilities, and what D2L's
 * positions do is seen.
 */
#include "fixture.h"

static attn_transformer_config config;
static const attn_transformer *model;
static attn_decode_options options;
static const attn_tensor *source, *prefix;

static attn_tensor *ids(const char *name, int32_t count, const attn_real *values) {
  attn_tensor *tensor =
      attn_input(tape, name, 2, (int32_t[]){1, count}, (const char *[]){"B", "T"});
  for (int32_t i = 0; tensor && i < count; i++) tensor->data[i] = values[i];
  return attn_input_ready(tape, tensor);
}

/* An empty tape with the model, a source and the first token. */
static void again(void) {
  attn_tape_rewind(tape);
  source =
      config.kind == ATTN_TRANSFORMER_DECODER ? NULL : ids("source", 4, (attn_real[]){3, 1, 4, 2});
  prefix = ids("prefix", 1, (attn_real[]){1});
}

static void build(void) {
  fresh();
  model = attn_transformer_new(tape, &config);
  attn_tape_keep(tape);
  again();
}

static void start(void) {
  config = attn_transformer_defaults();
  config.source_vocab = 6;
  config.target_vocab = 7;
  config.hiddens = 16;
  config.heads = 2;
  config.seed = 3;
  options = attn_decode_defaults();
  options.max_length = 6;
  build();
}

enum { MOST = 64 };

static int decode(attn_real *out) {
  const attn_tensor *tokens = attn_decode(tape, model, source, prefix, &options);
  CHECK_OK();
  if (!tokens) return 0;
  for (ptrdiff_t i = 0; i < attn_length(tokens); i++) out[i] = tokens->data[i];
  return (int)attn_length(tokens);
}

/* The log-probability of each next token, from one pass over everything. */
static void log_probabilities(double *out, const attn_real *tokens, int count) {
  again();
  const attn_transformer_batch batch = {.source = source, .target = ids("target", count, tokens)};
  const attn_tensor *logits = attn_transformer_forward(tape, model, &batch, false, 0);
  CHECK_OK();
  const int vocabulary = attn_last(logits);
  const attn_real *row = logits->data + (ptrdiff_t)(count - 1) * vocabulary;
  double sum = 0;
  for (int v = 0; v < vocabulary; v++) sum += exp(row[v]);
  for (int v = 0; v < vocabulary; v++) out[v] = row[v] - log(sum);
}

/* ---- greedy ------------------------------------------------------------------------------- */

static void greedy_takes_the_likeliest_token_each_time(void) {
  start();
  attn_real found[MOST], tokens[8] = {1};
  double score = 0;
  decode(found);
  const double found_score = attn_tape_find(tape, "decoded_scores")->data[0];
  for (int t = 0; t < options.max_length; t++) {
    double log_p[7];
    log_probabilities(log_p, tokens, t + 1);
    int best = 0;
    for (int v = 1; v < 7; v++)
      if (log_p[v] > log_p[best]) best = v;
    CHECK_EQUAL(found[t], best);
    score += log_p[best];
    tokens[t + 1] = found[t];
  }
  CHECK_NEAR(found_score, score, 20 * slack);
}

static void each_cache_gives_the_same_tokens_and_numbers(void) {
  for (int32_t position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++)
    for (int32_t norm = 0; norm < 2; norm++)
      for (int32_t kind = 0; kind < 3; kind += 2)
        for (int32_t method = 0; method <= ATTN_DECODE_METHOD_SAMPLE; method++) {
          attn_real tokens[2][MOST], scores[2][8];
          start();
          config.position = position;
          config.norm = config.final_norm = norm;
          config.kind = kind;
          build();
          options.method = method;
          for (int32_t cache = ATTN_CACHE_NONE; cache <= ATTN_CACHE_KEYS_VALUES; cache++) {
            again();
            options.cache = cache;
            const int at = cache > 0, count = decode(tokens[at]);
            const attn_tensor *found_scores = found("decoded_scores");
            for (int i = 0; i < found_scores->shape[0]; i++) {
              scores[at][i] = found_scores->data[i];
              CHECK_CLOSE(scores[at][i], scores[0][i]);
            }
            NOTE("position %d, norm %d, kind %d, method %d, cache %d", position, norm, kind, method,
                 cache);
            CHECK(count == options.max_length * found_scores->shape[0]);
            CHECK(memcmp(tokens[0], tokens[at], (size_t)count * sizeof(attn_real)) == 0);
          }
        }
}

static void the_end_ends_a_sentence(void) {
  start();
  attn_real whole[MOST], cut[MOST];
  decode(whole);
  options.end = (int32_t)whole[2];
  again();
  decode(cut);
  bool ended = false;
  for (int t = 0; t < options.max_length; t++) {
    CHECK_EQUAL(cut[t], ended ? -1 : whole[t]);
    ended |= whole[t] == whole[2];
  }
}

/* ---- beam --------------------------------------------------------------------------------- */

typedef struct best {
  double worth;
  attn_real tokens[4];
} best;

/* All sentences of at most `left` more tokens that start with tokens [count]. */
static void search_all(best *found, attn_real *tokens, int count, double score, int left) {
  double log_p[7];
  log_probabilities(log_p, tokens, count);
  for (int v = 0; v < 7; v++) {
    tokens[count] = v;
    const double sum = score + log_p[v];
    if (v != options.end && left > 1) {
      search_all(found, tokens, count + 1, sum, left - 1);
      continue;
    }
    const double worth = sum / pow(count, options.length_penalty);
    if (worth <= found->worth) continue;
    *found = (best){worth, {-1, -1, -1, -1}};
    for (int i = 0; i < count; i++) found->tokens[i] = tokens[i + 1];
  }
}

static void a_wide_beam_finds_the_best_of_all_sentences(void) {
  static const float penalties[] = {0, 0.75f, 2};
  for (int i = 0; i < 3; i++) {
    start();
    options.method = ATTN_DECODE_METHOD_BEAM;
    options.beams = 49;
    options.max_length = 3;
    options.end = 2;
    options.length_penalty = penalties[i];
    attn_real tokens[49 * 3], sentence[8] = {1};
    best wanted = {.worth = -INFINITY};
    search_all(&wanted, sentence, 1, 0, options.max_length);
    again();
    decode(tokens);
    const attn_tensor *scores = found("decoded_scores");
    NOTE("penalty %g", penalties[i]);
    for (int t = 0; t < options.max_length; t++) CHECK_EQUAL(tokens[t], wanted.tokens[t]);
    CHECK_NEAR(scores->data[0], wanted.worth, 20 * slack);
    for (int j = 1; j < 49; j++) CHECK(scores->data[j] <= scores->data[j - 1]);
  }
}

static void one_beam_is_greedy(void) {
  start();
  attn_real greedy[MOST], beam[MOST];
  options.end = 5;
  decode(greedy);
  again();
  options.method = ATTN_DECODE_METHOD_BEAM;
  options.beams = 1;
  decode(beam);
  CHECK(memcmp(greedy, beam, (size_t)options.max_length * sizeof *beam) == 0);
}

/* ---- sample ------------------------------------------------------------------------------- */

/* How often each token came first in 4000 draws. */
static void draw(int counts[7]) {
  memset(counts, 0, 7 * sizeof *counts);
  options.method = ATTN_DECODE_METHOD_SAMPLE;
  options.max_length = 1;
  for (uint32_t seed = 0; seed < 4000; seed++) {
    attn_real token[1];
    options.seed = seed;
    again();
    decode(token);
    counts[(int)token[0]]++;
  }
}

static void samples_follow_the_probabilities(void) {
  static const struct {
    float temperature, top_p;
    int32_t top_k;
  } rows[] = {{1, 1, 0}, {0.5f, 1, 0}, {2, 1, 3}, {1, 0.6f, 0}, {1, 1e-6f, 0}, {1, 1, 1}};
  for (int i = 0; i < 6; i++) {
    double p[7], kept = 0, sum = 0;
    int counts[7], order[7];
    start();
    options.temperature = rows[i].temperature;
    options.top_p = rows[i].top_p;
    options.top_k = rows[i].top_k;
    log_probabilities(p, (attn_real[]){1}, 1);
    for (int v = 0; v < 7; v++) sum += p[v] = exp(p[v] / rows[i].temperature);
    for (int v = 0; v < 7; v++) {
      p[v] /= sum;
      int at = v;
      for (; at > 0 && p[v] > p[order[at - 1]]; at--) order[at] = order[at - 1];
      order[at] = v;
    }
    const int most = rows[i].top_k ? rows[i].top_k : 7;
    int count = 0;
    while (count < most && (count == 0 || kept < rows[i].top_p)) kept += p[order[count++]];
    draw(counts);
    for (int j = 0; j < 7; j++) {
      const double share = j < count ? p[order[j]] / kept : 0;
      NOTE("row %d, token %d", i, order[j]);
      CHECK_NEAR(counts[order[j]] / 4000., share, 4 * sqrt(share * (1 - share) / 4000));
    }
  }
}

/* Logits divided by such temperatures leave the range of the numbers. */
static void the_coldest_sample_is_greedy(void) {
  start();
  attn_real greedy[MOST], sample[MOST];
  options.temperature = 1e-40f;
  for (int first = 0; first < 7; first++) {
    for (int32_t method = ATTN_DECODE_METHOD_GREEDY; method <= ATTN_DECODE_METHOD_SAMPLE;
         method += ATTN_DECODE_METHOD_SAMPLE) {
      again();
      prefix->data[0] = (attn_real)first;
      options.method = method;
      decode(method ? sample : greedy);
    }
    CHECK(memcmp(greedy, sample, (size_t)options.max_length * sizeof *sample) == 0);
  }
}

/* ---- consistency -------------------------------------------------------------------------- */

static double inconsistency(int32_t prefill, int32_t cache, int32_t positions, int row) {
  again();
  const attn_tensor *target = ids("target", 4, (attn_real[]){1, 5, 2, 6});
  const attn_tensor *report =
      attn_consistency(tape, model, source, target, prefill, cache, positions);
  CHECK_OK();
  double most = 0;
  for (int t = 0; report && t < 4; t++) most = fmax(most, report->data[row * 4 + t]);
  return most;
}

/* H2: two tokens prefilled and two steps, or four single steps, are the full pass. */
static void h2_cached_steps_are_the_full_pass(void) {
  for (int32_t position = ATTN_POSITION_NONE; position <= ATTN_POSITION_ALIBI; position++)
    for (int32_t cache = ATTN_CACHE_NONE; cache <= ATTN_CACHE_KEYS_VALUES; cache++)
      for (int32_t prefill = 1; prefill <= 2; prefill++) {
        start();
        config.position = position;
        build();
        NOTE("position %d, cache %d, prefill %d", position, cache, prefill);
        for (int row = 0; row < 3; row++)
          CHECK(inconsistency(prefill, cache, ATTN_DECODE_POSITIONS_CORRECT, row) <= 1e-6);
      }
}

static void d2ls_positions_show_in_every_layer(void) {
  start();
  for (int32_t cache = ATTN_CACHE_NONE; cache <= ATTN_CACHE_KEYS_VALUES; cache++)
    for (int row = 0; row < 3; row++) {
      const double off = inconsistency(1, cache, ATTN_DECODE_POSITIONS_AS_D2L, row);
      NOTE("cache %d, row %d: %g", cache, row, off);
      CHECK(cache == ATTN_CACHE_NONE ? off <= 1e-6 : off > 1e-3);
    }
}

/* ---- what it refuses ---------------------------------------------------------------------- */

static void check_refused(attn_status status, const char *message) {
  CHECK(attn_decode(tape, model, source, prefix, &options) == NULL);
  CHECK_FAILED(status, message);
  start();
}

static void what_makes_no_sense_is_named(void) {
  start();
  options.max_length = 0;
  check_refused(ATTN_BAD_VALUE, "maxLength 0 must be 1 to 1048576");
  options.beams = 0;
  check_refused(ATTN_BAD_VALUE, "beams 0 must be 1 to 1024");
  options.top_p = 0;
  check_refused(ATTN_BAD_VALUE, "topP 0 must be above 0 and at most 1");
  options.temperature = 0;
  check_refused(ATTN_BAD_VALUE, "temperature 0 must be a number above 0");
  options.max_length = 1001;
  check_refused(ATTN_BAD_VALUE, "1001 tokens are to be read; the model's maxLength is 1000");
  prefix = ids("prefix", 2, (attn_real[]){1, 7});
  check_refused(ATTN_BAD_VALUE, "prefix holds the id 7; a vocabulary of 7 has the ids 0 to 6");
  source = NULL;
  check_refused(ATTN_BAD_VALUE, "this model needs the tokens of a source");
  found("output.bias")->data[3] = NAN;
  check_refused(ATTN_NOT_FINITE,
                "the logits of token 0 are not finite; nothing can be chosen by them");
}

int main(void) {
  RUN(greedy_takes_the_likeliest_token_each_time);
  RUN(each_cache_gives_the_same_tokens_and_numbers);
  RUN(the_end_ends_a_sentence);
  RUN(a_wide_beam_finds_the_best_of_all_sentences);
  RUN(one_beam_is_greedy);
  RUN(samples_follow_the_probabilities);
  RUN(the_coldest_sample_is_greedy);
  RUN(h2_cached_steps_are_the_full_pass);
  RUN(d2ls_positions_show_in_every_layer);
  RUN(what_makes_no_sense_is_named);
  return report();
}

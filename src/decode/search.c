/* From logits to sentences.
 *
 *   greedy   one row; the likeliest token                                  = a beam of width 1
 *   beam     of all rows × V continuations the likeliest `beams` go on; a sentence that has ended
 *            is worth log p ÷ L^α, with L its new tokens, the end too      (D2L "Beam Search", α ¾)
 *   sample   one row; a token by softmax(logits ÷ temperature), among the likeliest
 *
 * The search is over when no row can still beat the ended ones: as log p only falls, it is worth at
 * most log p ÷ max_length^α. Of equal tokens the one with the smaller id counts as likelier. */
#include "decode/decode.h"
#include "math/functions.h"
#include "math/rows.h"
#include "ops/ops.h"

attn_decode_options attn_decode_defaults(void) {
  return (attn_decode_options){.cache = ATTN_CACHE_KEYS_VALUES,
                               .max_length = 10,
                               .end = -1,
                               .beams = 4,
                               .length_penalty = 0.75f,
                               .temperature = 1,
                               .top_p = 1};
}

typedef struct candidate {
  attn_real score; /* Σ log p */
  int32_t parent, token;
} candidate;

typedef struct search {
  attn_tape *tape;
  const attn_decode_options *options;
  const attn_decoder *decoder;
  int32_t width, prefix, capacity; /* rows; tokens given; tokens of a row at most */
  int32_t rows, length;            /* now */
  int32_t *tokens, *next_tokens;   /* [width, capacity] */
  attn_real *scores;               /* [width] */
  candidate *candidates;           /* [width], best first */
  int32_t *parents;                /* [width] */
  attn_real *probabilities;        /* [V] */
  int32_t *order;                  /* [V]; of sample */
  int32_t ended;
  attn_tensor *out, *out_scores; /* [width, max_length], [width]; the first `ended` are filled */
} search;

attn_tensor *attn_new_tokens(attn_tape *tape, const int32_t *tokens, int32_t stride, int32_t rows,
                             int32_t count) {
  attn_tensor *ids =
      attn_push(tape, "input", "target", attn_shape2("B", rows, "T", count), 0, NULL);
  if (!ids) return NULL;
  for (int32_t row = 0; row < rows; row++)
    for (int32_t t = 0; t < count; t++)
      ids->data[row * count + t] = (attn_real)tokens[row * stride + t];
  return attn_finish(tape, ids);
}

bool attn_check_decoding(attn_tape *tape, const attn_decode_options *options) {
  enum { MOST_TOKENS = 1 << 20, MOST_BEAMS = 1 << 10 };
  if (!ATTN_CHECK_CHOICE(tape, "method", options->method, ATTN_DECODE_METHOD_LIST)) return false;
  if (options->max_length < 1 || options->max_length > MOST_TOKENS)
    return attn_fail_at(tape, "maxLength", ATTN_BAD_VALUE, "maxLength %d must be 1 to %d",
                        options->max_length, MOST_TOKENS);
  if (options->beams < 1 || options->beams > MOST_BEAMS)
    return attn_fail_at(tape, "beams", ATTN_BAD_VALUE, "beams %d must be 1 to %d", options->beams,
                        MOST_BEAMS);
  if (!(options->length_penalty >= 0) || options->length_penalty - options->length_penalty != 0)
    return attn_fail_at(tape, "lengthPenalty", ATTN_BAD_VALUE,
                        "lengthPenalty %g must be a number of at least 0",
                        (double)options->length_penalty);
  if (!(options->temperature > 0) || options->temperature - options->temperature != 0)
    return attn_fail_at(tape, "temperature", ATTN_BAD_VALUE,
                        "temperature %g must be a number above 0", (double)options->temperature);
  if (options->top_k < 0)
    return attn_fail_at(tape, "topK", ATTN_BAD_VALUE, "topK %d must be at least 0", options->top_k);
  if (!(options->top_p > 0 && options->top_p <= 1))
    return attn_fail_at(tape, "topP", ATTN_BAD_VALUE, "topP %g must be above 0 and at most 1",
                        (double)options->top_p);
  return true;
}

int32_t attn_decoding_rows(const attn_decode_options *options) {
  return options->method == ATTN_DECODE_METHOD_BEAM ? options->beams : 1;
}

/* ---- what is likely ----------------------------------------------------------------------- */

/* Of row `row`: probabilities, and Σ log p of the row less what makes a logit a log-probability. */
static bool weigh(const search *in, const attn_tensor *logits, int32_t row, attn_real *shift,
                  const attn_real **row_logits) {
  const int32_t vocabulary = in->decoder->vocabulary;
  const attn_real *x =
      logits->data + ((ptrdiff_t)(row + 1) * logits->shape[1] - 1) * (ptrdiff_t)vocabulary;
  if (attn_row_softmax(in->probabilities, x, vocabulary) != 0) {
    attn_fail(in->tape, ATTN_NOT_FINITE,
              "the logits of token %d are not finite; nothing can be chosen by them",
              in->length - in->prefix);
    return false;
  }
  *row_logits = x;
  *shift = attn_log(attn_row_max(in->probabilities, vocabulary)) - attn_row_max(x, vocabulary);
  return true;
}

/* The best `width` continuations of all rows, to in->candidates; returns how many there are. */
static int32_t choose_likeliest(search *in, const attn_tensor *logits) {
  int32_t count = 0;
  for (int32_t row = 0; row < in->rows; row++) {
    const attn_real *x;
    attn_real shift;
    if (!weigh(in, logits, row, &shift, &x)) return 0;
    for (int32_t token = 0; token < in->decoder->vocabulary; token++) {
      const attn_real score = in->scores[row] + (x[token] + shift);
      if (count == in->width && !(score > in->candidates[count - 1].score)) continue;
      int32_t at = count < in->width ? count++ : count - 1;
      for (; at > 0 && score > in->candidates[at - 1].score; at--)
        in->candidates[at] = in->candidates[at - 1];
      in->candidates[at] = (candidate){score, row, token};
    }
  }
  return count;
}

static bool likelier(const attn_real *p, int32_t a, int32_t b) {
  return p[a] > p[b] || (p[a] == p[b] && a < b);
}

static void sink(int32_t *order, const attn_real *p, int32_t at, int32_t count) {
  for (int32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && likelier(p, order[child], order[child + 1])) child++;
    if (likelier(p, order[child], order[at])) break;
    const int32_t token = order[at];
    order[at] = order[child];
    order[child] = token;
  }
}

/* Ids by falling probability: a heap whose top is the least likely. */
static void sort(int32_t *order, const attn_real *p, int32_t count) {
  for (int32_t i = 0; i < count; i++) order[i] = i;
  for (int32_t i = count / 2 - 1; i >= 0; i--) sink(order, p, i, count);
  for (int32_t end = count - 1; end > 0; end--) {
    const int32_t token = order[0];
    order[0] = order[end];
    order[end] = token;
    sink(order, p, 0, end);
  }
}

static int32_t choose_at_random(search *in, const attn_tensor *logits) {
  const attn_decode_options *options = in->options;
  const int32_t vocabulary = in->decoder->vocabulary, step = in->length - in->prefix;
  const attn_real *x;
  attn_real shift;
  if (!weigh(in, logits, 0, &shift, &x)) return 0;
  attn_real *p = in->probabilities;
  const attn_real most_likely = attn_row_max(x, vocabulary);
  for (int32_t v = 0; v < vocabulary; v++) p[v] = (x[v] - most_likely) / options->temperature;
  attn_row_softmax(p, p, vocabulary);
  sort(in->order, p, vocabulary);
  const int32_t most =
      options->top_k > 0 && options->top_k < vocabulary ? options->top_k : vocabulary;
  attn_real sum = 0;
  int32_t count = 0;
  /* What has no probability is left out: rounding in the sums below would reach it now and then. */
  while (count < most && (count == 0 || (sum < options->top_p && p[in->order[count]] > 0)))
    sum += p[in->order[count++]];
  static const char stream[] = "sample";
  uint32_t word[4];
  attn_random_block(word, attn_random_key_from(options->seed, stream, sizeof stream - 1),
                    (uint64_t)step);
  attn_real left = attn_random_unit(word[0]) * sum;
  int32_t i = 0;
  while (i + 1 < count && left >= p[in->order[i]]) left -= p[in->order[i++]];
  const int32_t token = in->order[i];
  in->candidates[0] = (candidate){in->scores[0] + (x[token] + shift), 0, token};
  return 1;
}

/* ---- rows --------------------------------------------------------------------------------- */

static attn_real worth(const search *in, attn_real score, int32_t length) {
  if (in->options->method != ATTN_DECODE_METHOD_BEAM) return score;
  return score / attn_exp(in->options->length_penalty * attn_log((attn_real)length));
}

/* A row that goes no further takes its place among the ended ones, or none. */
static void end_row(search *in, const int32_t *tokens, int32_t last, attn_real score) {
  const int32_t most = in->options->max_length, count = in->length - in->prefix + 1;
  const attn_real value = worth(in, score, count);
  attn_real *scores = in->out_scores->data;
  if (in->ended == in->width && !(value > scores[in->ended - 1])) return;
  int32_t at = in->ended < in->width ? in->ended++ : in->ended - 1;
  for (; at > 0 && value > scores[at - 1]; at--) {
    scores[at] = scores[at - 1];
    for (int32_t t = 0; t < most; t++)
      in->out->data[at * most + t] = in->out->data[(at - 1) * most + t];
  }
  scores[at] = value;
  for (int32_t t = 0; t < most; t++)
    in->out->data[at * most + t] = t + 1 < count    ? (attn_real)tokens[in->prefix + t]
                                   : t + 1 == count ? (attn_real)last
                                                    : -1;
}

/* Ends the candidates that end and lets the others be the rows; false when none is left. */
static bool advance(search *in, int32_t count) {
  const bool full = in->length - in->prefix + 1 == in->options->max_length;
  int32_t rows = 0;
  for (int32_t i = 0; i < count; i++) {
    const candidate *chosen = &in->candidates[i];
    const int32_t *from = in->tokens + (ptrdiff_t)chosen->parent * in->capacity;
    if (full || chosen->token == in->options->end) {
      end_row(in, from, chosen->token, chosen->score);
      continue;
    }
    int32_t *to = in->next_tokens + (ptrdiff_t)rows * in->capacity;
    for (int32_t t = 0; t < in->length; t++) to[t] = from[t];
    to[in->length] = chosen->token;
    in->parents[rows] = chosen->parent;
    in->scores[rows++] = chosen->score;
  }
  int32_t *tokens = in->tokens;
  in->tokens = in->next_tokens;
  in->next_tokens = tokens;
  in->rows = rows;
  in->length++;
  if (rows == 0) return false;
  return in->ended < in->width ||
         worth(in, in->scores[0], in->options->max_length) > in->out_scores->data[in->ended - 1];
}

static bool begin(search *in, const attn_tensor *prefix) {
  attn_tape *tape = in->tape;
  const size_t width = (size_t)in->width, row = (size_t)in->capacity;
  const size_t vocabulary = (size_t)in->decoder->vocabulary;
  in->tokens = attn_tape_take(tape, width * row * sizeof *in->tokens);
  in->next_tokens = attn_tape_take(tape, width * row * sizeof *in->next_tokens);
  in->scores = attn_tape_take(tape, width * sizeof *in->scores);
  in->candidates = attn_tape_take(tape, width * sizeof *in->candidates);
  in->parents = attn_tape_take(tape, width * sizeof *in->parents);
  in->probabilities = attn_tape_take(tape, vocabulary * sizeof *in->probabilities);
  in->order = attn_tape_take(tape, vocabulary * sizeof *in->order);
  in->out =
      attn_push(tape, "decode", "decoded_tokens",
                attn_shape2("n", in->width, "T", in->options->max_length), ATTN_INPUTS(prefix));
  in->out_scores =
      attn_push(tape, "decode", "decoded_scores", attn_shape1("n", in->width), ATTN_INPUTS(prefix));
  if (!in->order || !in->out_scores) return false;
  for (ptrdiff_t i = 0; i < attn_length(in->out); i++) in->out->data[i] = -1;
  for (int32_t i = 0; i < in->width; i++) in->out_scores->data[i] = ATTN_MINUS_INFINITY;
  for (int32_t t = 0; t < in->prefix; t++) in->tokens[t] = (int32_t)prefix->data[t];
  in->scores[0] = 0;
  in->rows = 1;
  in->length = in->prefix;
  return true;
}

attn_tensor *attn_search(attn_tape *tape, const attn_decoder *decoder, const attn_tensor *prefix,
                         const attn_decode_options *options) {
  if (!decoder || !ATTN_READY(tape, prefix) || !attn_check_decoding(tape, options) ||
      !attn_check_ids(tape, prefix, 0, decoder->vocabulary))
    return NULL;
  search in = {.tape = tape,
               .options = options,
               .decoder = decoder,
               .width = attn_decoding_rows(options),
               .prefix = prefix->shape[1],
               .capacity = prefix->shape[1] + options->max_length};
  if (options->prefill < 0 || options->prefill > in.prefix)
    return attn_fail_at(tape, "prefill", ATTN_BAD_VALUE, "prefill %d must be 0 to the %d tokens",
                        options->prefill, in.prefix);
  if (!begin(&in, prefix)) return NULL;
  const attn_place place = attn_tape_place(tape);
  for (int32_t read = options->prefill; read > 0 && read < in.prefix; read++) {
    if (!decoder->next(tape, decoder->state, in.tokens, in.capacity, 1, read)) return NULL;
    decoder->follow(decoder->state, (int32_t[]){0}, 1);
    attn_tape_back(tape, place);
  }
  for (;;) {
    const attn_tensor *logits =
        decoder->next(tape, decoder->state, in.tokens, in.capacity, in.rows, in.length);
    if (!logits) return NULL;
    const int32_t count = options->method == ATTN_DECODE_METHOD_SAMPLE
                              ? choose_at_random(&in, logits)
                              : choose_likeliest(&in, logits);
    if (count == 0) return NULL;
    if (!advance(&in, count)) break;
    decoder->follow(decoder->state, in.parents, in.rows);
    attn_tape_back(tape, place); /* the last step's tensors stay */
  }
  return ATTN_READY(tape, in.out) ? in.out : NULL; /* results of a search: no override fits them */
}

/*
 * The layers against libm and sums in double: linear, norms, activations, positions, heads,
 * multi-head attention, the encoder layer, and the small whole model.
 */
#include <limits.h>
#include <stdlib.h>

#include "ops/ops.h"
#include "reference.h"

static void check_row(const attn_tensor *tensor, int row, const double *expected) {
  for (int j = 0; j < attn_last(tensor); j++)
    CHECK_CLOSE(tensor->data[row * attn_last(tensor) + j], expected[j]);
}

static attn_tensor *numbers(const char *name, int32_t rank, const int32_t *shape,
                            const attn_real *data) {
  attn_tensor *tensor = given(name, rank, shape);
  for (ptrdiff_t i = 0; i < attn_length(tensor); i++) tensor->data[i] = data[i];
  return tensor;
}

/* ---- linear, add -------------------------------------------------------------------------- */

/* Within in + 2 roundings of the sum of sizes. */
static void check_linear(const attn_tensor *y, const attn_tensor *x, const attn_tensor *weight,
                         const attn_tensor *bias) {
  const double rounding = sizeof(attn_real) == sizeof(float) ? 0x1p-24 : 0x1p-53;
  const int in = attn_last(x), out = weight->shape[0];
  CHECK(attn_last(y) == out && attn_rows(y) == attn_rows(x) && y->rank == x->rank);
  for (ptrdiff_t cell = 0; cell < attn_length(y); cell++) {
    const attn_real *row = x->data + cell / out * in, *column = weight->data + cell % out * in;
    const double shift = bias ? bias->data[cell % out] : 0;
    double size = fabs(shift);
    for (int i = 0; i < in; i++) size += fabs((double)row[i] * column[i]);
    CHECK_NEAR(y->data[cell], dot(row, column, in) + shift, (in + 2) * rounding * size);
  }
}

static void linear_is_x_times_the_transposed_weight_plus_bias(void) {
  for (int in = 1; in < 12; in += 3)
    for (int out = 1; out < 12; out += 2)
      for (int rank = 1; rank <= 4; rank++) {
        fresh();
        const attn_tensor *x =
            given("x", rank, (int32_t[4][4]){{in}, {3, in}, {2, 3, in}, {2, 1, 3, in}}[rank - 1]);
        const attn_tensor *weight = given("w", SHAPE(out, in)), *bias = given("b", SHAPE(out));
        NOTE("in %d, out %d, rank %d", in, out, rank);
        check_linear(attn_linear(tape, "y", x, weight, bias), x, weight, bias);
        check_linear(attn_linear(tape, "z", x, weight, NULL), x, weight, NULL);
      }
}

static void add_repeats_along_the_leading_axes_it_lacks(void) {
  static const int32_t shape[] = {2, 3, 4};
  for (int rank = 0; rank <= 3; rank++) {
    fresh();
    const attn_tensor *x = given("x", 3, shape), *y = given("y", rank, shape + 3 - rank);
    const attn_tensor *sum = attn_add(tape, "sum", x, y);
    const ptrdiff_t period = attn_length(y);
    for (ptrdiff_t i = 0; i < 24; i++) CHECK_BITS(sum->data[i], x->data[i] + y->data[i % period]);
  }
  fresh();
  CHECK(attn_add(tape, "sum", given("x", SHAPE(2, 3)), given("y", SHAPE(2))) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "y cannot be added to x: their last axes differ");
  fresh();
  CHECK(attn_add(tape, "sum", given("x", SHAPE(0, 3)), given("y", SHAPE(3))) != NULL);
}

/* ---- layer norm, activations -------------------------------------------------------------- */

static void check_norm(const attn_tensor *y, const attn_tensor *x, const attn_tensor *weight,
                       const attn_tensor *bias, double eps) {
  const int width = attn_last(x);
  for (ptrdiff_t row = 0; row < attn_rows(x); row++) {
    const attn_real *in = x->data + row * width;
    double mean = 0, variance = 0;
    for (int i = 0; i < width; i++) mean += (double)in[i] / width;
    for (int i = 0; i < width; i++) variance += (in[i] - mean) * (in[i] - mean) / width;
    for (int i = 0; i < width; i++)
      CHECK_CLOSE(y->data[row * width + i],
                  (in[i] - mean) / sqrt(variance + eps) * (weight ? weight->data[i] : 1) +
                      (bias ? bias->data[i] : 0));
  }
}

static void layer_norm_is_that_of_its_definition(void) {
  for (int width = 1; width < 70; width += 1 + width / 5)
    for (int kind = 0; kind < 4; kind++) {
      fresh();
      const attn_tensor *x = given("x", SHAPE(2, 3, width));
      const attn_tensor *weight = kind & 1 ? given("weight", SHAPE(width)) : NULL;
      const attn_tensor *bias = kind & 2 ? given("bias", SHAPE(width)) : NULL;
      const float eps = kind == 0 ? 1e-5f : 0.5f;
      NOTE("width %d, kind %d", width, kind);
      check_norm(attn_layer_norm(tape, "y", x, weight, bias, eps), x, weight, bias, eps);
    }
}

static void layer_norm_divides_by_all_elements_and_survives_equal_ones(void) {
  fresh();
  const attn_tensor *x =
      numbers("x", SHAPE(3, 4), (attn_real[]){1, 0, 0, 0, 5, 5, 5, 5, 1, NAN, 0, 0});
  const attn_tensor *y = attn_layer_norm(tape, "y", x, NULL, NULL, 0x1p-17f);
  const double scale = 1 / sqrt(3. / 16 + 0x1p-17);
  check_row(y, 0, (double[]){0.75 * scale, -0.25 * scale, -0.25 * scale, -0.25 * scale});
  check_row(y, 1, (double[]){0, 0, 0, 0});
  check_row(y, 2, (double[]){NAN, NAN, NAN, NAN});
}

static double active(int kind, double x) {
  if (kind == ATTN_ACTIVATION_RELU) return x <= 0 ? 0 : x;
  if (kind == ATTN_ACTIVATION_GELU) return 0.5 * x * (1 + erf(x / sqrt(2)));
  return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

static void activations_follow_libm(void) {
  for (int kind = ATTN_ACTIVATION_RELU; kind <= ATTN_ACTIVATION_GELU_TANH; kind++) {
    fresh();
    attn_tensor *x = given("x", SHAPE(4001));
    for (int i = 0; i < 4000; i++) x->data[i] = (attn_real)(i - 2000) / 128;
    x->data[4000] = NAN;
    const attn_tensor *y = attn_activate(tape, "y", x, kind);
    for (int i = 0; i <= 4000; i++) {
      NOTE("kind %d at %g", kind, (double)x->data[i]);
      CHECK_CLOSE(y->data[i], active(kind, x->data[i]));
    }
    x->data[0] = INFINITY, x->data[1] = 1e30f, x->data[2] = -1e30f;
    y = attn_activate(tape, "y", x, kind);
    CHECK(y->data[0] == INFINITY && y->data[1] == x->data[1] && y->data[2] == 0);
  }
}

/* ---- positions ---------------------------------------------------------------------------- */

/* The angle is exact to the rounding of its frequency in double; then attn_real's sine. */
static double turn_slack(double position) {
  return (sizeof(attn_real) == 4 ? 2.5e-7 : 1e-15) + 5e-14 * fabs(position);
}

static long double angle_of(double position, double base, int pair, int width) {
  return position * powl(base, -2.0L * pair / width);
}

static void sinusoidal_positions_follow_libm_at_any_offset_and_width(void) {
  static const int32_t offsets[] = {0, 1000, 1000000, 16777217, INT_MAX - 20, -5, INT_MIN};
  static const int32_t widths[] = {1, 2, 3, 5, 64, 127};
  for (int o = 0; o < 7; o++)
    for (int w = 0; w < 6; w++) {
      fresh();
      const attn_tensor *x = attn_sinusoidal(tape, "x", 20, widths[w], offsets[o]);
      for (int p = 0; p < 20; p++)
        for (int i = 0; i < widths[w]; i++) {
          const double position = (double)offsets[o] + p;
          const long double angle = angle_of(position, 10000, i / 2, widths[w]);
          NOTE("position %.0f, column %d of %d", position, i, widths[w]);
          CHECK_NEAR(x->data[p * widths[w] + i], (double)(i % 2 ? cosl(angle) : sinl(angle)),
                     turn_slack(position));
        }
    }
}

static void an_offset_starts_the_same_table_later(void) {
  fresh();
  const attn_tensor *all = attn_sinusoidal(tape, "all", 50, 7, 0);
  const attn_tensor *late = attn_sinusoidal(tape, "late", 20, 7, 30);
  for (int i = 0; i < 20 * 7; i++) CHECK_BITS(late->data[i], all->data[30 * 7 + i]);
  CHECK(strcmp(all->axes[0], "T") == 0 && strcmp(all->axes[1], "H") == 0);
  CHECK(attn_sinusoidal(tape, "none", 0, 7, 0)->shape[0] == 0);
  CHECK(attn_sinusoidal(tape, "none", 3, 0, 0) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "hiddens 0; there must be at least 1");
}

static void check_rotary(const attn_tensor *y, const attn_tensor *x, const double *positions,
                         int pairing, double base) {
  const int width = attn_last(x), length = x->shape[x->rank - 2];
  for (ptrdiff_t row = 0; row < attn_rows(x); row++)
    for (int pair = 0; pair < width / 2; pair++) {
      const bool halves = pairing == ATTN_PAIRING_HALVES;
      const ptrdiff_t a = row * width + (halves ? pair : 2 * pair);
      const ptrdiff_t b = a + (halves ? width / 2 : 1);
      const long double angle = angle_of(positions[row % length], base, pair, width);
      const double limit = 2 * turn_slack(positions[row % length]);
      CHECK_NEAR(y->data[a], (double)(x->data[a] * cosl(angle) - x->data[b] * sinl(angle)), limit);
      CHECK_NEAR(y->data[b], (double)(x->data[a] * sinl(angle) + x->data[b] * cosl(angle)), limit);
    }
}

static void rotary_turns_pairs_by_their_position(void) {
  static const float bases[] = {1, 50, 10000, 5e5f};
  double from_offset[6], listed[6] = {3, -2, 0, 1e6, 0.5, -1e5};
  for (int pairing = ATTN_PAIRING_HALVES; pairing <= ATTN_PAIRING_INTERLEAVED; pairing++)
    for (int b = 0; b < 4; b++)
      for (int width = 2; width < 20; width += 6) {
        fresh();
        const attn_tensor *x = given("x", SHAPE(2, 3, 6, width));
        attn_tensor *positions = given("positions", SHAPE(6));
        for (int t = 0; t < 6; t++) {
          from_offset[t] = 1000 + t;
          positions->data[t] = (attn_real)listed[t];
        }
        NOTE("pairing %d, base %g, width %d", pairing, (double)bases[b], width);
        check_rotary(attn_rotary(tape, "y", x, NULL, 1000, pairing, bases[b]), x, from_offset,
                     pairing, bases[b]);
        check_rotary(attn_rotary(tape, "z", x, positions, 7, pairing, bases[b]), x, listed, pairing,
                     bases[b]);
      }
}

static void rotary_products_depend_on_the_distance_alone(void) {
  fresh();
  const attn_tensor *x = given("x", SHAPE(1, 8)), *y = given("y", SHAPE(1, 8));
  double products[2];
  for (int late = 0; late < 2; late++) {
    const attn_tensor *a = attn_rotary(tape, "a", x, NULL, 3 + 500 * late, 1, 10000);
    const attn_tensor *b = attn_rotary(tape, "b", y, NULL, 8 + 500 * late, 1, 10000);
    products[late] = dot(a->data, b->data, 8);
  }
  CHECK_NEAR(products[0], products[1], 16 * turn_slack(500));
}

static void alibi_slopes_are_powers_of_two_and_of_its_root_between(void) {
  for (int heads = 1; heads <= 80; heads++) {
    fresh();
    const attn_tensor *slopes = attn_alibi_slopes(tape, "slopes", heads);
    int power = 1;
    while (power * 2 <= heads) power *= 2;
    for (int head = 0; head < heads; head++) {
      const double exponent =
          head < power ? 8.0 * (head + 1) / power : 4.0 * (2 * (head - power) + 1) / power;
      NOTE("head %d of %d", head, heads);
      CHECK_NEAR(slopes->data[head] * exp2(exponent), 1, slack);
    }
  }
}

/* ---- heads -------------------------------------------------------------------------------- */

static void splitting_and_merging_heads_gives_the_same_numbers(void) {
  for (int heads = 1; heads <= 12; heads++) {
    if (12 % heads) continue;
    fresh();
    const attn_tensor *x = given("x", SHAPE(2, 5, 12));
    const attn_tensor *split = attn_split_heads(tape, "split", x, heads, "Tk");
    CHECK(split->rank == 4 && split->shape[1] == heads && split->shape[3] == 12 / heads);
    CHECK(strcmp(split->axes[1], "h") == 0 && strcmp(split->axes[2], "Tk") == 0);
    CHECK_BITS(vector_of(split, 1, heads - 1, 3)[0], x->data[(5 + 3) * 12 + 12 - 12 / heads]);
    const attn_tensor *merged = attn_merge_heads(tape, "merged", split);
    CHECK(equal_tensors(merged, x));
    CHECK(strcmp(merged->axes[1], "Tk") == 0 && strcmp(merged->axes[2], "H") == 0);
  }
}

static void weights_of_heads_have_a_mean_and_an_entropy(void) {
  fresh();
  const attn_tensor *weights =
      numbers("weights", SHAPE(1, 2, 2, 4),
              (attn_real[]){0.25f, 0.25f, 0.25f, 0.25f, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0, 0, 0});
  const attn_tensor *mean = attn_mean_heads(tape, "mean", weights);
  const attn_tensor *entropy = attn_entropy(tape, "entropy", weights);
  check_row(mean, 0, (double[]){0.375, 0.375, 0.125, 0.125});
  check_row(mean, 1, (double[]){0.5, 0, 0, 0});
  CHECK(mean->rank == 3 && entropy->rank == 3 && entropy->shape[2] == 2);
  check_row(entropy, 0, (double[]){log(4), 0});
  check_row(entropy, 1, (double[]){log(2), 0});
  const attn_tensor *doubled = attn_add(tape, "doubled", weights, weights);
  check_row(attn_entropy(tape, "same", doubled), 0, (double[]){log(4), 0});
}

static void mean_and_entropy_need_four_axes(void) {
  fresh();
  CHECK(attn_mean_heads(tape, "mean", given("x", SHAPE(5, 4))) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 2 axes; weights are [B, h, Tq, Tk]");
  fresh();
  CHECK(attn_entropy(tape, "entropy", given("x", SHAPE(5, 4, 0))) == NULL);
  CHECK_FAILED(ATTN_BAD_SHAPE, "x has 3 axes; weights are [B, h, Tq, Tk]");
}

/* ---- multi-head attention, encoder layer -------------------------------------------------- */

enum { HIDDENS = 12, HEADS = 3 };

static attn_multi_head_weights projections(int query, int key, int value, bool biased) {
  return (attn_multi_head_weights){
      given("w_q", SHAPE(HIDDENS, query)), biased ? given("b_q", SHAPE(HIDDENS)) : NULL,
      given("w_k", SHAPE(HIDDENS, key)),   biased ? given("b_k", SHAPE(HIDDENS)) : NULL,
      given("w_v", SHAPE(6, value)),       biased ? given("b_v", SHAPE(6)) : NULL,
      given("w_o", SHAPE(5, 6)),           biased ? given("b_o", SHAPE(5)) : NULL};
}

/* heads against the definition, from the query, key and value on the tape. */
static void check_heads(const attn_tensor *query, const attn_tensor *key,
                        const attn_attention_options *options) {
  const attention_call call = {query, key, found("value"), *options};
  const attn_tensor *mixed = found("heads");
  for (int r = 0; r < attn_rows(mixed); r++) {
    const int length = mixed->shape[2];
    const attention_row row = expect_row(&call, r / length / HEADS, r / length % HEADS, r % length);
    check_row(mixed, r, row.output);
  }
}

static void multi_head_attention_projects_attends_merges_and_projects(void) {
  for (int kind = 0; kind < 8; kind++) {
    const bool biased = kind & 1, turned = kind & 2, fused = kind & 4;
    fresh();
    const attn_tensor *x = given("x", SHAPE(2, 4, 7)), *y = given("y", SHAPE(2, 6, 8));
    const attn_tensor *z = given("z", SHAPE(2, 6, 9));
    const attn_multi_head_weights weights = projections(7, 8, 9, biased);
    attn_attention_options options = attn_attention_defaults();
    options.heads = HEADS;
    options.causal = kind == 7 ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_BOTTOM_RIGHT;
    options.rotary = turned ? ATTN_PAIRING_INTERLEAVED : ATTN_PAIRING_NONE;
    options.need_weights = !fused;
    NOTE("kind %d", kind);
    const attn_tensor *out = attn_multi_head_attention(tape, x, y, z, &weights, &options);
    CHECK_OK();
    check_linear(found("query_projection"), x, weights.query_weight, weights.query_bias);
    check_linear(found("key_projection"), y, weights.key_weight, weights.key_bias);
    check_linear(found("value_projection"), z, weights.value_weight, weights.value_bias);
    const attn_tensor *query = found("query"), *key = found("key");
    if (turned) {
      const double positions[] = {0, 1, 2, 3, 4, 5};
      check_rotary(found("turned_query"), query, positions + (kind == 7 ? 0 : 2), options.rotary,
                   10000);
      check_rotary(found("turned_key"), key, positions, options.rotary, 10000);
      query = found("turned_query"), key = found("turned_key");
    }
    check_heads(query, key, &options);
    check_linear(out, found("merged_heads"), weights.output_weight, weights.output_bias);
    CHECK(strcmp(out->name, "output") == 0 && strcmp(out->axes[1], "Tq") == 0);
  }
}

static void a_head_that_is_off_gives_nothing_even_where_it_is_nan(void) {
  fresh();
  const attn_tensor *x = given("x", SHAPE(1, 4, 7));
  const attn_multi_head_weights weights = projections(7, 7, 7, false);
  attn_attention_options options = attn_attention_defaults();
  options.heads = HEADS;
  options.head_mask = numbers("head_mask", SHAPE(HEADS), (attn_real[]){0, 1, -0.5f});
  weights.query_weight->data[0] = NAN;
  const attn_tensor *out = attn_multi_head_attention(tape, x, x, x, &weights, &options);
  const attn_tensor *mixed = found("heads"), *masked = found("masked_heads");
  CHECK(isnan(mixed->data[0]));
  for (int i = 0; i < 24; i++)
    CHECK_BITS(masked->data[i], i < 8 ? 0 : i < 16 ? mixed->data[i] : mixed->data[i] * -0.5f);
  for (int i = 0; i < 20; i++) CHECK(!isnan(out->data[i]));
}

static void padding_of_nan_reaches_no_valid_token(void) {
  for (int pre = 0; pre < 2; pre++) {
    fresh();
    const attn_tensor *square = given("w", SHAPE(HIDDENS, HIDDENS));
    const attn_encoder_layer_weights weights = {
        .attention = {square, NULL, square, NULL, square, NULL, square, NULL},
        .feed_forward = {given("w1", SHAPE(20, HIDDENS)), NULL, given("w2", SHAPE(HIDDENS, 20)),
                         NULL}};
    attn_encoder_layer_options options = attn_encoder_layer_defaults();
    options.norm = pre;
    options.attention.heads = HEADS;
    options.attention.valid_lengths = numbers("lengths", SHAPE(1, 1), (attn_real[]){3});
    const attn_tensor *x = given("x", SHAPE(1, 5, HIDDENS));
    const attn_tensor *clean = attn_encoder_layer(tape, x, &weights, &options);
    for (int i = 3 * HIDDENS; i < 5 * HIDDENS; i++) x->data[i] = NAN;
    const attn_tensor *spoilt = attn_encoder_layer(tape, x, &weights, &options);
    for (int i = 0; i < 5 * HIDDENS; i++)
      CHECK_BITS(spoilt->data[i], i < 3 * HIDDENS ? clean->data[i] : NAN);
  }
}

static void check_sum(const attn_tensor *sum, const attn_tensor *x, const attn_tensor *y) {
  for (ptrdiff_t i = 0; i < attn_length(x); i++) CHECK_BITS(sum->data[i], x->data[i] + y->data[i]);
}

static void the_encoder_layer_adds_and_norms_in_the_order_of_its_kind(void) {
  for (int kind = 0; kind < 6; kind++) {
    const bool pre = kind & 1;
    fresh();
    const attn_tensor *x = given("x", SHAPE(2, 4, HIDDENS)),
                      *square = given("w", SHAPE(HIDDENS, HIDDENS));
    const attn_tensor *row = given("row", SHAPE(HIDDENS));
    const attn_encoder_layer_weights weights = {
        .attention = {square, row, square, NULL, square, NULL, square, row},
        .norm1_weight = given("g1", SHAPE(HIDDENS)),
        .norm2_bias = given("b2", SHAPE(HIDDENS)),
        .feed_forward = {given("w1", SHAPE(20, HIDDENS)), given("b1", SHAPE(20)),
                         given("w2", SHAPE(HIDDENS, 20)), NULL}};
    attn_encoder_layer_options options = attn_encoder_layer_defaults();
    options.norm = pre ? ATTN_NORM_PRE : ATTN_NORM_POST;
    options.activation = kind / 2;
    options.attention.heads = HEADS;
    NOTE("kind %d", kind);
    const attn_tensor *out = attn_encoder_layer(tape, x, &weights, &options);
    CHECK_OK();
    const attn_tensor *attended = found("attended"), *norm1 = found("norm1");
    const attn_tensor *fed = found("feed_forward.output"), *hidden = found("feed_forward.hidden");
    const attn_tensor *activated = found("feed_forward.activated");
    check_sum(attended, x, found("attention.output"));
    check_norm(norm1, pre ? x : attended, weights.norm1_weight, NULL, 1e-5f);
    CHECK(found("attention.query_projection")->inputs[0] == (pre ? norm1 : x));
    if (pre) {
      check_norm(found("norm2"), attended, NULL, weights.norm2_bias, 1e-5f);
      check_sum(out, attended, fed);
    } else {
      check_sum(found("fed_forward"), norm1, fed);
      check_norm(out, found("fed_forward"), NULL, weights.norm2_bias, 1e-5f);
    }
    check_linear(hidden, pre ? found("norm2") : norm1, weights.feed_forward.linear1_weight,
                 weights.feed_forward.linear1_bias);
    for (ptrdiff_t i = 0; i < attn_length(hidden); i++)
      CHECK_CLOSE(activated->data[i], active(kind / 2, hidden->data[i]));
    check_linear(fed, activated, weights.feed_forward.linear2_weight, NULL);
    CHECK(strcmp(out->name, "output") == 0);
  }
}

int main(void) {
  RUN(linear_is_x_times_the_transposed_weight_plus_bias);
  RUN(add_repeats_along_the_leading_axes_it_lacks);
  RUN(layer_norm_is_that_of_its_definition);
  RUN(layer_norm_divides_by_all_elements_and_survives_equal_ones);
  RUN(activations_follow_libm);
  RUN(sinusoidal_positions_follow_libm_at_any_offset_and_width);
  RUN(an_offset_starts_the_same_table_later);
  RUN(rotary_turns_pairs_by_their_position);
  RUN(rotary_products_depend_on_the_distance_alone);
  RUN(alibi_slopes_are_powers_of_two_and_of_its_root_between);
  RUN(splitting_and_merging_heads_gives_the_same_numbers);
  RUN(weights_of_heads_have_a_mean_and_an_entropy);
  RUN(mean_and_entropy_need_four_axes);
  RUN(multi_head_attention_projects_attends_merges_and_projects);
  RUN(a_head_that_is_off_gives_nothing_even_where_it_is_nan);
  RUN(padding_of_nan_reaches_no_valid_token);
  RUN(the_encoder_layer_adds_and_norms_in_the_order_of_its_kind);
  return report();
}

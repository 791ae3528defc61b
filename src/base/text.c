#include "base/text.h"

attn_text attn_text_in(char *out, size_t capacity) {
  if (capacity > 0) out[0] = 0;
  return (attn_text){out, capacity, 0, capacity == 0};
}

static void add_char(attn_text *text, char c) {
  if (text->length + 1 >= text->capacity) {
    text->cut = true;
    return;
  }
  text->out[text->length++] = c;
  text->out[text->length] = 0;
}

static void add_string(attn_text *text, const char *string) {
  if (string)
    while (*string) add_char(text, *string++);
}

static void add_integer(attn_text *text, int64_t value) {
  if (value < 0) add_char(text, '-');
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  while (count) add_char(text, digits[--count]);
}

/* value = ±d.dddddd × 10^exponent, rounded to 7 digits, zeros at the end left out. */
static void add_number(attn_text *text, double value) {
  if (value != value) {
    add_string(text, "NaN");
    return;
  }
  if (value < 0) add_char(text, '-');
  double size = value < 0 ? -value : value;
  if (size > 1.7976931348623157e308) {
    add_string(text, "Infinity");
    return;
  }
  int exponent = 0;
  if (size > 0) {
    while (size >= 10) size /= 10, exponent++;
    while (size < 1) size *= 10, exponent--;
  }
  int64_t digits = (int64_t)(size * 1e6 + 0.5);
  if (digits >= 10000000) digits /= 10, exponent++;
  const bool plain = exponent >= -4 && exponent <= 9;
  int point = plain ? exponent : 0; /* digits before the point, less one */
  int64_t unit = 1000000;
  if (point < 0) {
    add_string(text, "0.");
    for (int i = -1; i > point; i--) add_char(text, '0');
  }
  for (int i = 0; digits > 0 || i <= point || i == 0; i++) {
    if (i == point + 1 && point >= 0) add_char(text, '.');
    const int64_t digit = unit ? digits / unit : 0;
    add_char(text, (char)('0' + digit));
    digits -= digit * unit;
    unit /= 10;
  }
  if (!plain) {
    add_char(text, 'e');
    add_integer(text, exponent);
  }
}

void attn_text_add_list(attn_text *text, const char *format, va_list arguments) {
  for (; *format; format++) {
    if (*format != '%') {
      add_char(text, *format);
      continue;
    }
    switch (*++format) {
      case 'd':
        add_integer(text, va_arg(arguments, int));
        break;
      case 's':
        add_string(text, va_arg(arguments, const char *));
        break;
      case 'g':
        add_number(text, va_arg(arguments, double));
        break;
      default:
        add_char(text, *format);
        break;
    }
  }
}

void attn_text_add(attn_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  attn_text_add_list(text, format, arguments);
  va_end(arguments);
}

size_t attn_text_length(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

bool attn_text_equal(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

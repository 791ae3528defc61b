/* Text into a fixed buffer: messages, names, descriptions. Cut at the end, always terminated. */
#ifndef ATTN_BASE_TEXT_H
#define ATTN_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct attn_text {
  char *out;
  size_t capacity; /* with the terminating zero */
  size_t length;
  bool cut; /* something did not fit */
} attn_text;

attn_text attn_text_in(char *out, size_t capacity);

/* %d int, %s string (NULL prints nothing), %g number with up to 7 significant digits, %% percent.
 */
void attn_text_add(attn_text *text, const char *format, ...);
void attn_text_add_list(attn_text *text, const char *format, va_list arguments);

size_t attn_text_length(const char *text);
bool attn_text_equal(const char *a, const char *b);

#endif

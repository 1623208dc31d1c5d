/* How the values of options are read. Each returns NULL, or what is wrong with the text. */
#ifndef QFI_PARSE_H
#define QFI_PARSE_H

#include "args.h"

typedef const char *qfi_parser(void *field, const char *text);

/* What is wrong when there is no memory: not the text. */
extern const char qfi_no_memory[];

qfi_parser qfi_parse_flag, qfi_parse_text, qfi_parse_list, qfi_parse_size, qfi_parse_growth,
    qfi_parse_count;

#endif

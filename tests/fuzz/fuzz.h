/* The one function of a fuzz target, and a file for parsers that read files. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Stops the program, as a crash does, if what must hold does not. */
#define FUZZ_CHECK(holds) ((holds) ? (void)0 : __builtin_trap())

#endif

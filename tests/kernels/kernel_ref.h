/* How a family tells the kernel tests what its operators mean: a file ref_<family>.c with one table
 *
 *     const ref_op ref_binary[] = { { .op = "add", .element = add }, …, { 0 } };
 *
 * which ref_find.c finds by the family. References are naive and share no code with
 * kernels/. For most operators `element` is enough; the hooks after it serve the others. */
#ifndef QF_KERNEL_REF_H
#define QF_KERNEL_REF_H

#include "check.h"

/* A tile in memory: m x n elements of a key, [i][j] at p + i * row + j * col. before, after: bytes
 * around them that the kernel may read, too (random bits). */
typedef struct ref_tile {
    unsigned char *p;
    ptrdiff_t row, col;
    size_t m, n, before, after;
    unsigned key;
} ref_tile;

/* One call of a kernel. bad: what p.bad points to. */
typedef struct ref_case {
    const qfk_row *row;
    size_t m, n;
    unsigned n_in;
    ref_tile in[3], x;
    qfk_param p;
    uint32_t bad;
} ref_case;

/* One output element of an elementwise operator: the bits of its inputs, and where it stands. */
typedef struct ref_el {
    unsigned key; /* the row's */
    unsigned in_key[3], x_key;
    const qfk_param *p;
    size_t i, j;
    uint64_t in[3];
} ref_el;

enum {
    REF_ANY_COL = 1,   /* inputs may have any column stride */
    REF_RUNS_DOWN = 2, /* the row stride of input 0 is the element size */
    REF_NAN_BITS = 4,  /* NaNs are compared by their bits, too */
    REF_UPDATES = 8,   /* the output's old elements are read, so they start as values of its key */
    REF_GUARD = 16     /* no output: `element` says whether its inputs are bad; most become good */
};

/* One operator. in, x: keys of the operands where they differ from the row's; 0: the row's.
 * element: bits of one output element.
 * tile: or else, the whole output, written into c->x from c->in.
 * shape: changes sizes, keys, strides (0: chosen), parameters of a case before memory is laid out.
 * values: changes inputs after they got default values.
 * whole: tests a row in its own way; returns false and a text.
 * ulps: allowed distance of the scalar row from the reference, in f32 (f64) results. */
typedef struct ref_op {
    const char *op;
    unsigned in[3], x, flags;
    uint64_t (*element)(const ref_el *e);
    void (*tile)(const ref_case *c);
    void (*shape)(ref_case *c, check_rng *rng);
    void (*values)(const ref_case *c, check_rng *rng);
    bool (*whole)(const qfk_row *row, const qfk_row *scalar, check_rng *rng, char *why,
                  size_t why_size);
    unsigned ulps_f32, ulps_f64;
} ref_op;

extern const ref_op ref_copy[], ref_binary[], ref_unary[], ref_compare[], ref_select[], ref_cast[],
    ref_quant[], ref_fill[], ref_guard[], ref_reduce[], ref_gather[], ref_gemm[];

/* Element [i][j] of a tile. */
uint64_t ref_get(const ref_tile *t, size_t i, size_t j);
void ref_set(const ref_tile *t, size_t i, size_t j, uint64_t bits);

/* Operand 0 as nibbles: its shape and parameters; element [i][j] as a byte of the row's key. */
void ref_shape_nibbles(ref_case *c, check_rng *rng);
uint64_t ref_nibble(const ref_case *c, size_t i, size_t j);

/* The operator of a row, or NULL. */
const ref_op *ref_find(const qfk_row *row);

/* Tests one row over all sizes and layouts, the scalar row (scalar == row) against the reference,
 * others against `scalar`, in about `percent` of the cases that there are. Returns false at the
 * first difference, with a text. */
bool ref_run(const qfk_row *row, const qfk_row *scalar, const ref_op *op, uint64_t seed,
             unsigned percent, char *why, size_t why_size);

#endif

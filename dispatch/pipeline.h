/* Pipelines: what the builder makes and the runner walks.
 *
 *   qf_pipe   a result, as one segment; and values kept whole, each with the segment that makes it
 *   segment   boxes (pieces) that together cover a value
 *   piece     a box of loops; operands, each an affine form over the loops; stages, each a kernel
 *             call on tiles
 *   breaker   an operator that reads its operands, which are segments, in its own order, and makes
 *             any box of its result
 *
 * References of a piece: 0 … n_operand-1 are operands, QFI_TEMP … are results of stages. */
#ifndef QFOLD_DISPATCH_PIPELINE_H
#define QFOLD_DISPATCH_PIPELINE_H

#include "dispatch/loops.h"
#include "dispatch/memory.h"
#include "kernels/rows.h"

#define QFI_TEMP 64     /* reference of the first result of a stage */
#define QFI_NO_REF 255  /* out of a guard, which has no result */
#define QFI_OPERANDS 32 /* operands of one piece */
#define QFI_STAGES 96   /* stages of one piece */
/* A slot holds a tile of at most 64 rows and 4 KiB, with up to 64 bytes after each row. */
#define QFI_SLOT ((size_t)8192)
#define QFI_SLOT_ROWS 64
#define QFI_SLOT_BYTES 4096
/* Memory of a worker in which tiles stand before their rows go to the destination: transposed ones,
 * and those whose lines go past the caches. */
#define QFI_STAGING QFK_STAGING
/* Bytes of a result below which none of that pays. */
#define QFI_LEAST_STAGED ((uint64_t)1 << 17)
/* Working memory below which reads and breakers would crawl. */
#define QFI_LEAST_WORK ((uint64_t)1 << 16)

/* Returned by what needs more working memory than is left; the caller tries a smaller box. Never
 * leaves the runner. */
#define QFI_TOO_LARGE ((qf_status)0x7ffe)

typedef enum qfi_source {
    QFI_MEMORY, /* an input whose bytes are in memory */
    QFI_READ,   /* an input whose bytes come through read() */
    QFI_KEPT,   /* a kept value */
    QFI_PANEL,  /* a breaker's result, made for the box at hand */
    QFI_SPLAT,  /* one element for all */
} qfi_source;

/* at: element number in the storage or the kept value (unused by PANEL and SPLAT).  row: PANEL:
 * coordinate in each dim of the breaker's result.  bits: of an element, 4 or 8 … 64.  which: number
 * of the input, the kept value or the breaker.  slot: where tiles are loaded if the memory is not
 * adjacent.  copy (4-bit elements: unpack, NULL where stages take nibbles), transpose: kernels that
 * load. */
typedef struct qfi_operand {
    uint8_t source, bits, slot;
    uint32_t which;
    uint64_t splat;
    qfi_form at;
    const qfi_form *row;
    qfk_tile *copy, *transpose;
} qfi_operand;

/* op, key: of the kernel's row.  in, out: references.  bits: of the result in its slot.  index:
 * number of the form that gives p.i[0 … 2], -1 if none.  nibbles: in[0] is an operand of 4 bits,
 * whose element numbers are p.i[0 … 2].  past: the kernel heeds p.past.  turned: NULL, or the
 * kernel that does the same with an in[0] that runs down the rows, past the caches. */
typedef struct qfi_stage {
    qfk_tile *fn, *turned;
    uint16_t op, key;
    uint8_t n_in, in[3], out, bits;
    int8_t index;
    bool nibbles, past;
    qfk_param p;
} qfi_stage;

/* Stages that one kernel of the product `panel` does where its tiles are used. covers: which; last:
 * that whose result it makes.  c: what the product is added to.  p: scale and manner. */
typedef struct qfi_update {
    const qfk_row *row;
    uint8_t panel, c, last;
    bool covers[QFI_STAGES];
    qfk_param p;
} qfi_update;

typedef struct qfi_piece {
    qfi_box box;
    uint8_t n_operand, n_stage, n_index, root;
    uint8_t slot[QFI_STAGES]; /* of each result of a stage */
    qfi_operand *operand;
    const qfi_stage *stage;
    const qfi_form *index;
    const qfi_update *update; /* NULL: there is none */
} qfi_piece;

/* dim: of the value, from slowest to fastest.  bits: of an element in the destination (128-bit ones
 * are two of 64 along a last dim).  copy, transpose, pack, stream: kernels that store. */
typedef struct qfi_segment {
    uint8_t n_dim, bits, n_slot;
    bool reads;      /* it needs working memory: READ or PANEL operands */
    bool turns;      /* a piece of it may be a transpose */
    bool turns_past; /* its kernel heeds past */
    int64_t dim[QFI_DIMS];
    uint32_t n_piece;
    const qfi_piece **piece;
    qfk_tile *copy, *transpose, *pack, *stream;
} qfi_segment;

typedef struct qfi_run qfi_run;
typedef struct qfi_breaker qfi_breaker;

/* Makes the box [lo, lo + n) of the result at `dst`, element (x - lo) at sum(stride * (x - lo)),
 * strides in elements. QFI_TOO_LARGE, without a diagnosis, if the working memory of the run does
 * not do. */
typedef qf_status qfi_breaker_run(qfi_run *run, const qfi_breaker *b, const int64_t *lo,
                                  const int64_t *n, char *dst, const int64_t *stride);

/* Memory that will be used next: element [i][j] at p + i * row + j * col bytes. */
typedef struct qfi_ahead {
    const char *p;
    ptrdiff_t row, col;
} qfi_ahead;

/* A breaker whose result can be made a tile at a time, where it is used. hold: prepare its operands
 * for all of the result, in working memory that stays; *held is NULL if there is no room.  pairs:
 * columns as updates of bf16 want them.  tile: m x n elements at `at` of the result's dims; the row
 * is a multiple of the kernel's mr, the column of nr, and *out has room for whole blocks of both;
 * meanwhile it may fetch `ahead`.  update: the tile added to c as the update says; the column is a
 * multiple of nr, and no row is beyond the block of mr of the first.  strip: how many columns of
 * tiles should be made from top to bottom before the next ones. */
typedef qf_status qfi_breaker_hold(qfi_run *run, const qfi_breaker *b, bool pairs,
                                   const void **held);
typedef struct qfi_breaker_tiles {
    qfi_breaker_hold *hold;
    void (*tile)(const qfi_breaker *b, const void *held, const int64_t *at, size_t m, size_t n,
                 qfk_out out, const qfi_ahead *ahead);
    void (*update)(const qfi_breaker *b, const void *held, const int64_t *at, const qfi_update *how,
                   const qfk_in *c, size_t m, size_t n, qfk_out out);
    int64_t (*strip)(const qfi_breaker *b);
} qfi_breaker_tiles;

/* Kernels that a breaker calls, by its own numbering. */
#define QFI_BREAKER_KERNELS 8

struct qfi_breaker {
    uint32_t value;
    qf_op op;
    qf_attrs attrs;
    qf_type type, in_type[QF_MAX_RANK + 1]; /* index takes one index per dim */
    uint8_t n_in;
    const qfi_segment *in[QF_MAX_RANK + 1];
    const qfk_row *kernel[QFI_BREAKER_KERNELS];
    uint8_t bits[QFI_BREAKER_KERNELS]; /* of what each kernel makes */
    qf_dtype compute, makes;        /* inside, and of what it hands over: the type, or `compute` */
    const qfi_breaker_tiles *tiles; /* NULL: it makes boxes only */
    uint8_t turned;                 /* matmul: bit i: operand i runs along k, its last dim */
    uint64_t work;                  /* working memory without which it makes nothing */
    uint64_t enough;                /* that a worker uses at most; 0: all there is */
    qfi_breaker_run *run;
};

/* A value kept whole. at: offset in the scratch region.  last: the last kept value (by number; the
 * result comes after all) that reads it. */
typedef struct qfi_kept {
    uint32_t last;
    uint64_t at, size;
    const qfi_segment *segment;
} qfi_kept;

/* input: of the program, storages referenced while the pipeline lives, NULL for what the result
 * does not need.  joined: likewise, 1 + the input with the same storage that it is read as, 0 if it
 * is read as itself.  parent, refs: a bound pipeline owns its inputs alone, all else is its
 * parent's, which counts itself and whoever is bound to it. */
struct qf_pipe {
    qfi_bump pool;
    struct qf_pipe *parent;
    uint32_t refs;
    qf_type type;
    uint8_t bits;
    qf_cost cost;
    uint32_t n_kept, n_breaker, n_input, n_slot;
    const qfi_kept *kept; /* in the order in which they are made */
    qfi_breaker **breaker;
    const qfi_segment *result;
    qf_tensor *input;
    uint32_t *joined;
    uint64_t work;   /* least working memory; 0: nothing needs any */
    uint64_t enough; /* that a worker uses at most; 0: all there is */
};

#endif

/* Prefix sums and products: rows along the scanned dim, each run through in f64 or i64 in order,
 * every prefix rounded to the result's type. */
#include "dispatch/breakers/panels.h"

#include <string.h>

qf_status qfi_scan_make(qfi_builder *b, qfi_breaker *x)
{
    const bool is_float = qf_dtype_get(x->type.dtype)->kind == QF_CLASS_FLOAT;
    uint8_t order[QF_MAX_RANK];
    int n = 0, used;

    for (int d = 0; d < x->type.rank; d++)
        if (d != x->attrs.dim.dim)
            order[n++] = (uint8_t)d;
    order[n] = x->attrs.dim.dim;
    x->compute = is_float ? QF_DT_f64 : QF_DT_i64;
    x->run = qfi_scan_run;
    QF_TRY(qfi_operand_segment(b, qfi_step(b, x->value)->in[0], order, x->compute, &x->in[0]));
    return qfi_breaker_cast(b, x, 0, x->compute, x->type.dtype, &used);
}

/* The part of the result at hand. from: prefixes before it are added up only.  row_stride: of the
 * other dims.  step: of the scanned one. */
typedef struct scan {
    const qfi_breaker *x;
    char *dst;
    int64_t row_stride[QFI_DIMS], step, from;
    qfi_panels panels;
} scan;

/* Runs through `rows` rows of `width` elements of `type`, in place; *carried: what each row hands
 * on. */
#define RUN_THROUGH(name, type, operator)                                                          \
    static void name(char *values, int64_t rows, int64_t width, char *carried)                     \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++, carried += sizeof(type)) {                              \
            type v, so_far;                                                                        \
            memcpy(&so_far, carried, sizeof so_far);                                               \
            for (int64_t j = 0; j < width; j++, values += sizeof(type)) {                          \
                memcpy(&v, values, sizeof v);                                                      \
                so_far = so_far operator v;                                                        \
                memcpy(values, &so_far, sizeof so_far);                                            \
            }                                                                                      \
            memcpy(carried, &so_far, sizeof so_far);                                               \
        }                                                                                          \
    }

RUN_THROUGH(add_floats, double, +)
RUN_THROUGH(add_integers, uint64_t, +)
RUN_THROUGH(multiply_floats, double, *)
RUN_THROUGH(multiply_integers, uint64_t, *)

/* `rows` rows of one scan, from their beginning or going on. */
static void scan_rows(const qfi_breaker *x, char *values, int64_t rows, int64_t width,
                      char *carried)
{
    const bool product = x->op == QF_OP_cumprod;

    if (x->compute == QF_DT_f64)
        (product ? multiply_floats : add_floats)(values, rows, width, carried);
    else
        (product ? multiply_integers : add_integers)(values, rows, width, carried);
}

/* What each of `rows` rows starts from. */
static void start_rows(const qfi_breaker *x, int64_t rows, char *carried)
{
    const bool product = x->op == QF_OP_cumprod;
    const double real = product;
    const uint64_t whole = product;

    for (int64_t i = 0; i < rows; i++)
        memcpy(carried + i * 8,
               x->compute == QF_DT_f64 ? (const void *)&real : (const void *)&whole, 8);
}

static char *rounded(const qfi_breaker *x, int64_t n, char *a, char *b)
{
    int64_t size = 8;

    for (int k = 0; k < 2 && x->kernel[k]; k++) {
        char *swap = a;
        const qfk_in in = { a, n * size, size };
        size = x->bits[k] / 8;
        x->kernel[k]->fn(1, (size_t)n, &in, (qfk_out){ b, n * size }, &(qfk_param){ 0 });
        a = b;
        b = swap;
    }
    return a;
}

/* Elements from column `skip` on of rows of `width` to their places. */
static void put_rows(int n_row, int64_t width, int64_t skip, const char *from, const int64_t *n,
                     char *dst, const int64_t *stride, int64_t size)
{
    int64_t at[QFI_DIMS] = { 0 }, to = 0;
    int d;

    do {
        qfi_scatter(from + skip * size, 1, &n[n_row], dst + to * size, &stride[n_row],
                    (size_t)size);
        from += width * size;
        for (d = n_row - 1; d >= 0; d--) {
            to += stride[d];
            if (++at[d] < n[d])
                break;
            to -= stride[d] * n[d];
            at[d] = 0;
        }
    } while (d >= 0);
}

static qf_status scan_block(const void *user, qfi_run *run, const qfi_panel_block *block,
                            char *mine)
{
    const scan *s = user;
    const qfi_panels *p = &s->panels;
    const int64_t size = qf_dtype_get(s->x->type.dtype)->bits / 8;
    const qfi_walk chunks = qfi_panel_chunks(p, block);
    char *other = mine + QFI_BLOCK * 8,
         *carried = block->carried ? block->carried : other + QFI_BLOCK * 8;
    int64_t lo[QFI_DIMS], n[QFI_DIMS], stride[QFI_DIMS], column = block->column, to = 0;

    if (column == 0)
        start_rows(s->x, block->rows, carried);
    for (int d = 0; d < p->n_row; d++)
        to += (block->lo[d] - p->lo[d]) * s->row_stride[d];
    memcpy(stride, s->row_stride, sizeof *stride * (size_t)p->n_row);
    stride[p->n_row] = s->step;
    for (int64_t c = 0; c < chunks.total; c++) {
        const int64_t width = qfi_panel_chunk(p, block, &chunks, c, lo, n),
                      skip = column < s->from ? s->from - column : 0;
        QF_TRY(qfi_run_dense(run, p->segment, lo, n, mine));
        scan_rows(s->x, mine, block->rows, width, carried);
        if (skip < width) {
            const char *from = rounded(s->x, block->rows * width, mine, other);
            n[p->n_row] = width - skip;
            put_rows(p->n_row, width, skip, from, n,
                     s->dst + (to + (column + skip - s->from) * s->step) * size, stride, size);
        }
        column += width;
    }
    return QF_OK;
}

qf_status qfi_scan_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                       char *dst, const int64_t *stride)
{
    const int dim = x->attrs.dim.dim;
    scan s = { .x = x,
               .dst = dst,
               .step = stride[dim],
               .from = lo[dim],
               .panels = { .run = run, .segment = x->in[0], .carry = 8 } };
    qfi_panels *p = &s.panels;

    for (int d = 0; d < x->type.rank; d++) {
        if (d == dim)
            continue;
        s.row_stride[p->n_row] = stride[d];
        p->lo[p->n_row] = lo[d];
        p->n[p->n_row++] = n[d];
    }
    p->n[p->n_row] = lo[dim] + n[dim];
    return qfi_panels_run(p, QFI_BLOCK * 16 + QFI_BLOCK_ROWS * 8, scan_block, &s);
}

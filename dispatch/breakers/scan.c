/* Prefix sums, products and extremes: rows along the scanned dim, each run through in f64 or
 * i64 in order, every prefix rounded to the result's type. */
#include "dispatch/breakers/panels.h"

#include <math.h>
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

/* Runs through `rows` rows of `width` elements of `type`, in place, each becoming `next` of what
 * came before it, `had`, and itself, `v`; *carried: what each row hands on. */
#define RUN_THROUGH(name, type, next)                                                              \
    static void name(char *values, int64_t rows, int64_t width, char *carried)                     \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++, carried += sizeof(type)) {                              \
            type v, had;                                                                           \
            memcpy(&had, carried, sizeof had);                                                     \
            for (int64_t j = 0; j < width; j++, values += sizeof(type)) {                          \
                memcpy(&v, values, sizeof v);                                                      \
                had = next;                                                                        \
                memcpy(values, &had, sizeof had);                                                  \
            }                                                                                      \
            memcpy(carried, &had, sizeof had);                                                     \
        }                                                                                          \
    }

/* Of equal elements the last, which shows in zeros; a NaN stays. */
RUN_THROUGH(add_floats, double, had + v)
RUN_THROUGH(multiply_floats, double, had *v)
RUN_THROUGH(raise_floats, double, had != had || had > v ? had : v)
RUN_THROUGH(lower_floats, double, had != had || had < v ? had : v)
RUN_THROUGH(add_integers, uint64_t, had + v)
RUN_THROUGH(multiply_integers, uint64_t, had *v)
RUN_THROUGH(raise_integers, int64_t, had > v ? had : v)
RUN_THROUGH(lower_integers, int64_t, had < v ? had : v)

/* What runs through the rows, and what they start from. */
static const struct {
    qf_op op;
    void (*floats)(char *values, int64_t rows, int64_t width, char *carried);
    void (*integers)(char *values, int64_t rows, int64_t width, char *carried);
    double real;
    int64_t whole;
} scans[] = {
    { QF_OP_cumsum, add_floats, add_integers, 0, 0 },
    { QF_OP_cumprod, multiply_floats, multiply_integers, 1, 1 },
    { QF_OP_cummax, raise_floats, raise_integers, -INFINITY, INT64_MIN },
    { QF_OP_cummin, lower_floats, lower_integers, INFINITY, INT64_MAX },
};

static size_t scan_number(qf_op op)
{
    size_t i = 0;

    while (i < sizeof scans / sizeof *scans && scans[i].op != op)
        i++;
    return i;
}

bool qfi_is_scan(qf_op op)
{
    return scan_number(op) < sizeof scans / sizeof *scans;
}

/* `rows` rows of one scan, from their beginning or going on. */
static void scan_rows(const qfi_breaker *x, char *values, int64_t rows, int64_t width,
                      char *carried)
{
    const size_t i = scan_number(x->op);

    (x->compute == QF_DT_f64 ? scans[i].floats : scans[i].integers)(values, rows, width, carried);
}

/* What each of `rows` rows starts from. */
static void start_rows(const qfi_breaker *x, int64_t rows, char *carried)
{
    const size_t at = scan_number(x->op);
    const bool is_float = x->compute == QF_DT_f64;

    for (int64_t i = 0; i < rows; i++)
        memcpy(carried + i * 8,
               is_float ? (const void *)&scans[at].real : (const void *)&scans[at].whole, 8);
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

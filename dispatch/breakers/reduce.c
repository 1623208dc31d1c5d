/* Reductions.
 *
 * The operand's dims are ordered kept, then reduced, so that an element of the result is a row of
 * the operand, in row-major order of the reduced dims. A task takes a block of rows and walks their
 * columns in chunks: column j goes to partial j % 16, so the order of additions depends on the
 * shape alone. */
#include "dispatch/breakers/panels.h"

#include <string.h>

enum { STEP, END, POST, CAST };

#define STATE 128 /* bytes of 16 partials */

static const struct {
    qf_op op;
    uint16_t step, end;
    bool wide; /* the state is f64 or i64 */
} rows[] = {
    { QF_OP_sum, QFK_OP_sum, QFK_OP_sum_end, true },
    { QF_OP_mean, QFK_OP_sum, QFK_OP_sum_end, true },
    { QF_OP_norm2, QFK_OP_sumsq, QFK_OP_sumsq_end, true },
    { QF_OP_amax, QFK_OP_amax, QFK_OP_amax_end, false },
    { QF_OP_amin, QFK_OP_amin, QFK_OP_amin_end, false },
    { QF_OP_any, QFK_OP_any, QFK_OP_any_end, false },
};

/* Type in which the operand arrives, and type of the state. */
static void choose_types(const qfi_breaker *x, bool wide, qf_dtype *in, qf_dtype *state)
{
    const qf_dtype dtype = x->in_type[0].dtype;
    const bool is_float = qf_dtype_get(dtype)->kind == QF_CLASS_FLOAT;

    *in = qf_dtype_get(dtype)->compute;
    if (x->op == QF_OP_any)
        *in = QF_DT_b8;
    else if (*in == QF_DT_b8)
        *in = QF_DT_u8; /* booleans are ordered as 0 and 1 */
    if (wide && !is_float)
        *in = QF_DT_i64;
    *state = wide ? (is_float ? QF_DT_f64 : QF_DT_i64) : *in;
}

qf_status qfi_reduce_make(qfi_builder *b, qfi_breaker *x)
{
    uint8_t order[QF_MAX_RANK];
    int used;
    size_t i = 0;
    qf_dtype in, state;

    while (rows[i].op != x->op)
        i++;
    choose_types(x, rows[i].wide, &in, &state);
    qfi_panels_order(x, order);
    x->compute = state;
    x->run = qfi_reduce_run;
    QF_TRY(qfi_operand_segment(b, qfi_step(b, x->value)->in[0], order, in, &x->in[0]));
    QF_TRY(qfi_breaker_kernel(b, x, STEP, rows[i].step, in));
    QF_TRY(qfi_breaker_kernel(b, x, END, rows[i].end, state));
    if (x->op == QF_OP_mean)
        QF_TRY(qfi_breaker_kernel(b, x, POST, QFK_OP_div, state));
    if (x->op == QF_OP_norm2)
        QF_TRY(qfi_breaker_kernel(b, x, POST, QFK_OP_sqrt, state));
    return qfi_breaker_cast(
        b, x, CAST, state,
        x->op == QF_OP_amax || x->op == QF_OP_amin ? x->in_type[0].dtype : x->type.dtype, &used);
}

/* The part of the result at hand. kept_stride: of the dims of the operand that the result has. */
typedef struct reduction {
    const qfi_breaker *x;
    char *dst;
    int64_t kept_stride[QFI_DIMS];
    qfi_panels panels;
    int64_t columns;
    size_t in_size, state_size;
} reduction;

/* Partials to elements, rounded once. `a` holds the partials, `b` has room for the rows; both are
 * used in turn. */
static char *finish(const reduction *r, int64_t n, char *a, char *b)
{
    const qfi_breaker *x = r->x;
    const int64_t size = (int64_t)r->state_size;
    const double count = (double)r->columns;
    qfk_in in[2] = { { a, 16 * size, size }, { &count, 0, 0 } };
    unsigned bits = (unsigned)size * 8;

    x->kernel[END]->fn((size_t)n, 1, in, (qfk_out){ b, size }, &(qfk_param){ 0 });
    if (x->kernel[POST]) {
        in[0] = (qfk_in){ b, n * size, size };
        x->kernel[POST]->fn(1, (size_t)n, in, (qfk_out){ b, n * size }, &(qfk_param){ 0 });
    }
    for (int k = CAST; k < CAST + 2 && x->kernel[k]; k++) {
        char *swap = a;
        in[0] = (qfk_in){ b, n * bits / 8, bits / 8 };
        bits = x->bits[k];
        x->kernel[k]->fn(1, (size_t)n, in, (qfk_out){ a, n * bits / 8 }, &(qfk_param){ 0 });
        a = b;
        b = swap;
    }
    return b;
}

/* The box [lo, lo + n) of the operand as rows of columns: where it stands, or made in `mine`. */
static qf_status chunk_rows(const reduction *r, qfi_run *run, const int64_t *lo, const int64_t *n,
                            int64_t width, char *mine, qfk_in *in)
{
    const qfi_panels *p = &r->panels;
    const qfi_standing at = qfi_fetch_standing(run, p->segment, lo, n);
    const int n_row = p->n_row, n_column = p->segment->n_dim - n_row;
    const int64_t size = (int64_t)r->in_size;
    int64_t row, column;

    if (at.p && qfi_box_even(n_row, n, at.step, &row) &&
        qfi_box_even(n_column, n + n_row, at.step + n_row, &column) &&
        (column == size || column == 0)) {
        *in = (qfk_in){ at.p, row, column };
        for (int d = 0; d < p->segment->n_dim; d++)
            in->p = (const char *)in->p + lo[d] * at.step[d];
        return QF_OK;
    }
    *in = (qfk_in){ mine, width * size, size };
    return qfi_run_dense(run, p->segment, lo, n, mine);
}

static qf_status reduce_block(const void *user, qfi_run *run, const qfi_panel_block *block,
                              char *mine)
{
    const reduction *r = user;
    const qfi_panels *p = &r->panels;
    const size_t size = qf_dtype_get(r->x->type.dtype)->bits / 8;
    const qfi_walk chunks = qfi_panel_chunks(p, block);
    char *other = mine + QFI_BLOCK * 8, *own = other + QFI_BLOCK_ROWS * 16,
         *state = block->carried ? block->carried : own;
    int64_t lo[QFI_DIMS], n[QFI_DIMS], column = block->column, to = 0;

    /* A row without columns is met once too, and is the neutral element. */
    for (int64_t c = 0; c < (chunks.total ? chunks.total : 1); c++) {
        int64_t width = 0;
        qfk_in in = { mine, 0, (ptrdiff_t)r->in_size };
        if (chunks.total) {
            width = qfi_panel_chunk(p, block, &chunks, c, lo, n);
            QF_TRY(chunk_rows(r, run, lo, n, width, mine, &in));
        }
        const qfk_param by = { .i = { column, column == 0 } };
        r->x->kernel[STEP]->fn((size_t)block->rows, (size_t)width, &in,
                               (qfk_out){ state, 16 * (int64_t)r->state_size }, &by);
        column += width;
    }
    if (!block->last)
        return QF_OK;
    for (int d = 0; d < p->n_row; d++)
        to += (block->lo[d] - p->lo[d]) * r->kept_stride[d];
    const char *result = finish(r, block->rows, state, other);
    qfi_scatter(result, p->n_row, block->n, r->dst + to * (int64_t)size, r->kept_stride, size);
    return QF_OK;
}

qf_status qfi_reduce_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                         char *dst, const int64_t *stride)
{
    const size_t state_size = qf_dtype_get(x->compute)->bits / 8;
    reduction r = { .x = x,
                    .dst = dst,
                    .panels = { .run = run, .segment = x->in[0], .carry = 16 * state_size },
                    .in_size = x->in[0]->bits / 8,
                    .state_size = state_size };

    r.columns = qfi_panels_reduced(&r.panels, x, lo, n, stride, r.kept_stride);
    return qfi_panels_run(&r.panels, QFI_BLOCK * 8 + QFI_BLOCK_ROWS * (STATE + 16), reduce_block,
                          &r);
}

/* Where the largest or smallest element of each row stands: the first of equals, a NaN before all.
 */
#include "dispatch/breakers/order_key.h"
#include "dispatch/breakers/panels.h"

#include <string.h>

/* The largest key of a row so far, and its column; -1: none yet. */
typedef struct best {
    uint64_t key;
    int64_t column;
} best;

typedef struct extreme {
    const qfi_breaker *x;
    char *dst;
    int64_t kept_stride[QFI_DIMS];
    qfi_panels panels;
} extreme;

qf_status qfi_extreme_make(qfi_builder *b, qfi_breaker *x)
{
    uint8_t order[QF_MAX_RANK];

    qfi_panels_order(x, order);
    x->compute = qfi_order_dtype(x->in_type[0].dtype);
    x->run = qfi_extreme_run;
    return qfi_operand_segment(b, qfi_step(b, x->value)->in[0], order, x->compute, &x->in[0]);
}

/* Rows of `width` keys from column `first` on. */
static void look(const uint64_t *keys, int64_t rows, int64_t width, int64_t first, best *row)
{
    for (int64_t i = 0; i < rows; i++, row++, keys += width)
        for (int64_t j = 0; j < width; j++)
            if (row->column < 0 || keys[j] > row->key)
                *row = (best){ keys[j], first + j };
}

static qf_status extreme_block(const void *user, qfi_run *run, const qfi_panel_block *block,
                               char *mine)
{
    const extreme *s = user;
    const qfi_panels *p = &s->panels;
    const bool least = s->x->op == QF_OP_argmin;
    const qfi_walk chunks = qfi_panel_chunks(p, block);
    int64_t *at = (int64_t *)(void *)(mine + QFI_BLOCK * 8);
    best *row = (best *)(void *)(block->carried ? block->carried : (char *)(at + QFI_BLOCK_ROWS));
    int64_t lo[QFI_DIMS], n[QFI_DIMS], column = block->column, to = 0;

    for (int64_t i = 0; i < block->rows && column == 0; i++)
        row[i].column = -1;
    for (int64_t c = 0; c < chunks.total; c++) {
        const int64_t width = qfi_panel_chunk(p, block, &chunks, c, lo, n);
        QF_TRY(qfi_run_dense(run, p->segment, lo, n, mine));
        qfi_order_keys(s->x->compute, block->rows * width, mine, least ? 0 : UINT64_MAX,
                       least ? UINT64_MAX : 0);
        look((const uint64_t *)(void *)mine, block->rows, width, column, row);
        column += width;
    }
    if (!block->last)
        return QF_OK;
    for (int d = 0; d < p->n_row; d++)
        to += (block->lo[d] - p->lo[d]) * s->kept_stride[d];
    for (int64_t i = 0; i < block->rows; i++)
        at[i] = row[i].column;
    qfi_scatter((const char *)at, p->n_row, block->n, s->dst + to * (int64_t)sizeof *at,
                s->kept_stride, sizeof *at);
    return QF_OK;
}

qf_status qfi_extreme_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride)
{
    extreme s = { .x = x,
                  .dst = dst,
                  .panels = { .run = run, .segment = x->in[0], .carry = sizeof(best) } };

    qfi_panels_reduced(&s.panels, x, lo, n, stride, s.kept_stride);
    return qfi_panels_run(&s.panels, QFI_BLOCK * 8 + QFI_BLOCK_ROWS * (8 + sizeof(best)),
                          extreme_block, &s);
}

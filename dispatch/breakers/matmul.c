/* Matrix products: compiling them, and cutting a result for operands that have to be read.
 * product.c makes a box of the result, packing.c its operands' panels. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product.h"

#include <string.h>

/* A product of so few steps is not worth storing: its operands' panels pass through the caches
 * while tiles are made. Smaller results would be mostly edges of tiles. */
#define TILE_STEPS 256
#define LEAST_ROWS 4
#define LEAST_COLUMNS 16

static qf_dtype accumulator(qf_dtype t)
{
    if (qf_dtype_get(t)->kind != QF_CLASS_FLOAT)
        return QF_DT_i64;
    return t == QF_DT_f64 ? QF_DT_f64 : QF_DT_f32;
}

/* Elements between neighbours along dim `d` of what the segment reads; 0 if that is not one thing.
 */
static int64_t step_along(const qfi_segment *s, int d)
{
    const qfi_piece *piece = s->n_piece == 1 ? s->piece[0] : NULL;

    for (int l = 0; piece && piece->n_operand > 0 && l < piece->box.n_loop; l++)
        if (piece->box.dim[l] == d && piece->box.pace[l] == 1)
            return qfi_magnitude(piece->operand[0].at.step[l]);
    return 0;
}

/* Operand i in the order batch, row, k or batch, k, column; if its memory runs the other way, with
 * the last two dims exchanged. */
static qf_status make_operand(qfi_builder *b, qfi_breaker *x, int i)
{
    const int rank = x->in_type[i].rank;
    uint8_t order[QF_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };

    QF_TRY(qfi_breaker_operand(b, x, i, NULL, x->compute));
    x->turned |= (uint8_t)(i == 0 && rank > 1);
    if (rank < 2)
        return QF_OK;
    const int64_t first = step_along(x->in[i], rank - 2), last = step_along(x->in[i], rank - 1);
    if (first == 0 || first >= last)
        return QF_OK;
    order[rank - 2] = (uint8_t)(rank - 1);
    order[rank - 1] = (uint8_t)(rank - 2);
    x->turned ^= (uint8_t)(1 << i);
    return qfi_breaker_operand(b, x, i, order, x->compute);
}

bool qfi_matmul_in_tiles(const qfi_builder *b, uint32_t id)
{
    if (qfi_step(b, id)->op != QF_OP_matmul || b->value[id].users != 1)
        return false;
    const qf_type *first = qfi_in_type(b, id, 0), *second = qfi_in_type(b, id, 1);
    return first->rank > 1 && second->rank > 1 && first->dim[first->rank - 1] <= TILE_STEPS &&
           first->dim[first->rank - 2] >= LEAST_ROWS &&
           second->dim[second->rank - 1] >= LEAST_COLUMNS;
}

void qfi_matmul_use_tiles(qfi_breaker *x)
{
    x->makes = accumulator(x->type.dtype);
    x->tiles = &qfi_product_tiles;
}

qf_status qfi_matmul_make(qfi_builder *b, qfi_breaker *x)
{
    int used;

    x->run = qfi_matmul_run;
    x->compute = accumulator(x->type.dtype);
    QF_TRY(make_operand(b, x, 0));
    QF_TRY(make_operand(b, x, 1));
    QF_TRY(qfi_breaker_kernel(b, x, QFI_PRODUCT_GEMM, QFK_OP_gemm, x->compute));
    QF_TRY(qfi_breaker_kernel(b, x, QFI_PRODUCT_PANEL, QFK_OP_panel, x->compute));
    QF_TRY(qfi_breaker_kernel(b, x, QFI_PRODUCT_FINAL, QFK_OP_copy, x->compute));
    x->kernel[QFI_PRODUCT_SMALL] = qfk_pick(b->table, QFK_OP_multiply, (qfk_key)x->compute);
    x->enough = x->in[0]->reads || x->in[1]->reads ? 0 : qfi_product_enough(x);
    return qfi_breaker_cast(b, x, QFI_PRODUCT_FINAL, x->compute, x->type.dtype, &used);
}

/* Which dim of the box to halve so that operands that have to be read fit into `room`: one that
 * makes the larger of them smaller; -1 if they fit or nothing helps. */
static int dim_to_halve(const qfi_run *run, const qfi_breaker *x, const int64_t *lo,
                        const int64_t *n, uint64_t room)
{
    const int rank = x->type.rank, mr = x->kernel[QFI_PRODUCT_GEMM]->mr,
              nr = x->kernel[QFI_PRODUCT_GEMM]->nr;
    int64_t from[QFI_DIMS], count[QFI_DIMS];
    uint64_t size[2] = { 0 };
    int dims = rank, row = -1, col = -1;

    for (int i = 0; i < 2; i++)
        if (qfi_fetch_reads(run, x->in[i]))
            size[i] = qfi_factor_box(x, i, lo, n, from, count);
    if (size[0] + size[1] <= room)
        return -1;
    if (x->in_type[1].rank > 1)
        col = --dims;
    if (x->in_type[0].rank > 1)
        row = --dims;
    for (int d = 0; d < dims; d++)
        if (n[d] > 1)
            return d;
    if (row >= 0 && n[row] > mr && (size[0] >= size[1] || col < 0 || n[col] <= nr))
        return row;
    return col >= 0 && n[col] > nr && size[1] > 0 ? col : -1;
}

/* Operands that have to be read are read for a large part of the result at once, as far as they
 * fit; blocks read the rest themselves. */
static qf_status run_part(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                          char *dst, const int64_t *stride)
{
    int64_t from[QFI_DIMS], count[QFI_DIMS];
    qfi_residents here = { .outer = run->residents };
    qfi_run part = *run;

    for (int i = 0; i < 2; i++) {
        qfi_factor_box(x, i, lo, n, from, count);
        const size_t mark = part.work.used;
        const qf_status st = qfi_fetch_segment(&part, x->in[i], from, count, &here);
        if (st == QFI_TOO_LARGE && here.n == 0)
            part.work.used = mark;
        else if (st != QFI_TOO_LARGE)
            QF_TRY(st);
    }
    part.residents = &here;
    return qfi_product_run(&part, x, lo, n, dst, stride);
}

qf_status qfi_matmul_run(qfi_run *run, const qfi_breaker *x, const int64_t *lo, const int64_t *n,
                         char *dst, const int64_t *stride)
{
    const uint64_t room = (run->work.size - run->work.used) / 2;
    int64_t half_lo[QF_MAX_RANK], half_n[QF_MAX_RANK];
    const int d = x->in[0]->reads || x->in[1]->reads ? dim_to_halve(run, x, lo, n, room) : -1;

    if (d < 0)
        return run_part(run, x, lo, n, dst, stride);
    memcpy(half_lo, lo, sizeof *lo * (size_t)x->type.rank);
    memcpy(half_n, n, sizeof *n * (size_t)x->type.rank);
    half_n[d] = n[d] / 2;
    QF_TRY(qfi_matmul_run(run, x, half_lo, half_n, dst, stride));
    half_lo[d] += half_n[d];
    half_n[d] = n[d] - half_n[d];
    return qfi_matmul_run(run, x, half_lo, half_n,
                          dst + (int64_t)(qf_dtype_get(x->makes)->bits / 8) * stride[d] *
                                    (half_lo[d] - lo[d]),
                          stride);
}

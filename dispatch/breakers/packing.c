/* Packing the operands of a matrix product.
 *
 * An operand in memory goes to its panels directly, whatever its strides; one that is computed,
 * converted or read is made a group of panels at a time, in a block that stays in the second cache
 * level, and packed from there. */
#include "dispatch/arith.h"
#include "dispatch/breakers/product.h"

#include <string.h>

/* Rows of an operand that are packed crosswise are read a group of columns at a time (512 bytes of
 * f32), of 16 rows in turn, so that pages and cache sets do not get in each other's way. */
#define CROSS_ROWS 16

qfi_factor qfi_factor_make(const qfi_run *run, const qfi_breaker *x, int i, const int64_t *lo,
                           const int64_t *n)
{
    const qfi_segment *s = x->in[i];
    const qfk_row *g = x->kernel[QFI_PRODUCT_GEMM];
    const int lead = s->n_dim > 2 ? s->n_dim - 2 : 0;
    const bool k_last = x->turned >> i & 1;
    qfi_factor f = { .segment = s,
                     .width = i == 0 ? g->mr : g->nr,
                     .size = qf_dtype_get(x->compute)->bits / 8,
                     .n_batch = lead,
                     .k_at = s->n_dim > 1 && k_last ? lead + 1 : lead,
                     .x_at = s->n_dim > 1 ? (k_last ? lead : lead + 1) : -1,
                     .panel = x->kernel[QFI_PRODUCT_PANEL] };

    if (s->bits == f.size * 8)
        f.at = qfi_fetch_standing(run, s, lo, n);
    return f;
}

uint64_t qfi_factor_box(const qfi_breaker *x, int i, const int64_t *lo, const int64_t *n,
                        int64_t *from, int64_t *count)
{
    const qfi_segment *s = x->in[i];
    const int lead = s->n_dim > 2 ? s->n_dim - 2 : 0, rank = x->type.rank,
              n_batch = rank - (x->in_type[0].rank > 1 ? 1 : 0) - (x->in_type[1].rank > 1 ? 1 : 0);
    const int own = i == 1 ? rank - 1 : n_batch,
              k_at = s->n_dim > 1 && (x->turned >> i & 1) ? lead + 1 : lead;
    uint64_t all = 1;

    for (int d = 0; d < s->n_dim; d++) {
        const int out = d < lead ? n_batch - lead + d : d == k_at ? -1 : own;
        const bool whole = out < 0 || s->dim[d] == 1;
        from[d] = whole ? 0 : lo[out];
        count[d] = whole ? s->dim[d] : n[out];
        all *= (uint64_t)count[d];
    }
    return all * (qf_dtype_get(x->in_type[i].dtype)->bits + 7) / 8;
}

int64_t qfi_factor_packed(const qfi_factor *f, int64_t kc, int64_t n)
{
    return kc * qfi_round_up(n, f->width);
}

int64_t qfi_factor_group(const qfi_factor *f)
{
    return qfi_round_up(QFI_GROUP_BYTES / f->size, f->width);
}

uint64_t qfi_factor_room(const qfi_factor *f, int64_t kc, int64_t n)
{
    const int64_t group = qfi_min64(n, qfi_factor_group(f));
    return f->at.p ? 0 : qfi_lines((uint64_t)(kc * group * f->size));
}

/* One group of panels, elements k_step and x_step bytes apart. */
static void pack_group(const qfi_factor *f, const char *from, int64_t k_step, int64_t x_step,
                       int64_t kc, int64_t n, char *to)
{
    const int64_t rows = x_step == f->size ? CROSS_ROWS : kc;

    if (n % f->width) {
        const int64_t last = n / f->width * kc * f->width * f->size;
        memset(to + last, 0, (size_t)(kc * f->width * f->size));
    }
    for (int64_t k = 0; k < kc; k += rows)
        for (int64_t j = 0; j < n; j += f->width) {
            const qfk_in in = { from + k * k_step + j * x_step, k_step, x_step };
            const qfk_out out = { to + (j * kc + k * f->width) * f->size, f->width * f->size };
            f->panel->fn((size_t)qfi_min64(rows, kc - k), (size_t)qfi_min64(f->width, n - j), &in,
                         out, NULL);
        }
}

/* The coordinate of the operand in its batch dim d; its dims of one step are broadcast. */
static int64_t batch_at(const qfi_factor *f, const int64_t *batch, int n_batch, int d)
{
    return f->segment->dim[d] == 1 ? 0 : batch[n_batch - f->n_batch + d];
}

const char *qfi_factor_at(const qfi_factor *f, const int64_t *batch, int n_batch)
{
    const char *p = f->at.p;

    for (int d = 0; d < f->n_batch; d++)
        p += f->at.step[d] * batch_at(f, batch, n_batch, d);
    return p;
}

/* Make k0 … of x0 … x0 + n; the elements of the dim that comes last are adjacent. */
static qf_status make_group(qfi_run *run, const qfi_factor *f, const qfi_factor_part *part,
                            int64_t x0, int64_t n, char *raw)
{
    int64_t lo[QFI_DIMS], count[QFI_DIMS];

    for (int d = 0; d < f->n_batch; d++) {
        lo[d] = batch_at(f, part->batch, part->n_batch, d);
        count[d] = 1;
    }
    lo[f->k_at] = part->k0;
    count[f->k_at] = part->kc;
    if (f->x_at >= 0) {
        lo[f->x_at] = x0;
        count[f->x_at] = n;
    }
    const size_t mark = run->work.used;
    const qf_status st = qfi_run_dense(run, f->segment, lo, count, raw);
    run->work.used = mark;
    return st;
}

qf_status qfi_factor_pack(qfi_run *run, const qfi_factor *f, const qfi_factor_part *part, char *to,
                          char *raw)
{
    const int64_t group = qfi_factor_group(f), x_step = f->x_at < 0 ? f->size : f->at.step[f->x_at];
    const char *from = f->at.p ? qfi_factor_at(f, part->batch, part->n_batch) : NULL;

    for (int64_t j = 0; j < part->n; j += group) {
        const int64_t n = qfi_min64(group, part->n - j);
        char *panels = to + j * part->kc * f->size;
        if (from) {
            pack_group(f, from + part->k0 * f->at.step[f->k_at] + (part->x0 + j) * x_step,
                       f->at.step[f->k_at], x_step, part->kc, n, panels);
            continue;
        }
        QF_TRY(make_group(run, f, part, part->x0 + j, n, raw));
        const bool k_last = f->k_at > f->x_at;
        pack_group(f, raw, k_last ? f->size : n * f->size, k_last ? part->kc * f->size : f->size,
                   part->kc, n, panels);
    }
    return QF_OK;
}

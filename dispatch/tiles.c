/* Walking the tiles of a box: load what is not adjacent, call the stages, store. */
#include "dispatch/arith.h"
#include "dispatch/tiles.h"

#include <string.h>

#define LINE 64
#define LIFTED_ROWS 8    /* that one kernel call makes of what was transposed to the staging */
#define PATCH_BYTES 1024 /* of the destination, that one kernel call makes, then one streams */

/* One tile at hand: position of every lane, and what the references mean. */
typedef struct tile {
    const qfi_tiles *t;
    char *slots, *staging;
    qfk_param *param;
    size_t m, n;
    int64_t down, right; /* from this tile to the next */
    int64_t at[QFI_LANES];
    qfk_in view[QFI_TEMP + QFI_STAGES];
} tile;

static void place_tile(tile *x, int64_t number)
{
    const qfi_tiles *t = x->t;
    const qfi_nest *nest = &t->nest;
    const int64_t plane = t->tiles_m * t->tiles_n, in_strip = t->strip * t->tiles_m,
                  at = number % plane, first = at / in_strip * t->strip,
                  width = qfi_min64(t->strip, t->tiles_n - first), across = at % in_strip % width;
    const int64_t left = (first + across) * t->n - t->shift, j = left < 0 ? 0 : left,
                  top = at % in_strip / width * t->m - t->skip, i = top < 0 ? 0 : top;
    int64_t rest = number / plane;

    x->m = (size_t)(qfi_min64(top + t->m, t->rows) - i);
    x->n = (size_t)(qfi_min64(left + t->n, t->cols) - j);
    x->down = across + 1 == width ? t->m : 0;
    x->right = across + 1 == width ? (1 - width) * t->n : t->n;
    for (int k = 0; k < nest->n_lane; k++)
        x->at[k] = nest->lane[k].base + i * qfi_step_of(&nest->lane[k], nest->row) +
                   j * qfi_step_of(&nest->lane[k], nest->col);
    for (int64_t o = t->n_outer - 1; o >= 0; o--) {
        const int l = t->outer[o];
        const int64_t c = rest % nest->n[l];
        rest /= nest->n[l];
        for (int k = 0; c && k < nest->n_lane; k++)
            x->at[k] += c * nest->lane[k].step[l];
    }
}

static qfk_out slot_out(const tile *x, uint8_t slot, int64_t size)
{
    return (qfk_out){ x->slots + QFI_SLOT * slot, x->t->n * size + QFI_ROW_PAD };
}

/* What the next tile will use of memory: its first operand of many elements, or else its place in
 * the destination. */
static qfi_ahead look_ahead(const tile *x)
{
    const qfi_tiles *t = x->t;
    int64_t lane = 0, size = t->segment->bits / 8;
    const char *p = t->dst;

    for (int i = 0; i < t->piece->n_operand && lane == 0; i++) {
        const int64_t *step = t->nest.lane[1 + i].step;
        if (t->load[i] != QFI_LOAD_NONE || step[t->nest.row] == 0 || step[t->nest.col] == 0)
            continue;
        lane = 1 + i;
        size = t->piece->operand[i].bits / 8;
        p = t->source[i];
    }
    const int64_t row = t->nest.lane[lane].step[t->nest.row] * size,
                  col = t->nest.lane[lane].step[t->nest.col] * size;
    return (qfi_ahead){ p + x->at[lane] * size + x->down * row + x->right * col, row, col };
}

static void load_operand(tile *x, int i)
{
    const qfi_tiles *t = x->t;
    const qfi_operand *o = &t->piece->operand[i];
    const int64_t row = qfi_step_of(&t->nest.lane[1 + i], t->nest.row),
                  col = qfi_step_of(&t->nest.lane[1 + i], t->nest.col);
    const int64_t size = o->bits < 8 ? 1 : o->bits / 8;
    const qfk_in from = { t->source[i] + x->at[1 + i] * size, row * size, col * size };
    const qfk_out to = i == t->lifted ? (qfk_out){ x->staging, t->n * size + QFI_ROW_PAD }
                                      : slot_out(x, o->slot, size);

    switch ((qfi_load)t->load[i]) {
    case QFI_LOAD_NONE:
        x->view[i] = o->bits < 8 ? (qfk_in){ t->source[i], 0, 0 } : from;
        return;
    case QFI_LOAD_MADE: {
        const qfi_ahead ahead = look_ahead(x);
        x->view[i] = qfi_made_tile(&t->made, x->at[1 + i], x->m, x->n, to, &ahead);
        return;
    }
    case QFI_LOAD_UPDATE:
        return;
    case QFI_LOAD_COPY:
        o->copy(x->m, x->n, &from, to, NULL);
        break;
    case QFI_LOAD_TRANSPOSE:
        o->transpose(x->m, x->n, &from, to, NULL);
        break;
    case QFI_LOAD_UNPACK: {
        const qfk_in nibbles = { t->source[i], 0, 0 };
        const qfk_param p = { .i = { x->at[1 + i], row, col } };
        o->copy(x->m, x->n, &nibbles, to, &p);
        break;
    }
    }
    x->view[i] = (qfk_in){ to.p, to.row, size };
}

static qfk_out destination(const tile *x)
{
    const qfi_tiles *t = x->t;
    const int64_t size = t->segment->bits / 8;
    return (qfk_out){ t->dst + x->at[0] * size, qfi_step_of(&t->nest.lane[0], t->nest.row) * size };
}

/* Where the last kernel of a tile writes. */
static qfk_out result(const tile *x)
{
    const qfi_tiles *t = x->t;
    const int64_t size = t->segment->bits / 8;

    if (!t->staged)
        return destination(x);
    return (qfk_out){ x->staging, t->n * size + (t->joined ? 0 : QFI_ROW_PAD) };
}

/* Adjacent elements go to the destination. */
static void deliver(const tile *x, const void *from, ptrdiff_t row)
{
    const qfi_tiles *t = x->t;
    const size_t m = t->joined ? 1 : x->m, n = t->joined ? x->m * x->n : x->n,
                 size = t->segment->bits / 8u;
    const qfk_in elements = { from, row, (ptrdiff_t)size }, bytes = { from, row, 1 };

    if (t->streams)
        t->segment->stream(m, n * size, &bytes, destination(x), NULL);
    else
        t->segment->copy(m, n, &elements, destination(x), NULL);
}

/* The index of the tile, or the number of its nibble, and the steps between, as parameters. */
static void place_index(tile *x, int stage)
{
    const qfi_tiles *t = x->t;
    const qfi_stage *s = &t->piece->stage[stage];
    int64_t *index = x->param[stage].i;

    if (s->index < 0 && !s->nibbles)
        return;
    const int lane = 1 + (s->nibbles ? s->in[0] : t->piece->n_operand + s->index);
    index[0] = x->at[lane];
    index[1] = qfi_step_of(&t->nest.lane[lane], t->nest.row);
    index[2] = qfi_step_of(&t->nest.lane[lane], t->nest.col);
}

static void run_stage(tile *x, int number, bool last)
{
    const qfi_tiles *t = x->t;
    const qfi_stage *s = &t->piece->stage[number];
    qfk_in in[3];
    qfk_out out = { 0 };

    for (int k = 0; k < s->n_in; k++)
        in[k] = x->view[s->in[k]];
    place_index(x, number);
    if (s->bits) {
        out = last ? result(x) : slot_out(x, t->piece->slot[number], s->bits / 8);
        x->view[s->out] = (qfk_in){ out.p, out.row, s->bits / 8 };
    }
    (t->turns ? s->turned : s->fn)(x->m, x->n, in, out, &x->param[number]);
    if (last && t->staged)
        deliver(x, out.p, out.row);
}

static void run_update(tile *x, bool last)
{
    const qfi_tiles *t = x->t;
    const qfi_update *u = t->made.update;
    const qfi_stage *s = &t->piece->stage[u->last];
    const qfk_out out = last ? result(x) : slot_out(x, t->piece->slot[u->last], s->bits / 8);

    x->view[s->out] = (qfk_in){ out.p, out.row, s->bits / 8 };
    qfi_made_update(&t->made, x->at[1 + u->panel], &x->view[u->c], x->m, x->n, out);
    if (last && t->staged)
        deliver(x, out.p, out.row);
}

static void store_root(tile *x)
{
    const qfi_tiles *t = x->t;
    qfk_in from = x->view[t->piece->root];

    if (t->segment->bits == 4) {
        const qfk_out out = { t->dst, 0 };
        const qfk_param p = { .i = { x->at[0], qfi_step_of(&t->nest.lane[0], t->nest.row) } };
        t->segment->pack(x->m, x->n, &from, out, &p);
        return;
    }
    const int64_t size = t->segment->bits / 8;
    if (t->streams && !t->joined && from.col == size) {
        deliver(x, from.p, from.row);
        return;
    }
    const qfk_out out = result(x);
    const qfk_param past = { .past = t->turns, .staging = x->staging };
    (from.row == size && from.col != size ? t->segment->transpose
                                          : t->segment->copy)(x->m, x->n, &from, out, &past);
    if (t->staged)
        deliver(x, out.p, out.row);
}

/* What the patches of a tile share: the kernel, its operands and indices at [0][0] of the tile, and
 * the rows of the destination. */
typedef struct patches {
    qfk_tile *fn;
    int n_in;
    qfk_in in[3];
    qfk_out dst;
    int64_t index[3], step;
} patches;

/* The kernel is the one stage, or the copy of an element that serves all. */
static patches find_patches(tile *x)
{
    const qfi_tiles *t = x->t;
    const qfi_stage *s = t->piece->n_stage ? t->piece->stage : NULL;
    patches p = { .fn = s ? s->fn : t->segment->copy,
                  .n_in = s ? s->n_in : 1,
                  .dst = destination(x) };

    for (int k = 0; k < p.n_in; k++)
        p.in[k] = x->view[s ? s->in[k] : t->piece->root];
    if (s) {
        place_index(x, 0);
        memcpy(p.index, x->param->i, sizeof p.index);
        p.step = s->index >= 0 || s->nibbles;
    }
    return p;
}

/* Rows i … i + m - 1 and columns j … j + n - 1 of a tile. */
static void run_patch(tile *x, const patches *p, int64_t i, int64_t j, size_t m, size_t n)
{
    const qfi_tiles *t = x->t;
    const size_t size = t->segment->bits / 8u;
    const qfk_out out = { x->staging, (ptrdiff_t)(n * size) + (t->joined ? 0 : QFI_ROW_PAD) },
                  to = { (char *)p->dst.p + i * p->dst.row + j * (ptrdiff_t)size, p->dst.row };
    const qfk_in bytes = { out.p, out.row, 1 };
    qfk_in in[3];

    for (int k = 0; k < p->n_in; k++) {
        in[k] = p->in[k];
        in[k].p = (const char *)in[k].p + i * in[k].row + j * in[k].col;
    }
    if (p->step)
        x->param->i[0] = p->index[0] + i * p->index[1] + j * p->index[2];
    p->fn(m, n, in, out, x->param);
    t->segment->stream(t->joined ? 1 : m, (t->joined ? m : 1) * n * size, &bytes, to, NULL);
}

/* A tile in patches: while the stores of one drain, the next is computed. With 4 KiB each an add of
 * two streams took 1.3 times as long (Zen 3). */
static void run_patches(tile *x)
{
    const int64_t most = PATCH_BYTES / (x->t->segment->bits / 8), rows = (int64_t)x->m,
                  columns = (int64_t)x->n;
    const int64_t n = qfi_min64(columns, most), m = most / n;
    const patches p = find_patches(x);

    for (int64_t i = 0; i < rows; i += m)
        for (int64_t j = 0; j < columns; j += n)
            run_patch(x, &p, i, j, (size_t)qfi_min64(m, rows - i),
                      (size_t)qfi_min64(n, columns - j));
}

/* Asks for lines of what the tile below will lift, run by run; *run and *line are the next. */
static void ask_lines(const tile *x, size_t count, size_t *run, size_t *line)
{
    const qfi_tiles *t = x->t;
    const qfi_form *lane = &t->nest.lane[1 + t->lifted];
    const int64_t size = t->piece->operand[t->lifted].bits / 8;
    const char *a = t->source[t->lifted] + (x->at[1 + t->lifted] + t->m) * size;

    for (; count > 0 && *run < x->n; count--) {
        __builtin_prefetch(a + ((int64_t)*run * lane->step[t->nest.col] * size) + *line * LINE);
        if (++*line * LINE >= x->m * (size_t)size) {
            *line = 0;
            ++*run;
        }
    }
}

/* The one stage on what was lifted, a few rows at a time: while they drain past the caches, what
 * the next tile will lift comes in. */
static void run_lifted(tile *x)
{
    const qfi_tiles *t = x->t;
    const qfi_stage *s = t->piece->stage;
    const qfk_out to = destination(x);
    const size_t count =
        (LIFTED_ROWS * x->n * (t->piece->operand[t->lifted].bits / 8u) + LINE - 1) / LINE;
    size_t run = 0, line = 0;
    qfk_in in[3];

    for (size_t i = 0; i < x->m; i += LIFTED_ROWS) {
        for (int k = 0; k < s->n_in; k++) {
            in[k] = x->view[s->in[k]];
            in[k].p = (const char *)in[k].p + (ptrdiff_t)i * in[k].row;
        }
        ask_lines(x, count, &run, &line);
        s->fn(x->m - i < LIFTED_ROWS ? x->m - i : LIFTED_ROWS, x->n, in,
              (qfk_out){ (char *)to.p + (ptrdiff_t)i * to.row, to.row }, x->param);
    }
}

/* The operand that a piece without stages moves, where it is: the store reads it there. */
static void view_root(tile *x)
{
    const qfi_tiles *t = x->t;
    const int root = t->piece->root;
    const qfi_form *lane = &t->nest.lane[1 + root];
    const int64_t size = t->segment->bits / 8;

    x->view[root] =
        (qfk_in){ t->source[root] + x->at[1 + root] * size, qfi_step_of(lane, t->nest.row) * size,
                  qfi_step_of(lane, t->nest.col) * size };
}

static void run_tile(tile *x, int64_t number)
{
    const qfi_piece *p = x->t->piece;
    /* The last stage writes to the destination; 4-bit results are packed from a slot. */
    const bool stores =
        p->n_stage == 0 || x->t->segment->bits == 4 || p->stage[p->n_stage - 1].out != p->root;
    const bool plain = p->n_stage == 0 && x->t->segment->bits >= 8 &&
                       p->operand[p->root].bits >= 8 && x->t->load[p->root] != QFI_LOAD_MADE;

    place_tile(x, number);
    for (int i = 0; i < p->n_operand && !plain; i++)
        load_operand(x, i);
    if (plain)
        view_root(x);
    if (x->t->patches) {
        run_patches(x);
        return;
    }
    if (x->t->lifted >= 0) {
        run_lifted(x);
        return;
    }
    for (int i = 0; i < p->n_stage; i++) {
        const bool last = !stores && i == p->n_stage - 1;
        if (x->t->made.update && i == x->t->made.update->last)
            run_update(x, last);
        else if (!x->t->made.update || !x->t->made.update->covers[i])
            run_stage(x, i, last);
    }
    if (stores)
        store_root(x);
}

static void tiles_task(void *arg, uint32_t i, uint32_t worker)
{
    const qfi_tiles *t = arg;
    const int64_t first = i * t->per_task, end = qfi_min64(first + t->per_task, t->total);
    qfk_param param[QFI_STAGES];
    uint32_t bad = 0;
    tile x; /* the rest is written for each tile: clearing it took 3 % of a task of 256 KiB */

    x.t = t;
    x.param = param;
    x.staging =
        t->staged || t->turns || t->lifted >= 0 ? t->run->staging + QFI_STAGING * worker : NULL;
    x.slots = t->run->slots + QFI_SLOT * t->run->pipe->n_slot * worker;
    for (int k = 0; k < t->piece->n_stage; k++) {
        param[k] = t->piece->stage[k].p;
        param[k].bad = &bad;
    }
    if (t->past) {
        param[t->piece->n_stage - 1].past = true;
        param[t->piece->n_stage - 1].staging = x.staging;
    }
    for (int64_t k = first; k < end; k++)
        run_tile(&x, k);
    if (t->streams)
        qfi_store_fence();
    if (bad)
        __atomic_store_n(&t->run->fault->bad, 1, __ATOMIC_RELAXED);
}

void qfi_tiles_run(qfi_run *run, qfi_tiles *t)
{
    qfi_nest_tidy(&t->nest);
    qfi_nest_tiles(&t->nest, t->piece->n_operand);
    qfi_tiles_plan(t);
    qfi_run_tasks(run, (uint32_t)(qfi_parts(t->total, t->per_task)), tiles_task, t);
}

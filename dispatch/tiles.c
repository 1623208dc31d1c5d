/* Walking the tiles of a box: load what is not adjacent, call the stages, store. */
#include "dispatch/run.h"

#include <stdlib.h>
#include <string.h>

#define TASK_BYTES ((int64_t)1 << 16) /* of the destination, that one task makes */
#define MADE_BYTES                                                                                 \
    6144 /* of a tile that a breaker makes, of at most so many rows: it fits a slot */
#define MADE_ROWS 32
#define ROW_PAD 64 /* after each row of a slot: rows do not fall into one cache set */
#define LINE 64
#define LEAST_RUN 256 /* bytes of a row of the destination below which it is not worth streaming */
#define RUN_BYTES 512 /* of a row of the destination, that one transposed tile makes */
#define SMALL_TILE (1 << 14) /* of few rows or columns: it stays in the first cache */
#define SCATTERED_RUN 512    /* bytes from which runs may be written in any order */
#define STREAM_TASK_BYTES ((int64_t)1 << 18) /* a store fence after each task, and few of them */

/* How an operand reaches the stages. */
typedef enum load { LOAD_NONE, LOAD_COPY, LOAD_TRANSPOSE, LOAD_UNPACK, LOAD_MADE } load;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t at_least_1(int64_t a)
{
    return a < 1 ? 1 : a;
}

static int64_t step_of(const qfi_form *lane, int loop)
{
    return loop < 0 ? 0 : lane->step[loop];
}

static load choose_load(const qfi_tiles *t, int i)
{
    const qfi_operand *o = &t->piece->operand[i];
    const int64_t row = step_of(&t->nest.lane[1 + i], t->nest.row),
                  col = step_of(&t->nest.lane[1 + i], t->nest.col);

    if (o->source == QFI_SPLAT)
        return LOAD_NONE;
    if (i == t->made.operand)
        return LOAD_MADE;
    if (o->bits < 8)
        return LOAD_UNPACK;
    if (col == 0 || col == 1)
        return LOAD_NONE;
    return row == 1 ? LOAD_TRANSPOSE : LOAD_COPY;
}

/* Whether the piece is one kernel from memory to memory: then tiles may be large. */
static bool is_direct(const qfi_tiles *t)
{
    if (t->segment->bits < 8 || t->piece->n_stage > 1)
        return false;
    for (int i = 0; i < t->piece->n_operand; i++)
        if (t->load[i] == LOAD_UNPACK || (t->load[i] != LOAD_NONE && t->piece->n_stage > 0))
            return false;
    return true;
}

static int64_t widest(const qfi_tiles *t)
{
    unsigned bits = t->segment->bits < 8 ? 8 : t->segment->bits;

    for (int i = 0; i < t->piece->n_operand; i++)
        if (t->load[i] != LOAD_NONE && t->piece->operand[i].bits > bits)
            bits = t->piece->operand[i].bits;
    for (int i = 0; i < t->piece->n_stage; i++)
        if (t->piece->stage[i].bits > bits)
            bits = t->piece->stage[i].bits;
    return bits / 8;
}

/* A piece that only moves elements that lie side by side: the store reads the operand itself. */
static bool is_copy(const qfi_tiles *t)
{
    const qfi_piece *p = t->piece;

    return p->n_stage == 0 && p->operand[p->root].bits >= 8 && t->made.operand < 0 &&
           step_of(&t->nest.lane[1 + p->root], t->nest.col) == 1;
}

static bool transposes(const qfi_tiles *t)
{
    bool any = false;

    for (int i = 0; i < t->piece->n_operand; i++)
        any |= t->load[i] == LOAD_TRANSPOSE;
    return any;
}

/* How tiles reach the destination: from the kernel, or from the staging; past the caches or not. */
static void choose_store(qfi_tiles *t, int64_t size)
{
    const qfi_run *run = t->run;
    const bool moves = transposes(t) && t->piece->n_stage == 0;

    if (!run->staging || t->segment->bits < 8 || t->nest.col < 0)
        return;
    t->joined = moves && t->cols * size < LEAST_RUN && t->nest.row >= 0 &&
                t->nest.lane[0].step[t->nest.row] == t->cols;
    t->streams = run->streams && t->segment == run->pipe->result &&
                 (t->joined ? t->cols * t->rows : t->cols) * size >= LEAST_RUN;
    t->staged = moves || (t->streams && !is_copy(t));
}

/* Tiles of transposed elements: whole lines of the operand, long runs of the destination. */
static void choose_moved_tile(qfi_tiles *t, int64_t size)
{
    const int64_t line = LINE / size;

    if (t->joined) {
        t->n = t->cols;
        t->m = min64(t->rows, SMALL_TILE / (t->n * size) / line * line);
        return;
    }
    t->n = RUN_BYTES / size;
    if (t->rows * t->n * size < SMALL_TILE)
        t->n = SMALL_TILE / (t->rows * size) / line * line;
    t->n = min64(t->n, t->cols);
    t->m = min64(t->rows, (int64_t)QFI_STAGING / (t->n * size + ROW_PAD));
}

/* Whole blocks of the kernel that makes them, two high: a panel of the second factor is loaded once
 * for both (24.0 ms instead of 28.9 for a product of 16 steps, 4096 x 14336, Zen 3). */
static void choose_made(qfi_tiles *t, int64_t elements)
{
    const qfk_row *kernel = t->made.breaker->kernel[0];
    const int64_t blocks = at_least_1(elements / kernel->mr / kernel->nr),
                  across = min64(at_least_1(blocks / 2), (t->cols + kernel->nr - 1) / kernel->nr);

    t->n = across * kernel->nr;
    t->m = at_least_1(min64(blocks / across, MADE_ROWS / kernel->mr)) * kernel->mr;
    t->strip = at_least_1(t->made.breaker->tiles->strip(t->made.breaker) / t->n);
    t->skip = t->made.skip;
}

static void choose_tile(qfi_tiles *t)
{
    const int64_t size = widest(t);
    const bool turned = transposes(t);

    t->strip = turned ? 1 : INT64_MAX;
    t->skip = 0;
    if (t->made.operand >= 0) {
        choose_made(t, MADE_BYTES / size);
        return;
    }
    if (turned && t->staged && t->piece->n_stage == 0) {
        choose_moved_tile(t, size);
        return;
    }
    if (is_direct(t) && !t->staged) {
        t->n = min64(t->cols, turned ? 128 : TASK_BYTES / size);
        t->m = min64(t->rows, turned ? 128 : TASK_BYTES / size / t->n);
        return;
    }
    /* A transposed tile is one cache line of the operand high, so that each line is fetched once.
     */
    const int64_t all = QFI_SLOT_BYTES / size;
    t->n = min64(t->cols, turned ? 64 : all);
    t->m = min64(min64(t->rows, QFI_SLOT_ROWS), all / t->n);
}

/* Tiles of long rows begin at lines of the destination, but for the first. */
static int64_t align_tiles(const qfi_tiles *t, int64_t size)
{
    const uintptr_t first = (uintptr_t)t->dst + (uintptr_t)(t->nest.lane[0].base * size);

    if (!t->streams || t->made.operand >= 0 || t->cols < 4 * t->n || t->n * size % LINE != 0 ||
        first % (uintptr_t)size)
        return 0;
    return (int64_t)(first % LINE) / size;
}

static void list_outer(qfi_tiles *t)
{
    t->n_outer = 0;
    for (int l = 0; l < t->nest.n_loop; l++)
        if (l != t->nest.row && l != t->nest.col)
            t->outer[t->n_outer++] = (uint8_t)l;
}

/* Rows that pass the caches go to the destination in the order in which they are read: scattered
 * runs are written as fast as one run, but read at half the speed. */
static void follow_source(qfi_tiles *t, int64_t size)
{
    const qfi_form *from = &t->nest.lane[1 + t->piece->root];

    if (!t->streams || !is_copy(t) || t->nest.row < 0 || t->cols * size < SCATTERED_RUN)
        return;
    for (int l = 0; l < t->nest.n_loop; l++)
        if (l != t->nest.col && llabs(from->step[l]) < llabs(from->step[t->nest.row]))
            t->nest.row = (int8_t)l;
    t->rows = t->nest.n[t->nest.row];
    list_outer(t);
    for (int64_t i = 1; i < t->n_outer; i++)
        for (int64_t k = i; k > 0; k--) {
            const uint8_t a = t->outer[k - 1], b = t->outer[k];
            if (llabs(from->step[a]) >= llabs(from->step[b]))
                break;
            t->outer[k - 1] = b;
            t->outer[k] = a;
        }
}

static void plan_tasks(qfi_tiles *t, int64_t size)
{
    int64_t outer = 1;

    for (int64_t i = 0; i < t->n_outer; i++)
        outer *= t->nest.n[t->outer[i]];
    t->tiles_m = (t->rows + t->skip + t->m - 1) / t->m;
    t->tiles_n = (t->cols + t->shift + t->n - 1) / t->n;
    t->strip = min64(t->strip, t->tiles_n);
    t->total = outer * t->tiles_m * t->tiles_n;
    t->per_task = (t->streams ? STREAM_TASK_BYTES : TASK_BYTES) / (t->m * t->n * size);
    t->per_task = t->per_task < 1 ? 1 : t->per_task;
    /* The number of tasks stays far from the limit of the callback. */
    if (t->total / t->per_task > 1 << 20)
        t->per_task = t->total >> 20;
    /* Neighbouring tiles of 4-bit elements share bytes: one task writes them all. */
    if (t->segment->bits < 8)
        t->per_task = t->total;
}

static void plan_tiles(qfi_tiles *t)
{
    const qfi_nest *nest = &t->nest;
    const int64_t size = t->segment->bits < 8 ? 1 : t->segment->bits / 8;

    t->rows = nest->row < 0 ? 1 : nest->n[nest->row];
    t->cols = nest->col < 0 ? 1 : nest->n[nest->col];
    for (int i = 0; i < t->piece->n_operand; i++)
        t->load[i] = (uint8_t)choose_load(t, i);
    choose_store(t, size);
    list_outer(t);
    follow_source(t, size);
    choose_tile(t);
    t->shift = align_tiles(t, size);
    plan_tasks(t, size);
}

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
                  width = min64(t->strip, t->tiles_n - first), across = at % in_strip % width;
    const int64_t left = (first + across) * t->n - t->shift, j = left < 0 ? 0 : left,
                  top = at % in_strip / width * t->m - t->skip, i = top < 0 ? 0 : top;
    int64_t rest = number / plane;

    x->m = (size_t)(min64(top + t->m, t->rows) - i);
    x->n = (size_t)(min64(left + t->n, t->cols) - j);
    x->down = across + 1 == width ? t->m : 0;
    x->right = across + 1 == width ? (1 - width) * t->n : t->n;
    for (int k = 0; k < nest->n_lane; k++)
        x->at[k] = nest->lane[k].base + i * step_of(&nest->lane[k], nest->row) +
                   j * step_of(&nest->lane[k], nest->col);
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
    return (qfk_out){ x->slots + QFI_SLOT * slot, x->t->n * size + ROW_PAD };
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
        if (t->load[i] != LOAD_NONE || step[t->nest.row] == 0 || step[t->nest.col] == 0)
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
    const int64_t row = step_of(&t->nest.lane[1 + i], t->nest.row),
                  col = step_of(&t->nest.lane[1 + i], t->nest.col);
    const int64_t size = o->bits < 8 ? 1 : o->bits / 8;
    const qfk_in from = { t->source[i] + x->at[1 + i] * size, row * size, col * size };
    const qfk_out to = slot_out(x, o->slot, size);

    switch ((load)t->load[i]) {
    case LOAD_NONE:
        x->view[i] = from;
        return;
    case LOAD_MADE: {
        const qfi_ahead ahead = look_ahead(x);
        x->view[i] = qfi_made_tile(&t->made, x->at[1 + i], x->m, x->n, to, &ahead);
        return;
    }
    case LOAD_COPY:
        o->copy(x->m, x->n, &from, to, NULL);
        break;
    case LOAD_TRANSPOSE:
        o->transpose(x->m, x->n, &from, to, NULL);
        break;
    case LOAD_UNPACK: {
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
    return (qfk_out){ t->dst + x->at[0] * size, step_of(&t->nest.lane[0], t->nest.row) * size };
}

/* Where the last kernel of a tile writes. */
static qfk_out result(const tile *x)
{
    const qfi_tiles *t = x->t;
    const int64_t size = t->segment->bits / 8;

    if (!t->staged)
        return destination(x);
    return (qfk_out){ x->staging, t->n * size + (t->joined ? 0 : ROW_PAD) };
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

static void run_stage(tile *x, int number, bool last)
{
    const qfi_tiles *t = x->t;
    const qfi_stage *s = &t->piece->stage[number];
    qfk_in in[3];
    qfk_out out = { 0 };

    for (int k = 0; k < s->n_in; k++)
        in[k] = x->view[s->in[k]];
    if (s->index >= 0) {
        const int lane = 1 + t->piece->n_operand + s->index;
        x->param[number].i[0] = x->at[lane];
        x->param[number].i[1] = step_of(&t->nest.lane[lane], t->nest.row);
        x->param[number].i[2] = step_of(&t->nest.lane[lane], t->nest.col);
    }
    if (s->bits) {
        out = last ? result(x) : slot_out(x, t->piece->slot[number], s->bits / 8);
        x->view[s->out] = (qfk_in){ out.p, out.row, s->bits / 8 };
    }
    s->fn(x->m, x->n, in, out, &x->param[number]);
    if (last && t->staged)
        deliver(x, out.p, out.row);
}

static void store_root(tile *x)
{
    const qfi_tiles *t = x->t;
    qfk_in from = x->view[t->piece->root];

    if (t->segment->bits == 4) {
        const qfk_out out = { t->dst, 0 };
        const qfk_param p = { .i = { x->at[0], step_of(&t->nest.lane[0], t->nest.row) } };
        t->segment->pack(x->m, x->n, &from, out, &p);
        return;
    }
    const int64_t size = t->segment->bits / 8;
    if (t->streams && from.col == size) {
        deliver(x, from.p, from.row);
        return;
    }
    const qfk_out out = result(x);
    (from.row == size && from.col != size ? t->segment->transpose
                                          : t->segment->copy)(x->m, x->n, &from, out, NULL);
    if (t->staged)
        deliver(x, out.p, out.row);
}

static void run_tile(tile *x, int64_t number)
{
    const qfi_piece *p = x->t->piece;
    /* The last stage writes to the destination; 4-bit results are packed from a slot. */
    const bool stores =
        p->n_stage == 0 || x->t->segment->bits == 4 || p->stage[p->n_stage - 1].out != p->root;
    const bool plain = p->n_stage == 0 && x->t->segment->bits >= 8 &&
                       p->operand[p->root].bits >= 8 && x->t->load[p->root] != LOAD_MADE;

    place_tile(x, number);
    for (int i = 0; i < p->n_operand && !plain; i++)
        load_operand(x, i);
    if (plain) {
        const qfi_form *lane = &x->t->nest.lane[1 + p->root];
        const int64_t size = x->t->segment->bits / 8;
        x->view[p->root] =
            (qfk_in){ x->t->source[p->root] + x->at[1 + p->root] * size,
                      step_of(lane, x->t->nest.row) * size, step_of(lane, x->t->nest.col) * size };
    }
    for (int i = 0; i < p->n_stage; i++)
        run_stage(x, i, !stores && i == p->n_stage - 1);
    if (stores)
        store_root(x);
}

/* Stores that pass the caches are not ordered with those that tell other threads of them. */
static inline void store_fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

static void tiles_task(void *arg, uint32_t i, uint32_t worker)
{
    const qfi_tiles *t = arg;
    const int64_t first = i * t->per_task, end = min64(first + t->per_task, t->total);
    qfk_param param[QFI_STAGES];
    uint32_t bad = 0;
    tile x = { .t = t,
               .param = param,
               .staging = t->staged ? t->run->staging + QFI_STAGING * worker : NULL,
               .slots = t->run->slots + QFI_SLOT * t->run->pipe->n_slot * worker };

    for (int k = 0; k < t->piece->n_stage; k++) {
        param[k] = t->piece->stage[k].p;
        param[k].bad = &bad;
    }
    for (int64_t k = first; k < end; k++)
        run_tile(&x, k);
    if (t->streams)
        store_fence();
    if (bad)
        __atomic_store_n(&t->run->fault->bad, 1, __ATOMIC_RELAXED);
}

void qfi_tiles_run(qfi_run *run, qfi_tiles *t)
{
    qfi_nest_tidy(&t->nest);
    qfi_nest_tiles(&t->nest, t->piece->n_operand);
    plan_tiles(t);
    qfi_run_tasks(run, (uint32_t)((t->total + t->per_task - 1) / t->per_task), tiles_task, t);
}

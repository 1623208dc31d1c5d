/* Runs one kernel row over sizes, strides, alignments and placements against guard pages, and
 * compares every byte around its operands with what the reference leaves there. */
#include "kernel_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGION ((size_t)4 << 20)
#define STAGING_PAGES ((QFK_STAGING + 65535) / 65536 * 65536)
#define MARGIN ((size_t)128)
#define LINE 64

enum { OPERANDS = 4, OUT = 3 };

/* Memory of one operand: the real bytes and a copy for the reference.
 * lo, hi: the bytes that a case uses, with margins. */
typedef struct operand {
    check_pages real;
    unsigned char *shadow;
    size_t lo, hi;
} operand;

/* One row under test. c: the present case.  out: whose real memory the output has: that of OUT, or
 * of an input when the case runs in place. */
typedef struct bench {
    const qfk_row *row, *scalar;
    const ref_op *op;
    operand o[OPERANDS], *out;
    check_pages staging;
    check_rng rng;
    ref_case c;
} bench;

uint64_t ref_get(const ref_tile *t, size_t i, size_t j)
{
    return check_load(t->p + (ptrdiff_t)i * t->row + (ptrdiff_t)j * t->col, check_key_size(t->key));
}

void ref_set(const ref_tile *t, size_t i, size_t j, uint64_t bits)
{
    check_store(t->p + (ptrdiff_t)i * t->row + (ptrdiff_t)j * t->col, check_key_size(t->key), bits);
}

/* First and last byte (exclusive) of a tile relative to its element [0][0]. */
static void tile_extent(const ref_tile *t, ptrdiff_t *lo, ptrdiff_t *hi)
{
    const bool empty = !t->m || !t->n;
    const ptrdiff_t down = empty ? 0 : (ptrdiff_t)(t->m - 1) * t->row;
    const ptrdiff_t right = empty ? 0 : (ptrdiff_t)(t->n - 1) * t->col;

    *lo = (down < 0 ? down : 0) + (right < 0 ? right : 0) - (ptrdiff_t)t->before;
    *hi = (down > 0 ? down : 0) + (right > 0 ? right : 0) + (ptrdiff_t)t->after;
    if (!empty)
        *hi += (ptrdiff_t)check_key_size(t->key);
}

/* A pitch for rows of `width` bytes: dense, padded by elements or odd bytes, or upwards. */
static ptrdiff_t pick_pitch(check_rng *rng, size_t width, size_t size)
{
    const size_t pads[] = { 0, 0, size, 3 * size, 64, 1, 7, 33 };
    const ptrdiff_t pitch = (ptrdiff_t)(width + pads[check_below(rng, 8)]);

    return check_chance(rng, 20) ? -pitch : pitch;
}

static void pick_strides(check_rng *rng, ref_tile *t, unsigned flags)
{
    const ptrdiff_t size = (ptrdiff_t)check_key_size(t->key);
    const ptrdiff_t cols[] = { -size, 2 * size, 3 * size, size + 1, -2 * size - 3 };
    const size_t height = t->m * (size_t)size;

    t->col = check_chance(rng, 25) ? 0 : size;
    if (flags & REF_ANY_COL && check_chance(rng, 60))
        t->col = cols[check_below(rng, sizeof cols / sizeof *cols)];
    t->row = pick_pitch(rng, t->n * (size_t)(t->col < 0 ? -t->col : t->col), (size_t)size);
    if (check_chance(rng, 10))
        t->row = 0;
    if (flags & REF_RUNS_DOWN || (flags & REF_ANY_COL && check_chance(rng, 20))) {
        t->row = size;
        t->col = check_chance(rng, 10) ? 0 : pick_pitch(rng, height, (size_t)size);
    }
}

/* Puts a tile against the lower guard page, the upper one, or between them at any multiple of
 * `unit`. */
static void place(check_rng *rng, operand *o, ref_tile *t, size_t unit)
{
    ptrdiff_t lo, hi;

    tile_extent(t, &lo, &hi);
    const size_t used = (size_t)(hi - lo);
    const size_t between = REGION / 2 - used / 2 + check_below(rng, 64);
    const size_t where[] = { 0, REGION - used, between };
    const size_t at = where[check_below(rng, 3)] / unit * unit;
    t->p = o->real.p + (ptrdiff_t)at - lo;
    o->lo = at < MARGIN ? 0 : at - MARGIN;
    o->hi = at + used + MARGIN > REGION ? REGION : at + used + MARGIN;
}

static void fill_random(check_rng *rng, operand *o)
{
    for (size_t i = o->lo; i < o->hi; i += 8) {
        const uint64_t bits = check_random(rng);
        memcpy(o->real.p + i, &bits, o->hi - i < 8 ? o->hi - i : 8);
    }
}

static void fill_values(check_rng *rng, const ref_tile *t)
{
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->n; j++)
            ref_set(t, i, j, check_value(t->key, rng));
}

/* Lets the output be one of the inputs now and then, where the contract allows it. */
static void pick_in_place(bench *b)
{
    ref_case *c = &b->c;
    const size_t k = c->n_in ? check_below(&b->rng, c->n_in) : 0;
    const ref_tile *a = &c->in[k];
    const ptrdiff_t width = (ptrdiff_t)c->x.n * c->x.col;

    b->out = &b->o[OUT];
    if (b->op->flags & (REF_GUARD | REF_UPDATES) || !c->n_in || !check_chance(&b->rng, 25))
        return;
    if (a->m != c->x.m || a->n != c->x.n || a->col != c->x.col)
        return;
    if (check_key_size(a->key) != (size_t)c->x.col || (a->row < width && -a->row < width))
        return;
    c->x.row = a->row;
    c->x.p = a->p;
    b->out = &b->o[k];
}

/* Rows that go past the caches begin with lines, or follow each other. */
static void lay_out(bench *b, bool past)
{
    const size_t unit = past && b->row->exact == QFK_BITS_PAST ? LINE : 1;
    ref_case *c = &b->c;

    for (unsigned k = 0; k < c->n_in; k++) {
        ref_tile *a = &c->in[k];
        if (!a->row && !a->col)
            pick_strides(&b->rng, a, k ? b->op->flags & ~(unsigned)REF_RUNS_DOWN : b->op->flags);
        place(&b->rng, &b->o[k], a, 1);
        fill_random(&b->rng, &b->o[k]);
        fill_values(&b->rng, a);
    }
    c->x.col = (ptrdiff_t)check_key_size(c->x.key);
    c->x.row = pick_pitch(&b->rng, c->x.n * (size_t)c->x.col, (size_t)c->x.col);
    if (unit > 1 && !(b->op->flags & REF_RUNS_DOWN && check_chance(&b->rng, 25)))
        c->x.row += (c->x.row < 0 ? -1 : 1) * (LINE - llabs(c->x.row) % LINE);
    place(&b->rng, &b->o[OUT], &c->x, unit);
    fill_random(&b->rng, &b->o[OUT]);
    if (b->op->flags & REF_UPDATES)
        fill_values(&b->rng, &c->x);
    pick_in_place(b);
}

static ref_el element_at(const ref_case *c, size_t i, size_t j)
{
    ref_el e = { .key = c->row->key, .x_key = c->x.key, .p = &c->p, .i = i, .j = j };

    for (unsigned k = 0; k < c->n_in; k++) {
        e.in_key[k] = c->in[k].key;
        e.in[k] = ref_get(&c->in[k], i, j);
    }
    return e;
}

/* Gives most guard cases good inputs, and some of them one element that may be bad. */
static void cure_guard(bench *b)
{
    const ref_case *c = &b->c;

    if (check_chance(&b->rng, 20) || !c->m || !c->n)
        return;
    for (size_t at = 0; at < c->m * c->n; at++) {
        ref_el e = element_at(c, at / c->n, at % c->n);
        for (unsigned try = 0; try < 100 && b->op->element(&e); try++) {
            const unsigned k = try % c->n_in;
            ref_set(&c->in[k], e.i, e.j, check_value(c->in[k].key, &b->rng));
            e = element_at(c, e.i, e.j);
        }
    }
    if (check_chance(&b->rng, 50)) {
        const size_t i = check_below(&b->rng, c->m), j = check_below(&b->rng, c->n);
        for (unsigned k = 0; k < c->n_in; k++)
            ref_set(&c->in[k], i, j, check_value(c->in[k].key, &b->rng));
    }
}

/* What the reference leaves in c->x and c->bad. */
static void reference(const ref_op *op, ref_case *c)
{
    if (op->tile) {
        op->tile(c);
        return;
    }
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            const ref_el e = element_at(c, i, j);
            const uint64_t bits = op->element(&e);
            if (op->flags & REF_GUARD)
                c->bad |= bits != 0;
            else
                ref_set(&c->x, i, j, bits);
        }
}

typedef struct call {
    qfk_tile *fn;
    ref_case *c;
} call;

static void make_call(void *arg)
{
    const call *k = arg;
    ref_case *c = k->c;
    qfk_in in[3];

    for (unsigned i = 0; i < c->n_in; i++)
        in[i] = (qfk_in){ c->in[i].p, c->in[i].row, c->in[i].col };
    c->p.bad = &c->bad;
    k->fn(c->m, c->n, in, (qfk_out){ c->x.p, c->x.row }, &c->p);
}

/* The case with every operand in its shadow. */
static ref_case shadow_case(const bench *b)
{
    ref_case s = b->c;

    for (unsigned k = 0; k < s.n_in; k++) {
        const operand *o = &b->o[k];
        memcpy(o->shadow + o->lo, o->real.p + o->lo, o->hi - o->lo);
        s.in[k].p = o->shadow + (b->c.in[k].p - o->real.p);
    }
    memcpy(b->o[OUT].shadow + b->out->lo, b->out->real.p + b->out->lo, b->out->hi - b->out->lo);
    s.x.p = b->o[OUT].shadow + (b->c.x.p - b->out->real.p);
    return s;
}

/* Are two different results equal enough? NaNs have no defined bits where an operation makes them,
 * nor where it chooses between those of two operands. */
static bool tolerated(const bench *b, uint64_t got, uint64_t want)
{
    const unsigned key = b->c.x.key;
    const bool by_reference = b->row == b->scalar;
    unsigned ulps = 0;

    if (!check_key_is_float(key))
        return false;
    if (check_is_nan(key, got) && check_is_nan(key, want))
        return by_reference ? !(b->op->flags & REF_NAN_BITS)
                            : b->c.n_in > 1 || b->op->flags & REF_UPDATES;
    if (by_reference && key == QF_DT_f32)
        ulps = b->op->ulps_f32;
    else if (by_reference && key == QF_DT_f64)
        ulps = b->op->ulps_f64;
    else if (b->row->exact == QFK_LIBM)
        ulps = 1;
    return ulps && check_ulps(key, got, want) <= ulps;
}

/* Compares the output elements; takes over tolerated ones, so that bytes can be compared then. */
static bool elements_agree(const bench *b, const ref_case *s, char *why, size_t why_size)
{
    for (size_t i = 0; i < s->x.m; i++)
        for (size_t j = 0; j < s->x.n; j++) {
            const uint64_t got = ref_get(&b->c.x, i, j), want = ref_get(&s->x, i, j);
            if (got == want)
                continue;
            if (!tolerated(b, got, want)) {
                snprintf(why, why_size, "[%zu][%zu] is %#llx, expected %#llx", i, j,
                         (unsigned long long)got, (unsigned long long)want);
                return false;
            }
            ref_set(&s->x, i, j, got);
        }
    return true;
}

static bool results_agree(bench *b, const ref_case *s, char *why, size_t why_size)
{
    const operand *x = b->out;

    if (b->op->flags & REF_GUARD && (b->c.bad != 0) != (s->bad != 0)) {
        snprintf(why, why_size, "bad is %u, expected %u", b->c.bad, s->bad);
        return false;
    }
    if (!elements_agree(b, s, why, why_size))
        return false;
    if (memcmp(x->real.p + x->lo, b->o[OUT].shadow + x->lo, x->hi - x->lo)) {
        snprintf(why, why_size, "wrote outside the output");
        return false;
    }
    for (unsigned k = 0; k < b->c.n_in; k++) {
        const operand *o = &b->o[k];
        if (o != x && memcmp(o->real.p + o->lo, o->shadow + o->lo, o->hi - o->lo)) {
            snprintf(why, why_size, "changed input %u", k);
            return false;
        }
    }
    return true;
}

static bool run_case(bench *b, size_t m, size_t n, char *why, size_t why_size)
{
    ref_case *c = &b->c;
    const bool past = check_chance(&b->rng, 50);
    char what[160] = "";

    *c = (ref_case){
        .row = b->row, .m = m, .n = n, .n_in = qfk_ops(&(size_t){ 0 })[b->row->op_id].n_in
    };
    for (unsigned k = 0; k < c->n_in; k++)
        c->in[k] = (ref_tile){ .m = m, .n = n, .key = b->op->in[k] ? b->op->in[k] : b->row->key };
    c->x = (ref_tile){ .m = m, .n = n, .key = b->op->x ? b->op->x : b->row->key };
    if (b->op->flags & REF_GUARD)
        c->x.m = c->x.n = 0;
    if (b->op->shape)
        b->op->shape(c, &b->rng);
    lay_out(b, past);
    if (b->op->flags & REF_GUARD)
        cure_guard(b);
    if (b->op->values)
        b->op->values(c, &b->rng);

    c->p.past = past;
    c->p.staging = b->staging.p + STAGING_PAGES - QFK_STAGING;
    ref_case s = shadow_case(b);
    int signal = 0;
    if (b->row == b->scalar)
        reference(b->op, &s);
    else
        signal = check_trap(make_call, &(call){ b->scalar->fn, &s });
    if (!signal)
        signal = check_trap(make_call, &(call){ b->row->fn, c });
    if (signal)
        snprintf(what, sizeof what, "signal %d", signal);
    else if (results_agree(b, &s, what, sizeof what))
        return true;
    int used = snprintf(why, why_size, "%zu x %zu, x.row %td", c->m, c->n, c->x.row);
    for (unsigned k = 0; k < c->n_in; k++)
        used += snprintf(why + used, why_size - (size_t)used, ", in[%u] row %td col %td", k,
                         c->in[k].row, c->in[k].col);
    snprintf(why + used, why_size - (size_t)used, "%s: %s",
             b->out != &b->o[OUT] ? ", in place" : "", what);
    return false;
}

/* Sizes around the vector lengths of the row's element size, and the fixed ones. */
enum { SIZES = 16 };

static void list_sizes(unsigned key, size_t *sizes)
{
    const size_t bytes = check_key_size(key), v = 64 / (bytes ? bytes : 1);
    const size_t half = v / 2, twice = 2 * v;
    const size_t list[SIZES] = { 0, 1,     2,         3,         half - 1, half, half + 1, v - 1,
                                 v, v + 1, twice - 1, twice + 1, 63,       64,   65,       257 };

    memcpy(sizes, list, sizeof list);
}

static bool run_cases(bench *b, unsigned percent, char *why, size_t why_size)
{
    const bool all_heights = b->op->flags & (REF_ANY_COL | REF_RUNS_DOWN);
    const size_t large[][2] = {
        { 1, 4099 }, { 4099, 1 }, { 33, 1031 }, { 3, 20011 }, { 1409, 201 }
    };
    /* The longest rows and columns are for kernels that walk them in parts. */
    const size_t n_large = b->op->flags & REF_RUNS_DOWN     ? 5
                           : b->row->exact == QFK_BITS_PAST ? 4
                                                            : 3;
    const unsigned chance = all_heights ? percent : percent * 35 / 100;
    size_t sizes[SIZES];

    list_sizes(b->row->key, sizes);
    for (size_t at = 0; at < SIZES * SIZES; at++) {
        const size_t m = sizes[at % SIZES], n = sizes[at / SIZES];
        if (check_chance(&b->rng, chance) && !run_case(b, m, n, why, why_size))
            return false;
    }
    for (size_t at = 0; at < n_large; at++)
        if (check_chance(&b->rng, percent) &&
            !run_case(b, large[at][0], large[at][1], why, why_size))
            return false;
    return true;
}

bool ref_run(const qfk_row *row, const qfk_row *scalar, const ref_op *op, uint64_t seed,
             unsigned percent, char *why, size_t why_size)
{
    bench b = { .row = row, .scalar = scalar, .op = op, .rng = { seed ? seed : 1 } };
    bool ok = true;

    for (unsigned k = 0; k < OPERANDS; k++) {
        b.o[k].shadow = malloc(REGION);
        ok = b.o[k].shadow && check_pages_make(&b.o[k].real, REGION) && ok;
    }
    ok = check_pages_make(&b.staging, STAGING_PAGES) && ok;
    if (!ok)
        snprintf(why, why_size, "no memory");
    else if (op->whole)
        ok = op->whole(row, scalar, &b.rng, why, why_size);
    else
        ok = run_cases(&b, percent, why, why_size);
    for (unsigned k = 0; k < OPERANDS; k++) {
        check_pages_free(&b.o[k].real);
        free(b.o[k].shadow);
    }
    check_pages_free(&b.staging);
    return ok;
}

/* The gemm family: one packed step, tested whole, since it is no tile kernel; what packs operands;
 * updates. */
#include "kernel_ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_K = 300, PAGES = 1 << 16 };
enum { FUSED = 1, ROUNDED = 2 }; /* p.i[2] of an update */

/* One step: packed operands that end at a guard page, and c before (old) and after it. */
typedef struct step {
    const qfk_row *row;
    size_t k;
    bool add;
    ptrdiff_t c_row;
    unsigned char *a, *b, *c, old[PAGES];
} step;

static void run_step(void *arg)
{
    const step *s = arg;
    s->row->gemm(s->k, s->a, s->b, s->c, s->c_row, s->add);
}

/* Element [i][j] by the definition. libm's fma is exact. */
static uint64_t expected(const step *s, size_t i, size_t j)
{
    const size_t size = check_key_size(s->row->key), mr = s->row->mr, nr = s->row->nr;
    const uint64_t was = check_load(s->old + i * (size_t)s->c_row + j * size, size);
    uint64_t sum = s->add ? was : 0;

    for (size_t t = 0; t < s->k; t++) {
        const uint64_t a = check_load(s->a + (t * mr + i) * size, size);
        const uint64_t b = check_load(s->b + (t * nr + j) * size, size);
        const double x = check_to_f64(QF_DT_f64, a), y = check_to_f64(QF_DT_f64, b);
        if (s->row->key == QF_DT_i64)
            sum += a * b;
        else if (s->row->key == QF_DT_f64)
            sum = check_from_f64(QF_DT_f64, fma(x, y, check_to_f64(QF_DT_f64, sum)));
        else
            sum = check_from_f64(QF_DT_f32, (double)fmaf((float)check_to_f64(QF_DT_f32, a),
                                                         (float)check_to_f64(QF_DT_f32, b),
                                                         (float)check_to_f64(QF_DT_f32, sum)));
    }
    return sum;
}

/* Numbers for which sums round (random mantissas near 1), and now and then any value at all. */
static uint64_t value(unsigned key, check_rng *rng)
{
    if (check_chance(rng, 2))
        return check_value(key, rng);
    if (!check_key_is_float(key))
        return check_random(rng);
    return check_from_f64(key, (double)(check_random(rng) >> 11) * 0x1p-52 - 1);
}

static void fill(unsigned char *p, size_t n, unsigned key, check_rng *rng)
{
    const size_t size = check_key_size(key);
    for (size_t i = 0; i < n; i++)
        check_store(p + i * size, size, value(key, rng));
}

static bool step_agrees(const step *s, size_t c_size, char *why, size_t why_size)
{
    const size_t size = check_key_size(s->row->key);
    size_t at = 0;

    for (size_t i = 0; i < s->row->mr; i++)
        for (size_t j = 0; j < s->row->nr; j++) {
            const uint64_t want = expected(s, i, j);
            const uint64_t got = check_load(s->c + i * (size_t)s->c_row + j * size, size);
            const bool nan = check_is_nan(s->row->key, got) && check_is_nan(s->row->key, want);
            if (got != want && !nan) {
                snprintf(why, why_size, "k %zu, add %d: [%zu][%zu] is %#llx, expected %#llx", s->k,
                         s->add, i, j, (unsigned long long)got, (unsigned long long)want);
                return false;
            }
        }
    for (; at < c_size; at++)
        if (at % (size_t)s->c_row >= s->row->nr * size && s->c[at] != s->old[at]) {
            snprintf(why, why_size, "k %zu: wrote beyond row %zu", s->k, at / (size_t)s->c_row);
            return false;
        }
    return true;
}

static bool run_k(const qfk_row *row, size_t k, const check_pages *pages, check_rng *rng, char *why,
                  size_t why_size)
{
    static step s;
    const size_t size = check_key_size(row->key), width = row->nr * size;
    const size_t pad[] = { 0, size, 3, 64 };
    const size_t pitch = width + pad[check_below(rng, 4)], c_size = (row->mr - 1u) * pitch + width;

    s = (step){ .row = row, .k = k, .add = check_chance(rng, 50), .c_row = (ptrdiff_t)pitch };
    s.a = pages[0].p + pages[0].size - k * row->mr * size;
    s.b = pages[1].p + pages[1].size - k * row->nr * size;
    s.c = pages[2].p + (check_chance(rng, 50) ? 0 : pages[2].size - c_size);
    fill(s.a, k * row->mr, row->key, rng);
    fill(s.b, k * row->nr, row->key, rng);
    for (size_t i = 0; i < row->mr; i++)
        fill(s.c + i * pitch, row->nr, row->key, rng);
    memcpy(s.old, s.c, c_size);

    const int signal = check_trap(run_step, &s);
    if (signal)
        snprintf(why, why_size, "k %zu: signal %d", k, signal);
    return !signal && step_agrees(&s, c_size, why, why_size);
}

static bool run_gemm(const qfk_row *row, const qfk_row *scalar, check_rng *rng, char *why,
                     size_t why_size)
{
    const size_t depths[] = { 0, 1, 2, 3, 4, 5, 7, 16, 33, 64, MAX_K };
    check_pages pages[3] = { { 0 } };
    bool ok = true;

    (void)scalar;
    for (size_t i = 0; i < 3; i++)
        ok = check_pages_make(&pages[i], (size_t)4 * PAGES) && ok;
    if (!ok)
        snprintf(why, why_size, "no memory");
    for (size_t i = 0; ok && i < 4 * sizeof depths / sizeof *depths; i++)
        ok = run_k(row, depths[i / 4], pages, rng, why, why_size);
    for (size_t i = 0; i < 3; i++)
        check_pages_free(&pages[i]);
    return ok;
}

static uint64_t panel(const ref_el *e)
{
    return e->in[0];
}

/* Steps, columns of a panel (that of the vectors, or any), how it is rounded. Operands a and b are
 * f32: steps by rows, and panels below each other. */
static void shape_update(ref_case *c, check_rng *rng)
{
    const size_t steps[] = { 0, 1, 2, 3, 5, 16, 17 }, widths[] = { 16, 16, 32, 6 };
    const size_t width = widths[check_below(rng, 4)];
    const int64_t manners[] = { 0, FUSED, ROUNDED, FUSED | ROUNDED };
    const float scales[] = { 1, 0.5f, 0x1p-9f, 0x1.8p1f, -0x1.64p-3f, 0 };
    size_t k = steps[check_below(rng, 7)];

    const size_t panels = (c->n + width - 1) / width;
    while (c->m && c->n &&
           (k == c->m || k * panels == c->m)) /* the result cannot stand in these operands */
        k++;
    c->in[0] = (ref_tile){ .m = k, .n = c->m, .key = QF_DT_f32, .col = 4 };
    c->in[0].row = (ptrdiff_t)(4 * c->m);
    c->in[1] = (ref_tile){ .m = k * panels, .n = width, .key = QF_DT_f32, .col = 4 };
    c->in[1].row = (ptrdiff_t)(4 * width);
    c->p.i[0] = (int64_t)k;
    c->p.i[1] = (int64_t)width;
    c->p.i[2] = manners[check_below(rng, 4)];
    c->p.i[3] = (int64_t)k * c->in[1].row;
    c->p.f[0] = (double)scales[check_below(rng, 6)];
}

/* Most cases have factors near 1; with ROUNDED they hold values of the key. */
static void values_update(const ref_case *c, check_rng *rng)
{
    const unsigned key = c->row->key;
    const bool near = check_chance(rng, 70), narrow = c->p.i[2] & ROUNDED;

    for (unsigned o = 0; o < 2; o++)
        for (size_t i = 0; i < c->in[o].m; i++)
            for (size_t j = 0; j < c->in[o].n; j++) {
                double v = near ? (double)(check_random(rng) >> 11) * 0x1p-52 - 1
                                : check_to_f64(QF_DT_f32, ref_get(&c->in[o], i, j));
                if (narrow)
                    v = check_to_f64(key, check_from_f64(key, v));
                ref_set(&c->in[o], i, j, check_from_f64(QF_DT_f32, v));
            }
}

static float rounded_to(unsigned key, float v)
{
    return (float)check_to_f64(key, check_from_f64(key, (double)v));
}

static float product_of(const ref_case *c, size_t i, size_t j)
{
    const size_t k = (size_t)c->p.i[0], width = (size_t)c->p.i[1], at = j % width;
    const size_t place = c->row->key != QF_DT_bf16 ? at : at / 2 + (at % 2 ? width / 2 : 0);
    float sum = 0;

    for (size_t t = 0; t < k; t++)
        sum =
            fmaf((float)check_to_f64(QF_DT_f32, ref_get(&c->in[0], t, i)),
                 (float)check_to_f64(QF_DT_f32, ref_get(&c->in[1], j / width * k + t, place)), sum);
    return sum;
}

static void update(const ref_case *c)
{
    const unsigned key = c->row->key;
    const bool narrow = c->p.i[2] & ROUNDED, fused = c->p.i[2] & FUSED;
    const float scale = (float)c->p.f[0];

    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            const float was = (float)check_to_f64(key, ref_get(&c->in[2], i, j));
            const float p = product_of(c, i, j), first = narrow ? rounded_to(key, p) : p,
                        second = narrow ? rounded_to(key, first * scale) : first * scale,
                        x = fused ? fmaf(first, scale, was) : second + was;
            ref_set(&c->x, i, j, check_from_f64(key, (double)x));
        }
}

static void shape_multiply(ref_case *c, check_rng *rng)
{
    const size_t steps[] = { 0, 1, 2, 3, 5, 16, 33 };
    size_t k = steps[check_below(rng, 7)];

    while (k == c->m || k == c->n)
        k++;
    c->in[0] = (ref_tile){ .m = c->m, .n = k, .key = QF_DT_f32 };
    c->in[0].row = check_chance(rng, 50) ? 4 : (ptrdiff_t)(4 * k);
    c->in[0].col = c->in[0].row == 4 && k != 1 ? (ptrdiff_t)(4 * c->m) : 4;
    c->in[1] = (ref_tile){ .m = k, .n = c->n, .key = QF_DT_f32, .col = 4 };
    c->in[1].row = (ptrdiff_t)(4 * c->n);
    c->p.i[0] = (int64_t)k;
    for (int i = 1; i < 4; i++)
        c->p.i[i] = (int64_t)check_below(rng, 1 << 30); /* asked for, not read */
}

static void multiply(const ref_case *c)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            float sum = 0;
            for (size_t t = 0; t < (size_t)c->p.i[0]; t++)
                sum = fmaf((float)check_to_f64(QF_DT_f32, ref_get(&c->in[0], i, t)),
                           (float)check_to_f64(QF_DT_f32, ref_get(&c->in[1], t, j)), sum);
            ref_set(&c->x, i, j, check_from_f64(QF_DT_f32, (double)sum));
        }
}

const ref_op ref_gemm[] = {
    { .op = "gemm", .whole = run_gemm },
    { .op = "panel", .element = panel, .flags = REF_ANY_COL },
    { .op = "update", .shape = shape_update, .values = values_update, .tile = update },
    { .op = "multiply", .shape = shape_multiply, .values = values_update, .tile = multiply },
    { 0 },
};

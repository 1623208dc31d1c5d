/* What the operators of the copy family mean. */
#include "kernel_ref.h"

static uint64_t copy(const ref_el *e)
{
    return e->in[0];
}

/* Nibble `at` of a run of bytes: two to a byte, the low one first. */
static unsigned nibble_at(const ref_tile *bytes, int64_t at)
{
    const unsigned byte = (unsigned)ref_get(bytes, 0, (size_t)at / 2);

    return at % 2 ? byte / 16 : byte % 16;
}

static int64_t number(const ref_case *c, size_t i, size_t j)
{
    return c->p.i[0] + (int64_t)i * c->p.i[1] + (int64_t)j * c->p.i[2];
}

uint64_t ref_nibble(const ref_case *c, size_t i, size_t j)
{
    const unsigned u = nibble_at(&c->in[0], number(c, i, j));
    return c->row->key == QF_DT_i4 && u >= 8 ? u + 240 : u;
}

static void unpack(const ref_case *c)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++)
            ref_set(&c->x, i, j, ref_nibble(c, i, j));
}

static void pack(const ref_case *c)
{
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++) {
            const int64_t at = number(c, i, j);
            const unsigned other = nibble_at(&c->x, at ^ 1),
                           mine = (unsigned)ref_get(&c->in[0], i, j) % 16;
            ref_set(&c->x, 0, (size_t)at / 2, at % 2 ? mine * 16 + other : mine + other * 16);
        }
}

/* Picks nibble strides; returns the bytes that the nibbles of the case lie in, from byte 0 on. */
static size_t nibbles(ref_case *c, check_rng *rng, bool columns_adjacent)
{
    const int64_t steps[] = { 1, 1, 1, 2, 3, -1, -2, 0 };
    const int64_t n = (int64_t)c->n, m = (int64_t)c->m;
    const int64_t step =
        columns_adjacent ? 1 : steps[check_below(rng, sizeof steps / sizeof *steps)];
    const int64_t pitch = n * (step < 0 ? -step : step) + (int64_t)check_below(rng, 4);
    const int64_t row = check_chance(rng, 25) ? -pitch : pitch;
    const int64_t down = m ? (m - 1) * row : 0, right = n ? (n - 1) * step : 0;
    const int64_t least = (down < 0 ? down : 0) + (right < 0 ? right : 0);

    c->p.i[0] = (int64_t)check_below(rng, 3) - least;
    c->p.i[1] = row;
    c->p.i[2] = step;
    return m && n ? (size_t)(c->p.i[0] + (down > 0 ? down : 0) + (right > 0 ? right : 0)) / 2 + 1
                  : 0;
}

void ref_shape_nibbles(ref_case *c, check_rng *rng)
{
    c->in[0] = (ref_tile){ .m = 1, .n = nibbles(c, rng, false), .key = QF_DT_u8, .col = 1 };
}

static void shape_pack(ref_case *c, check_rng *rng)
{
    c->x = (ref_tile){ .m = 1, .n = nibbles(c, rng, true), .key = QF_DT_u8 };
}

const ref_op ref_copy[] = {
    { .op = "copy", .element = copy, .flags = REF_ANY_COL },
    { .op = "transpose", .element = copy, .flags = REF_RUNS_DOWN },
    { .op = "unpack", .x = QF_DT_u8, .tile = unpack, .shape = ref_shape_nibbles },
    { .op = "stream", .element = copy },
    { .op = "pack",
      .in = { QF_DT_u8 },
      .tile = pack,
      .shape = shape_pack,
      .flags = REF_ANY_COL | REF_UPDATES },
    { 0 },
};

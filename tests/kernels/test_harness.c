/* The harness must turn red: runs it on kernels that break the contract in one way each. */
#include "kernel_ref.h"

#include <stdio.h>
#include <string.h>

/* A copy of x32 that is right, but for what `flaw` adds after row i. */
#define BROKEN(name, flaw)                                                                         \
    static void name(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)          \
    {                                                                                              \
        (void)p;                                                                                   \
        for (size_t i = 0; i < m; i++) {                                                           \
            const char *from = (const char *)in->p + (ptrdiff_t)i * in->row;                       \
            char *to = (char *)x.p + (ptrdiff_t)i * x.row;                                         \
            for (size_t j = 0; j < n; j++)                                                         \
                memmove(to + 4 * j, from + (ptrdiff_t)j * in->col, 4);                             \
            flaw;                                                                                  \
        }                                                                                          \
    }

static volatile char sink;

BROKEN(right, (void)0)
BROKEN(over_read, sink = from[n ? (ptrdiff_t)(n - 1) * in->col + 4 : 0])
BROKEN(under_read, sink = from[-1])
BROKEN(over_write, to[4 * n] = 1)
BROKEN(under_write, to[-1] = 1)
BROKEN(last_bit, if (n == 17) to[64] ^= 1)
BROKEN(skips, if (m > 1) break)
BROKEN(crashes, if (n == 65) __builtin_trap())

static void changes_input(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p)
{
    right(m, n, in, x, p);
    if (m && n && in->p != x.p)
        memset((void *)(uintptr_t)in->p, 0, 1);
}

static uint64_t same(const ref_el *e)
{
    return e->in[0];
}

static uint64_t other(const ref_el *e)
{
    return e->in[0] + (e->i == 3);
}

static bool expect(const char *name, qfk_tile *fn, const ref_op *op, bool green)
{
    const qfk_row scalar = {
        .name = "copy_x32_scalar", .op = "copy", .key = QFK_KEY_x32, .fn = right
    };
    const qfk_row row = { .name = name, .op = "copy", .key = QFK_KEY_x32, .fn = fn };
    char why[512] = "";
    const bool by_reference = ref_run(&row, &row, op, 1, 100, why, sizeof why);
    const bool by_scalar = ref_run(&row, &scalar, op, 1, 100, why, sizeof why);
    const bool ok = by_reference == green && (by_scalar == green || op->element == other);

    printf("%s %s: %s\n", ok ? "ok" : "FAILED", name, why);
    return ok;
}

int main(void)
{
    const ref_op copy = { .op = "copy", .element = same },
                 wrong = { .op = "copy", .element = other };
    static const struct {
        const char *name;
        qfk_tile *fn;
    } broken[] = {
        { "over_read", over_read },   { "under_read", under_read },
        { "over_write", over_write }, { "under_write", under_write },
        { "last_bit", last_bit },     { "skips", skips },
        { "crashes", crashes },       { "changes_input", changes_input },
    };
    size_t passed = 0, n = sizeof broken / sizeof *broken;

    passed += expect("right", right, &copy, true);
    passed += expect("wrong_reference", right, &wrong, false);
    for (size_t i = 0; i < n; i++)
        passed += expect(broken[i].name, broken[i].fn, &copy, false);
    printf("%zu passed, %zu failed, 0 skipped\n", passed, n + 2 - passed);
    return passed != n + 2;
}

/* A pool: memory that is freed all at once. Graphs, programs, edits and reports each own one, so
 * error paths free nothing. Allocation goes through one replaceable function, which the tests make
 * fail. Not thread-safe. */
#ifndef QFI_POOL_H
#define QFI_POOL_H

#include <stdarg.h>
#include <qfold/types.h>

typedef struct qfi_pool_block qfi_pool_block;
typedef struct qfi_pool {
    qfi_pool_block *block;
    size_t used;
} qfi_pool;

/* Zeroed memory, aligned for any type; NULL when out of memory. n * size is checked. The pool
 * starts as { 0 }. */
void *qfi_pool_alloc(qfi_pool *pool, size_t n, size_t size);
/* A terminated copy; formatted text. NULL when out of memory. */
char *qfi_pool_text(qfi_pool *pool, const char *p, size_t n);
char *qfi_pool_format(qfi_pool *pool, const char *format, ...) QF_PRINTF(2, 3);
/* n parts, one behind the other, and a terminator; p is NULL when out of memory. */
qf_str qfi_pool_join(qfi_pool *pool, size_t n, const qf_str *part);
void qfi_pool_free(qfi_pool *pool);

/* The array of n elements with room for `want`: itself, made longer where it stands if nothing was
 * taken since, or a copy (the old one stays in the pool). Elements from n on are zero. NULL when
 * out of memory. */
void *qfi_pool_reserve(qfi_pool *pool, void *array, size_t n, size_t *cap, size_t want,
                       size_t size);

/* The same for one more element; what becomes longer becomes twice as long. */
static inline void *qfi_pool_grow(qfi_pool *pool, void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    return qfi_pool_reserve(pool, array, n, cap, *cap ? *cap * 2 : 16, size);
}

/* What pools take memory from, zeroed; NULL: the system. Set before any other call: a hook for
 * tests. */
void qfi_pool_hook(void *(*alloc)(size_t size), void (*release)(void *p));

static inline bool qfi_str_is(qf_str a, const char *b)
{
    return a.n == __builtin_strlen(b) && !__builtin_memcmp(a.p, b, a.n);
}

static inline bool qfi_str_equal(qf_str a, qf_str b)
{
    return a.n == b.n && (!a.n || !__builtin_memcmp(a.p, b.p, a.n));
}

static inline qf_str qfi_str_of(const char *text)
{
    return (qf_str){ text, __builtin_strlen(text) };
}

/* For "%.*s". */
#define QFI_STR(s) (int)(s).n, (s).p

#endif

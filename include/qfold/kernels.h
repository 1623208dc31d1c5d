/* Kernels: functions over one 2-D tile, and the table that picks them for a CPU. */
#ifndef QFOLD_KERNELS_H
#define QFOLD_KERNELS_H

#include <qfold/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One input tile: element [i][j] is at (char *)p + i * row + j * col. row: bytes, any. col: bytes;
 * 0 (one value per row) or the element size; kernels of the copy family take any col. */
typedef struct qfk_in {
    const void *p;
    ptrdiff_t row, col;
} qfk_in;

/* The output tile: rows `row` bytes apart, elements of a row adjacent. */
typedef struct qfk_out {
    void *p;
    ptrdiff_t row;
} qfk_out;

/* Small parameters; each operator of kernels/<family>/<family>.def states which it uses.
 * bad: guard kernels OR a non-zero value into *bad when an element is not allowed.  past: kernels
 * of BITS_PAST rows may store past the caches; the caller puts a store fence before others read.
 * staging: QFK_STAGING bytes at a line, without which `transpose` does not; what they hold is lost.
 */
typedef struct qfk_param {
    double f[4];
    int64_t i[4];
    uint32_t *bad;
    bool past;
    void *staging;
} qfk_param;

#define QFK_STAGING ((size_t)331776)

/* Computes an m x n tile. m and n may be 0. Nothing outside the tile is read or written, no
 * alignment is assumed, and x may be the very memory of an input of the same element size with the
 * same row pitch. Pure: no state, no allocation. The thread is in round-to-nearest mode with
 * subnormals on. */
typedef void qfk_tile(size_t m, size_t n, const qfk_in *in, qfk_out x, const qfk_param *p);

/* One packed MR x NR step: c = (add ? c : 0) + a * b over k steps, one fused multiply-add chain per
 * element, in order of k. a: k x MR, b: k x NR, both packed dense; c: rows c_row bytes apart. MR
 * and NR travel in the row. */
typedef void qfk_gemm(size_t k, const void *a, const void *b, void *c, ptrdiff_t c_row, bool add);

/* Families of kernels, QFK_copy …, one folder each. */
typedef enum qfk_family {
    QFK_copy,
    QFK_binary,
    QFK_unary,
    QFK_compare,
    QFK_select,
    QFK_cast,
    QFK_quant,
    QFK_fill,
    QFK_guard,
    QFK_reduce,
    QFK_gather,
    QFK_gemm,
    QFK_FAMILY_COUNT
} qfk_family;

/* What a kernel is keyed on: a dtype number, or an element size where only the bits matter. */
typedef enum qfk_key {
    QFK_KEY_x4 = QF_DT_COUNT,
    QFK_KEY_x8,
    QFK_KEY_x16,
    QFK_KEY_x32,
    QFK_KEY_x64,
    QFK_KEY_COUNT,
#define QF_DTYPE(name, bits, kind, compute, torch, onnx, safetensors, gguf)                        \
    QFK_KEY_##name = QF_DT_##name,
#include <qfold/dtype.def>
#undef QF_DTYPE
} qfk_key;

/* BITS: every row of the operator and key gives the same bits. LIBM: f64 transcendentals, within 1
 * ulp of each other. BITS_PAST: as BITS, and the kernel heeds qfk_param.past. */
typedef enum qfk_exact { QFK_BITS, QFK_LIBM, QFK_BITS_PAST } qfk_exact;

/* One row of the table. name: "add_f32_avx2", the symbol without its prefix. op: name of the
 * operator in the family. needs: capabilities.  fn, or gemm with mr, nr: the kernel. */
typedef struct qfk_row {
    const char *name, *op;
    uint16_t op_id;
    uint8_t family, key, exact, mr, nr;
    qf_caps needs;
    qfk_tile *fn;
    qfk_gemm *gemm;
} qfk_row;

/* One operator of a family. n_in: input tiles.  text: what it computes. */
typedef struct qfk_op_info {
    const char *name;
    uint8_t family, n_in;
    const char *text;
} qfk_op_info;

/* Every row that was built, in order of preference within (operator, key): later rows win. Static,
 * thread-safe. */
QF_API const qfk_row *qfk_rows(size_t *n);

/* Every operator of every family; the index is qfk_row.op_id. Static, thread-safe. */
QF_API const qfk_op_info *qfk_ops(size_t *n);

/* The rows that `caps` allow, best per (operator, key). An immutable object, which any number of
 * threads may use; free with qf_table_free, which takes NULL. NULL: no memory. */
typedef struct qf_table qf_table;
QF_API qf_table *qf_table_make(qf_caps caps);
QF_API void qf_table_free(qf_table *table);
QF_API qf_caps qf_table_caps(const qf_table *table);

/* The one for what qf_caps_detect allowed at the first call; it lives as long as the library.
 * Thread-safe. */
QF_API const qf_table *qf_table_best(void);

/* The best row, or NULL if there is none. op_id: index in qfk_ops(). Thread-safe. */
QF_API const qfk_row *qfk_pick(const qf_table *table, uint16_t op_id, qfk_key key);

#ifdef __cplusplus
}
#endif
#endif

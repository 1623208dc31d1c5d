/* Builders of matrix products. */
#include "aten_build.h"

/* Half types accumulate and add in f32 and are rounded once. */
static qf_dtype work_dtype(qf_dtype dtype)
{
    return qfi_is_half(dtype) ? QF_DT_f32 : dtype;
}

static void check_same(qfi_lowering *l, qfi_ref a, qfi_ref b)
{
    const qf_dtype x = qfi_type_of(l, a).dtype, y = qfi_type_of(l, b).dtype;

    if (x != y)
        qfi_refuse(l, QF_REASON_undefined, "a product of %s with %s", qf_dtype_get(x)->name,
                   qf_dtype_get(y)->name);
    if (x == QF_DT_b8)
        qfi_refuse(l, QF_REASON_undefined, "a product of booleans");
}

static qfi_ref product(qfi_lowering *l, qfi_ref a, qfi_ref b)
{
    check_same(l, a, b);
    return qfi_append2(l, QF_OP_matmul, a, b);
}

/* The second operand has another name in each operator. */
void qfi_build_matmul(qfi_lowering *l)
{
    static const char *const names[] = { "other", "mat2", "vec", "tensor" };
    const char *second = names[0];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (qfi_arg_get(l, names[i])->kind != QFI_ARG_ABSENT)
            second = names[i];
    qfi_result(l, product(l, qfi_arg_tensor(l, "self"), qfi_arg_tensor(l, second)));
}

void qfi_build_outer(qfi_lowering *l)
{
    const qfi_operand x[2] = { qfi_arg_operand(l, "self"), qfi_arg_operand(l, "vec2") };
    const qf_dtype dtype = qfi_result_dtype(l, x, 2);
    const qfi_ref a = qfi_unsqueeze(l, qfi_operand_as(l, &x[0], dtype), 1);

    qfi_result(l, qfi_append2(l, dtype == QF_DT_b8 ? QF_OP_bit_and : QF_OP_mul, a,
                              qfi_operand_as(l, &x[1], dtype)));
}

/* factor * x, nothing for a factor of 1. */
static qfi_ref scaled(qfi_lowering *l, qfi_ref x, const char *factor)
{
    const qfi_number number = qfi_arg_number(l, factor);
    const qf_dtype dtype = qfi_type_of(l, x).dtype;

    if (qfi_number_double(number) == 1.0)
        return x;
    if (!number.v.is_int && qfi_class(dtype) != QF_CLASS_FLOAT)
        qfi_refuse(l, QF_REASON_undefined, "a fractional %s for integers", factor);
    return qfi_append2(l, QF_OP_mul, x, qfi_full(l, (qf_type){ .dtype = dtype }, number));
}

/* beta * self + alpha * (a @ b); a beta of 0 hides self. */
void qfi_build_addmm(qfi_lowering *l)
{
    const bool batch = qfi_arg_get(l, "batch1")->kind != QFI_ARG_ABSENT;
    const qfi_ref a = qfi_arg_tensor(l, batch ? "batch1" : "mat1");
    const qfi_ref b = qfi_arg_tensor(l, batch ? "batch2" : "mat2");
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_dtype dtype = qfi_type_of(l, a).dtype, work = work_dtype(dtype);

    check_same(l, a, b);
    check_same(l, a, self);
    qfi_ref x = scaled(l, product(l, qfi_cast(l, a, work), qfi_cast(l, b, work)), "alpha");
    const qf_type type = qfi_type_of(l, x);
    if (qfi_number_double(qfi_arg_number(l, "beta")) != 0.0) {
        const qfi_ref bias = scaled(l, qfi_cast(l, self, work), "beta");
        x = qfi_append2(l, QF_OP_add, x, qfi_expand_like(l, bias, type));
    }
    qfi_result(l, qfi_cast(l, x, dtype));
}

void qfi_build_linear(qfi_lowering *l)
{
    const qfi_ref input = qfi_arg_tensor(l, "input"), weight = qfi_arg_tensor(l, "weight");
    const qf_dtype dtype = qfi_type_of(l, input).dtype;
    const bool vector = qfi_type_of(l, weight).rank == 1;
    const qfi_ref w = vector ? weight : qfi_transpose(l, weight, 0, 1);

    check_same(l, input, weight);
    if (!qfi_arg_has(l, "bias")) {
        qfi_result(l, product(l, input, w));
        return;
    }
    const qfi_ref bias = qfi_arg_tensor(l, "bias");
    const qf_dtype work = work_dtype(dtype);
    check_same(l, input, bias);
    const qfi_ref x = product(l, qfi_cast(l, input, work), qfi_cast(l, w, work));
    qfi_result(l, qfi_cast(l, qfi_append2(l, QF_OP_add, x, qfi_cast(l, bias, work)), dtype));
}

/* beta * self + alpha * what stands in `x`, which is of the dtype of the steps; a beta of 0 hides
 * self. */
static void add_product(qfi_lowering *l, qfi_ref x, qf_dtype dtype)
{
    const qfi_ref self = qfi_arg_tensor(l, "self");
    const qf_dtype work = work_dtype(dtype);

    if (qfi_lowering_ok(l) && qfi_type_of(l, self).dtype != dtype)
        qfi_refuse(l, QF_REASON_undefined, "%s is added to %s", qf_dtype_get(dtype)->name,
                   qf_dtype_get(qfi_type_of(l, self).dtype)->name);
    x = scaled(l, x, "alpha");
    if (qfi_number_double(qfi_arg_number(l, "beta")) != 0.0) {
        const qfi_ref bias = scaled(l, qfi_cast(l, self, work), "beta");
        x = qfi_append2(l, QF_OP_add, x, qfi_expand_like(l, bias, qfi_type_of(l, x)));
    }
    qfi_result(l, qfi_cast(l, x, dtype));
}

void qfi_build_addmv(qfi_lowering *l)
{
    const qfi_ref a = qfi_arg_tensor(l, "mat"), b = qfi_arg_tensor(l, "vec");
    const qf_dtype dtype = qfi_type_of(l, a).dtype, work = work_dtype(dtype);

    check_same(l, a, b);
    add_product(l, product(l, qfi_cast(l, a, work), qfi_cast(l, b, work)), dtype);
}

/* The products of a batch, added up: one product of matrices laid side by side. */
void qfi_build_addbmm(qfi_lowering *l)
{
    const qfi_ref a = qfi_arg_tensor(l, "batch1"), b = qfi_arg_tensor(l, "batch2");
    const qf_type x = qfi_type_of(l, a), y = qfi_type_of(l, b);
    const qf_dtype work = work_dtype(x.dtype);

    check_same(l, a, b);
    if (x.rank != 3 || y.rank != 3 || x.dim[0] != y.dim[0] || x.dim[2] != y.dim[1]) {
        qfi_refuse(l, QF_REASON_undefined, "batches of ranks %d and %d", x.rank, y.rank);
        return;
    }
    const int64_t k = x.dim[0] * x.dim[2], left[] = { x.dim[1], k }, right[] = { k, y.dim[2] };
    const qfi_ref wide = qfi_reshape(l, qfi_transpose(l, a, 0, 1), 2, left),
                  tall = qfi_reshape(l, b, 2, right);
    add_product(l, product(l, qfi_cast(l, wide, work), qfi_cast(l, tall, work)), x.dtype);
}

/* The last dims of both, multiplied and added up; a product where one has no dims. */
void qfi_build_inner(qfi_lowering *l)
{
    const qfi_ref a = qfi_arg_tensor(l, "self"), b = qfi_arg_tensor(l, "other");
    const qf_type x = qfi_type_of(l, a), y = qfi_type_of(l, b);
    int64_t dim[2 * QF_MAX_RANK] = { 0 };
    uint32_t n = 0;

    if (x.rank < 1 || y.rank < 1) {
        qfi_build_mul(l);
        return;
    }
    check_same(l, a, b);
    if (x.dim[x.rank - 1] != y.dim[y.rank - 1]) {
        qfi_refuse(l, QF_REASON_undefined, "%lld and %lld elements", (long long)x.dim[x.rank - 1],
                   (long long)y.dim[y.rank - 1]);
        return;
    }
    const int64_t k = x.dim[x.rank - 1];
    if (!k) {
        qfi_refuse(l, QF_REASON_unsupported_argument, "no elements");
        return;
    }
    for (int i = 0; i + 1 < x.rank; i++)
        dim[n++] = x.dim[i];
    for (int i = 0; i + 1 < y.rank; i++)
        dim[n++] = y.dim[i];
    const int64_t rows[] = { qfi_elements_of(l, a) / k, k },
                  columns[] = { qfi_elements_of(l, b) / k, k };
    const qfi_ref p = product(l, qfi_reshape(l, a, 2, rows),
                              qfi_transpose(l, qfi_reshape(l, b, 2, columns), 0, 1));
    qfi_result(l, qfi_reshape(l, p, n, dim));
}

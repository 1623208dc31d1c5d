/* Links the kernels alone: transposes and adds through qf_eval on two threads. */
#include <qfold/eval.h>
#include <stdio.h>

int main(void)
{
    float a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 10, 20, 30, 40, 50, 60 }, x[6] = { 0 };
    const float want[6] = { 11, 24, 32, 45, 53, 66 };
    qf_storage *stored[3] = { qf_storage_wrap(a, sizeof a, false),
                              qf_storage_wrap(b, sizeof b, false),
                              qf_storage_wrap(x, sizeof x, true) };
    const qf_tensor in[2] = {
        { .storage = stored[0],
          .shape = { 3, 2 },
          .stride = { 1, 3 },
          .rank = 2,
          .dtype = QF_DT_f32 },
        { .storage = stored[1],
          .shape = { 3, 2 },
          .stride = { 2, 1 },
          .rank = 2,
          .dtype = QF_DT_f32 },
    };
    qf_tensor out = {
        .storage = stored[2], .shape = { 3, 2 }, .stride = { 2, 1 }, .rank = 2, .dtype = QF_DT_f32
    };
    qf_ctx ctx = { .struct_size = sizeof ctx };
    qf_diag diag = { QF_OK, 0, "" };

    if (qf_threads_open(&ctx, 2, &diag) != QF_OK ||
        qf_eval(&ctx, QF_OP_add, NULL, in, 2, &out, &diag) != QF_OK) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    qf_threads_close(&ctx);
    for (int i = 0; i < 3; i++)
        qf_storage_unref(stored[i]);
    for (int i = 0; i < 6; i++)
        if (x[i] < want[i] || x[i] > want[i]) {
            fprintf(stderr, "element %d: %g, not %g\n", i, (double)x[i], (double)want[i]);
            return 1;
        }
    return 0;
}

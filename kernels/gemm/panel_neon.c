/* Narrow tiles with NEON: the blocks of transpose where the input runs down the columns, else rows.
 */
#include "kernels/common/element.h"

/* The kernel for a tile of elements of `size` bytes. */
static qfk_tile *mover(const qfk_in *in, ptrdiff_t size, qfk_tile *turn, qfk_tile *copy)
{
    return in->row == size && in->col != size ? turn : copy;
}

void qfk_panel_x32_neon(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    mover(in, 4, qfk_transpose_x32_neon, qfk_copy_x32_neon)(m, n, in, out, p);
}

void qfk_panel_x64_neon(size_t m, size_t n, const qfk_in *in, qfk_out out, const qfk_param *p)
{
    mover(in, 8, qfk_transpose_x64_neon, qfk_copy_x64_neon)(m, n, in, out, p);
}

/* The order in which loops run, and which two of them make a tile. */
#include "dispatch/arith.h"
#include "dispatch/loops.h"

static void move_loop(qfi_nest *nest, int to, int from)
{
    nest->n[to] = nest->n[from];
    for (int i = 0; i < nest->n_lane; i++)
        nest->lane[i].step[to] = nest->lane[i].step[from];
}

static void swap_loops(qfi_nest *nest, int a, int b)
{
    const int64_t n = nest->n[a];
    nest->n[a] = nest->n[b];
    nest->n[b] = n;
    for (int i = 0; i < nest->n_lane; i++) {
        int64_t *step = nest->lane[i].step, keep = step[a];
        step[a] = step[b];
        step[b] = keep;
    }
}

static void run_forwards(qfi_nest *nest, int loop)
{
    if (nest->lane[0].step[loop] >= 0)
        return;
    for (int i = 0; i < nest->n_lane; i++) {
        nest->lane[i].base += nest->lane[i].step[loop] * (nest->n[loop] - 1);
        nest->lane[i].step[loop] = -nest->lane[i].step[loop];
    }
}

static bool mergeable(const qfi_nest *nest, int outer, int inner)
{
    for (int i = 0; i < nest->n_lane; i++)
        if (nest->lane[i].step[outer] != nest->lane[i].step[inner] * nest->n[inner])
            return false;
    return true;
}

void qfi_nest_tidy(qfi_nest *nest)
{
    int n = 0;

    for (int l = 0; l < nest->n_loop; l++) {
        if (nest->n[l] == 1)
            continue;
        move_loop(nest, n, l);
        run_forwards(nest, n);
        for (int k = n++; k > 0 && nest->lane[0].step[k - 1] < nest->lane[0].step[k]; k--)
            swap_loops(nest, k - 1, k);
    }
    nest->n_loop = (uint8_t)n;
    for (int l = n - 2; l >= 0; l--) {
        if (!mergeable(nest, l, l + 1))
            continue;
        const int64_t merged = nest->n[l] * nest->n[l + 1];
        move_loop(nest, l, l + 1);
        nest->n[l] = merged;
        for (int k = l + 1; k + 1 < nest->n_loop; k++)
            move_loop(nest, k, k + 1);
        nest->n_loop--;
    }
}

void qfi_nest_tiles(qfi_nest *nest, int n_operand)
{
    const int last = nest->n_loop - 1;

    nest->col = (int8_t)(last >= 0 && nest->lane[0].step[last] == 1 ? last : -1);
    nest->row = (int8_t)(nest->col < 0 ? last : last - 1);
    for (int i = 1; i <= n_operand && nest->col > 0; i++) {
        const int64_t *step = nest->lane[i].step;
        if (step[nest->col] == 0 || step[nest->col] == 1)
            continue;
        for (int l = 0; l < nest->col; l++)
            if (qfi_magnitude(step[l]) == 1) {
                nest->row = (int8_t)l;
                return;
            }
    }
}

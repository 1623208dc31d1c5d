/* What a person wants to know after a fold, on one screen. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "folding.h"

enum { TOP_REASONS = 6, TOP_CONSTANTS = 5 };

static double percent(uint64_t before, uint64_t after)
{
    return before ? ((double)after - (double)before) / (double)before * 100 : 0;
}

static void print_sizes(const qf_report *r)
{
    char before[24], after[24];
    printf("  file       %s", qfi_human(r->input_bytes, before));
    if (r->output)
        printf(" -> %s (%+.1f %%)", qfi_human(r->output_bytes, after),
               percent(r->input_bytes, r->output_bytes));
    if (r->bytes_before || r->bytes_after)
        printf("; constants %s -> %s", qfi_human(r->bytes_before, before),
               qfi_human(r->bytes_after, after));
    putchar('\n');
}

static void print_nodes(const qf_report *r)
{
    printf("  nodes      %u: %u folded, %u kept, %u dead", r->n_nodes, r->n_folded, r->n_kept,
           r->n_dead);
    if (r->n_carried)
        printf("; %u moved under a dequantize", r->n_carried);
    putchar('\n');
}

static const qf_report *sorted;

static int by_count(const void *a, const void *b)
{
    const qf_report_reason *x = &sorted->reason[*(const uint32_t *)a],
                           *y = &sorted->reason[*(const uint32_t *)b];
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (int)x->reason - (int)y->reason;
}

static int by_bytes(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const uint64_t x = sorted->constant[i].bytes, y = sorted->constant[k].bytes;
    if (x != y)
        return x < y ? 1 : -1;
    return i < k ? -1 : 1;
}

/* Numbers 0 … n-1 in an order over the report's rows; NULL when out of memory or n is 0. */
static uint32_t *order(const qf_report *r, uint32_t n, int (*compare)(const void *, const void *))
{
    uint32_t *index = n ? malloc(n * sizeof *index) : NULL;
    for (uint32_t i = 0; index && i < n; i++)
        index[i] = i;
    sorted = r;
    if (index)
        qsort(index, n, sizeof *index, compare);
    return index;
}

static void print_reasons(const qf_report *r)
{
    uint32_t *index = order(r, r->n_reasons, by_count);
    for (uint32_t i = 0; index && i < r->n_reasons && i < TOP_REASONS; i++) {
        const qf_report_reason *reason = &r->reason[index[i]];
        printf("  %s %7u %-20s %s\n", i ? "          " : "kept      ", reason->count,
               qf_reason_name(reason->reason), qf_reason_text(reason->reason));
    }
    if (index && r->n_reasons > TOP_REASONS)
        printf("  %-18s and %u more reasons\n", "", r->n_reasons - TOP_REASONS);
    free(index);
}

static void print_constants(const qf_report *r)
{
    char size[24], type[120];
    uint32_t views = 0;
    for (uint32_t i = 0; i < r->n_constants; i++)
        views += r->constant[i].view;
    if (!r->n_constants)
        return;
    printf("  constants  %u stored, %u of them views that take no bytes\n", r->n_constants, views);
    uint32_t *index = order(r, r->n_constants, by_bytes);
    for (uint32_t i = 0; index && i < r->n_constants && i < TOP_CONSTANTS; i++) {
        const qf_report_constant *constant = &r->constant[index[i]];
        if (!constant->bytes)
            break;
        printf("  %12s  ", qfi_human(constant->bytes, size));
        qfi_put(stdout, constant->name, strlen(constant->name), 24);
        printf("  %s\n", qfi_type_text(&constant->type, type, sizeof type));
    }
    free(index);
}

/* ru_maxrss counts KiB, but bytes on macOS. */
#ifdef __APPLE__
enum { RSS_UNIT = 1 };
#else
enum { RSS_UNIT = 1024 };
#endif

static uint64_t peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * RSS_UNIT : 0;
}

static void print_run(const qf_report *r)
{
    char rate[24], memory[24];
    const double seconds = r->seconds > 1e-6 ? r->seconds : 1e-6;
    printf("  took       %.2f s, %s/s with %u thread%s; peak memory %s\n", r->seconds,
           qfi_human((uint64_t)((double)r->output_bytes / seconds), rate), r->threads,
           r->threads == 1 ? "" : "s", qfi_human(peak_memory(), memory));
}

void qfi_print_summary(const qf_report *r)
{
    qfi_put(stdout, r->input, strlen(r->input), 0);
    printf(" (%s)", r->format);
    if (r->output) {
        fputs(" -> ", stdout);
        qfi_put(stdout, r->output, strlen(r->output), 0);
    }
    putchar('\n');
    print_sizes(r);
    print_nodes(r);
    if (!r->n_folded && !r->n_dead && !r->n_carried)
        printf("  %s\n", r->output ? "nothing to fold: the output is a copy" : "nothing to fold");
    print_constants(r);
    print_reasons(r);
    if (r->output)
        print_run(r);
}

void qfi_print_notes(const qf_report *r)
{
    for (uint32_t i = 0; i < r->n_notes; i++) {
        const qf_report_note *note = &r->note[i];
        fprintf(stderr, "%s: ", note->severity);
        qfi_put(stderr, note->where, strlen(note->where), 0);
        fprintf(stderr, "%s%s (%s)\n", *note->where ? ": " : "", note->text, note->code);
    }
}

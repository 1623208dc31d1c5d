/* One place for each hash. What stands there is compared step by step; types of inputs are hashed,
 * and compared when the pipeline is bound. */
#include "recent.h"

#include <string.h>

#include "hash.h"
#include "pool.h"

/* ordered: as `order` says. */
typedef struct qfi_recent_entry {
    qfi_pool pool; /* holds this too */
    uint64_t hash;
    size_t rank;
    uint32_t result, n_input, n_step;
    const qf_step *step;
    uint8_t order[QF_MAX_RANK];
    bool ordered;
    qf_pipe *pipe;
} entry;

static uint64_t hash_tensor(uint64_t hash, const qf_tensor *t)
{
    hash = qfi_hash_word(hash, (uint64_t)t->dtype << 8 | t->rank);
    hash = qfi_hash_word(hash, (uint64_t)t->offset);
    for (int d = 0; d < t->rank; d++)
        hash = qfi_hash_word(qfi_hash_word(hash, (uint64_t)t->shape[d]), (uint64_t)t->stride[d]);
    return hash;
}

qfi_recent_key qfi_recent_key_of(const qf_program *program, uint32_t result, size_t rank,
                                 const uint8_t *order)
{
    uint64_t hash = qfi_hash_word(result, program->n_step);
    for (uint32_t i = 0; i < program->n_input; i++)
        hash = hash_tensor(hash, &program->input[i]);
    for (uint32_t i = 0; i < program->n_step; i++) {
        const qf_step *s = &program->step[i];
        hash = qfi_hash_word(hash, (uint64_t)s->op << 16 | s->n_in);
        for (uint32_t k = 0; k < s->n_in; k++)
            hash = qfi_hash_word(hash, s->in[k]);
    }
    return (qfi_recent_key){ program, order, rank, result, hash };
}

static bool same_step(const qf_step *a, const qf_step *b)
{
    return a->op == b->op && a->n_in == b->n_in &&
           (!a->n_in || !memcmp(a->in, b->in, a->n_in * sizeof *a->in)) &&
           !memcmp(&a->attrs, &b->attrs, sizeof a->attrs);
}

qf_pipe *qfi_recent_find(const qfi_recent *recent, const qfi_recent_key *key)
{
    const entry *e = recent->entry[key->hash % QFI_RECENT];
    const qf_program *p = key->program;
    if (!e || e->hash != key->hash || e->result != key->result || e->n_input != p->n_input ||
        e->n_step != p->n_step || e->rank != key->rank || e->ordered != !!key->order ||
        (key->order && memcmp(e->order, key->order, key->rank)))
        return NULL;
    for (uint32_t i = 0; i < p->n_step; i++)
        if (!same_step(&e->step[i], &p->step[i]))
            return NULL;
    return e->pipe;
}

static uint64_t size_of(const qf_program *p)
{
    uint64_t size = p->n_step;
    for (uint32_t i = 0; i < p->n_step; i++)
        size += p->step[i].n_in;
    return size;
}

/* Steps of their own, with what they point at. NULL when out of memory. */
static const qf_step *copy_steps(qfi_pool *pool, const qf_program *p)
{
    qf_step *step = qfi_pool_alloc(pool, p->n_step, sizeof *step);
    for (uint32_t i = 0; step && i < p->n_step; i++) {
        uint32_t *in = qfi_pool_alloc(pool, p->step[i].n_in, sizeof *in);
        if (!in)
            return NULL;
        step[i] = p->step[i];
        step[i].in = in;
        if (step[i].n_in)
            memcpy(in, p->step[i].in, step[i].n_in * sizeof *in);
    }
    return step;
}

static void forget(entry *e)
{
    if (!e)
        return;
    qfi_pool pool = e->pool;
    qfi_pool_free(&pool);
}

void qfi_recent_keep(qfi_recent *recent, const qfi_recent_key *key, qf_pipe *pipe)
{
    const qf_program *p = key->program;
    entry **place = &recent->entry[key->hash % QFI_RECENT];
    qfi_pool pool = { 0 };
    if (size_of(p) > QFI_RECENT_SIZE)
        return;
    entry *e = qfi_pool_alloc(&pool, 1, sizeof *e);
    const qf_step *step = e ? copy_steps(&pool, p) : NULL;
    if (!step) {
        qfi_pool_free(&pool);
        return;
    }
    *e = (entry){ .pool = pool,
                  .hash = key->hash,
                  .rank = key->rank,
                  .result = key->result,
                  .n_input = p->n_input,
                  .n_step = p->n_step,
                  .step = step,
                  .ordered = key->order != NULL,
                  .pipe = pipe };
    if (key->order)
        memcpy(e->order, key->order, key->rank);
    forget(*place);
    *place = e;
}

void qfi_recent_free(qfi_recent *recent)
{
    for (size_t i = 0; i < QFI_RECENT; i++)
        forget(recent->entry[i]);
    *recent = (qfi_recent){ { NULL } };
}

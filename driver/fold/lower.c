/* Asking the format what a node means, with slots as its operands. */
#include "work.h"

typedef struct env_user {
    qfi_fold *fold;
    const qfi_part *part;
    qf_status status; /* the first failure inside a callback */
    qf_diag diag;
} env_user;

static qfi_ref env_ref(qfi_env *env, qfi_id value)
{
    const env_user *user = env->user;
    return qfi_work_of(user->fold)->run.slot[qfi_part_value(user->part, value)].ref;
}

static bool env_scalar(qfi_env *env, qfi_id value, qf_scalar *out)
{
    env_user *user = env->user;
    const qfi_ref ref = env_ref(env, value);
    bool known = false;
    if (ref == QFI_NONE || user->status != QF_OK)
        return false;
    user->status = qfi_evaluate_scalar(user->fold, ref, out, &known, &user->diag);
    return user->status == QF_OK && known;
}

static bool env_elements(qfi_env *env, qfi_ref ref, qf_scalar *out, uint32_t *n)
{
    env_user *user = env->user;
    bool known = false;
    if (ref == QFI_NONE || user->status != QF_OK)
        return false;
    user->status = qfi_evaluate_small(user->fold, ref, out, n, &known, &user->diag);
    return user->status == QF_OK && known;
}

qf_status qfi_lower(qfi_fold *fold, qfi_id n, qfi_env *env, qf_diag *diag)
{
    qfi_run *run = &qfi_work_of(fold)->run;
    const qfi_part *part = &fold->whole.part[qfi_node_part(&fold->whole, n)];
    const uint32_t n_out = fold->graph->node[n].n_out;
    env_user user = { .fold = fold, .part = part };
    env->prog = &fold->prog;
    env->user = &user;
    env->ref = env_ref;
    env->scalar = env_scalar;
    env->elements = env_elements;
    env->written = QFI_NONE;
    env->out = qfi_pool_alloc(&run->pool, n_out, sizeof *env->out);
    if (!env->out)
        return QFI_NO_MEMORY(diag);
    for (uint32_t k = 0; k < n_out; k++)
        env->out[k] = QFI_NONE;
    QF_TRY(part->graph->lower(part->graph, qfi_local_node(&fold->whole, n), env, diag));
    if (user.status != QF_OK)
        QF_FAIL(diag, user.status, "%s", user.diag.text);
    return QF_OK;
}

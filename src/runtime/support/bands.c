/* Root functions and their bands (S5): positive while a relation or step function keeps its value. */
#include "relation.h"

static double relation_margin(const Machine *k, const KoineRelation *r) /* s*g: positive inside the present side */
{
    const double g = k->m[r->left].r - k->m[r->right].r;
    return k->m[r->bit].i ? g : -g;
}

static double margin_of(const Machine *k, uint32_t root, double *exact, double *band)
{
    const KoineProgram *p = k->program;
    const uint32_t owner = p->root_owner[root];
    if (owner < p->n_relations) {
        const KoineRelation *r = &p->relations[owner];
        *exact = k->m[r->bit].i == !r->is_strict ? TINY : 0; /* g = 0 belongs to the present side */
        *band = band_of(r->band, k->m[r->left].r, k->m[r->right].r);
        const double margin = relation_margin(k, r);
        return is_masked(k, r->selector, r->branch) || (r->is_guarded && isnan(margin)) ? INFINITY : margin;
    }
    const KoineStep *s = &p->steps[owner - p->n_relations];
    const double argument = k->m[s->argument].r;
    const Interval now = interval_of(s, (double)k->m[s->value].i);
    const bool is_low = root == s->root;
    *exact = (is_low ? now.lo_in : now.hi_in) ? TINY : 0;
    *band = band_of(s->band, argument, is_low ? now.lo : now.hi);
    if (is_masked(k, s->selector, s->branch) || (s->is_guarded && isnan(argument)))
        return INFINITY;
    return is_low ? argument - now.lo : now.hi - argument;
}

void koine_root_functions(Machine *k, double *roots)
{
    for (uint32_t j = 0; j < k->program->n_roots; j++) {
        double exact, band;
        const double margin = margin_of(k, j, &exact, &band);
        roots[j] = margin == INFINITY ? 1 : margin + (k->widened[j] > 0 ? k->widened[j] : exact);
    }
}

/* On leaving an instant with a relation on the wrong side of its border by rounding: its border moves outwards. */
void koine_widen_bands(Machine *k)
{
    Instant *now = k->instant;
    now->n_widened = 0;
    for (uint32_t j = 0; j < k->program->n_roots; j++) {
        double exact, band;
        const double margin = margin_of(k, j, &exact, &band);
        k->widened[j] = margin <= 0 ? 2 * fabs(margin) + band : 0;
        now->n_widened += k->widened[j] > 0;
    }
}

/* After an accepted step: a border goes back once the relation has left its widened band. */
void koine_narrow_bands(Machine *k)
{
    Instant *now = k->instant;
    if (now->n_widened == 0)
        return;
    koine_run_part(k, &k->program->roots);
    for (uint32_t j = 0; j < k->program->n_roots; j++) {
        double exact, band;
        if (k->widened[j] > 0 && margin_of(k, j, &exact, &band) > k->widened[j]) {
            k->widened[j] = 0;
            now->n_widened--;
        }
    }
}

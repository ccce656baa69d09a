/* Checks of components that Koine does not compute. */
#include "ir/verify_checks.h"

static void check_ports(Verifier *v, const Foreign *f)
{
    const Model *m = v->model;
    for (uint32_t k = 0; k < f->n_ports; k++) {
        const ForeignPort *port = &m->foreign_ports.at[f->first_port + k];
        if (port->role > FOREIGN_STATE || port->var.index >= m->variables.n)
            verify_broken(v, f->span, "port %u of a foreign component", k);
    }
    for (uint32_t k = 0; k < f->n_paths; k++) {
        const ForeignPath path = m->foreign_paths.at[f->first_path + k];
        if (path.output >= f->n_ports || path.input >= f->n_ports)
            verify_broken(v, f->span, "path %u of a foreign component", k);
    }
}

void verify_foreigns(Verifier *v)
{
    const Model *m = v->model;
    for (uint32_t k = 0; k < m->foreigns.n; k++) {
        const Foreign *f = &m->foreigns.at[k];
        if (f->owner.index >= m->instances.n || f->first_port + (uint64_t)f->n_ports > m->foreign_ports.n ||
            f->first_path + (uint64_t)f->n_paths > m->foreign_paths.n)
            verify_broken(v, f->span, "foreign component %u", k);
        else
            check_ports(v, f);
    }
}

/* A high level component becomes a Model: its subcomponents, found by the resolver in whatever
 * language, composed and connected. Spec 2.10.
 *
 * Value sets and time courses on connections are those of the composed variables, so that a
 * subcomponent need not be of SIMPLEX. */
#ifndef LANG_SIMPLEX_COMPOSE_H
#define LANG_SIMPLEX_COMPOSE_H

#include "ir/language.h"
#include "lang/simplex/scope.h"

Model *mdl_compose_high(Component *component, const LoadRequest *request, Scope scope); /* NULL: reported */

/* compose_array.c: rows in loops become one row for each point, indices become numbers. False: reported. */
bool mdl_write_out_links(Scope *scope, Component *component);

#endif

#include "study/told.h"
#include "explain/figures.h"

void run_told(RunRequest *request, const Compilation *c, const char *tier)
{
    const CompileReport report = compile_report(c->schedule, c->program, c->arena);
    RunRecord *about = &request->about;
    request->sources = c->sources;
    about->file = c->request.path;
    about->tier = tier ? tier : "auto";
    about->tier_note = "";
    about->model = report.model;
    about->language = report.language;
    about->compiler_bytes = report.bytes;
}

bool run_told_kind(RunRequest *request, Compilation *c, const char *tier, const char **why)
{
    request->kind = compilation_kind(c, tier ? tier : "auto", why);
    if (request->kind)
        run_told(request, c, tier);
    return request->kind != NULL;
}

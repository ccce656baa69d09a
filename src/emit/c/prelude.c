/* Text of the prelude; see prelude.h. tests/emit/test_c.c compares the functions with koine/ops.h. */
#include "emit/c/prelude.h"
#include "ir/routine.h"
#include <string.h>

static const char *const names[FUNCTION_COUNT] = {
#define FUNCTION(name, arity) #name,
#include "emit/c/functions.def"
#undef FUNCTION
};
static const uint8_t arities[FUNCTION_COUNT] = {
#define FUNCTION(name, arity) arity,
#include "emit/c/functions.def"
#undef FUNCTION
};

/* clang-format off: as in koine/ops.h */
static const char *const definitions[FUNCTION_COUNT] = {
    [FUNCTION_koine_iadd] =
        "static inline int64_t koine_iadd(int64_t a, int64_t b)\n"
        "{\n"
        "    const int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);\n"
        "    const int lost = ((a ^ sum) & (b ^ sum)) < 0;\n"
        "    return lost || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT ? KOINE_INTEGER_FAULT : sum;\n"
        "}\n",
    [FUNCTION_koine_isub] =
        "static inline int64_t koine_isub(int64_t a, int64_t b)\n"
        "{\n"
        "    const int64_t rest = (int64_t)((uint64_t)a - (uint64_t)b);\n"
        "    const int lost = ((a ^ b) & (a ^ rest)) < 0;\n"
        "    return lost || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT ? KOINE_INTEGER_FAULT : rest;\n"
        "}\n",
    [FUNCTION_koine_imul] =
        "static inline int64_t koine_imul(int64_t a, int64_t b)\n"
        "{\n"
        "    const int64_t product = (int64_t)((uint64_t)a * (uint64_t)b);\n"
        "    if (a == (int32_t)a && b == (int32_t)b)\n"
        "        return product;\n"
        "    if (a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT)\n"
        "        return KOINE_INTEGER_FAULT;\n"
        "    return a == 0 || (product != KOINE_INTEGER_FAULT && product / a == b) ? product : KOINE_INTEGER_FAULT;\n"
        "}\n",
    [FUNCTION_koine_ineg] = "static inline int64_t koine_ineg(int64_t a)\n"
                            "{\n"
                            "    return (int64_t)(0u - (uint64_t)a);\n"
                            "}\n",
    [FUNCTION_koine_idiv] = "static inline int64_t koine_idiv(int64_t a, int64_t b) /* rounded toward 0 */\n"
                            "{\n"
                            "    if (b == 0 || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT)\n"
                            "        return KOINE_INTEGER_FAULT;\n"
                            "    return b == -1 ? -a : a / b;\n"
                            "}\n",
    [FUNCTION_koine_imod] = "static inline int64_t koine_imod(int64_t a, int64_t b) /* sign of a */\n"
                            "{\n"
                            "    if (b == 0 || a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT)\n"
                            "        return KOINE_INTEGER_FAULT;\n"
                            "    return b == -1 ? 0 : a % b;\n"
                            "}\n",
    [FUNCTION_koine_narrow] =
        "static inline int64_t koine_narrow(int64_t a) /* integers of a language that ends them at 2E+9 */\n"
        "{\n"
        "    return a >= -2000000000 && a <= 2000000000 ? a : KOINE_INTEGER_FAULT;\n"
        "}\n",
    [FUNCTION_koine_real] = "static inline double koine_real(int64_t a)\n"
                            "{\n"
                            "    return a == KOINE_INTEGER_FAULT ? 0.0 / 0.0 : (double)a;\n"
                            "}\n",
    [FUNCTION_koine_integer] = "static inline int64_t koine_integer(double whole) /* of a whole number */\n"
                               "{\n"
                               "    return whole >= -9223372036854775807.0 && whole < 9223372036854775807.0 ? "
                               "(int64_t)whole : KOINE_INTEGER_FAULT;\n"
                               "}\n",
    [FUNCTION_koine_philox] =
        "static inline uint64_t koine_philox(uint64_t key, uint64_t counter,\n"
        "                                    uint64_t upper) /* Philox4x32-10: its first two words */\n"
        "{\n"
        "    uint64_t c0 = counter & 0xffffffffu, c1 = counter >> 32, c2 = upper & 0xffffffffu, c3 = upper >> 32;\n"
        "    uint64_t k0 = key & 0xffffffffu, k1 = key >> 32;\n"
        "    for (int round = 0; round < 10; round++) {\n"
        "        const uint64_t p0 = c0 * 0xd2511f53u, p1 = c2 * 0xcd9e8d57u;\n"
        "        c0 = (p1 >> 32) ^ c1 ^ k0;\n"
        "        c1 = p1 & 0xffffffffu;\n"
        "        c2 = (p0 >> 32) ^ c3 ^ k1;\n"
        "        c3 = p0 & 0xffffffffu;\n"
        "        k0 = (k0 + 0x9e3779b9u) & 0xffffffffu;\n"
        "        k1 = (k1 + 0xbb67ae85u) & 0xffffffffu;\n"
        "    }\n"
        "    return c1 << 32 | c0;\n"
        "}\n",
    [FUNCTION_koine_mix] =
        "static inline int64_t koine_mix(int64_t a, int64_t b) /* a key made of two numbers, not negative */\n"
        "{\n"
        "    return (int64_t)(koine_philox((uint64_t)a, (uint64_t)b, 0) >> 1);\n"
        "}\n",
    [FUNCTION_koine_random] =
        "static inline double koine_random(int64_t key, int64_t position) /* uniform in the open interval 0 to 1 */\n"
        "{\n"
        "    return ((double)(int64_t)(koine_philox((uint64_t)key, (uint64_t)position, 0) >> 12) + 0.5) * 0x1p-52;\n"
        "}\n",
    [FUNCTION_koine_at_least] = "static inline double koine_at_least(double a, double least)\n"
                                "{\n"
                                "    return a >= least ? a : 0.0 / 0.0;\n"
                                "}\n",
    [FUNCTION_koine_rmin] = "static inline double koine_rmin(double a, double b)\n"
                            "{\n"
                            "    return b < a ? b : a;\n"
                            "}\n",
    [FUNCTION_koine_rmax] = "static inline double koine_rmax(double a, double b)\n"
                            "{\n"
                            "    return b > a ? b : a;\n"
                            "}\n",
    [FUNCTION_koine_imin] = "static inline int64_t koine_imin(int64_t a, int64_t b) /* a fault is the least of all */\n"
                            "{\n"
                            "    return b < a ? b : a;\n"
                            "}\n",
    [FUNCTION_koine_imax] =
        "static inline int64_t koine_imax(int64_t a, int64_t b)\n"
        "{\n"
        "    const int64_t larger = b > a ? b : a;\n"
        "    return a == KOINE_INTEGER_FAULT || b == KOINE_INTEGER_FAULT ? KOINE_INTEGER_FAULT : larger;\n"
        "}\n",
    [FUNCTION_koine_rsign] = "static inline double koine_rsign(double a)\n"
                             "{\n"
                             "    return a > 0 ? 1.0 : a < 0 ? -1.0 : a;\n"
                             "}\n",
    [FUNCTION_koine_isign] = "static inline int64_t koine_isign(int64_t a)\n"
                             "{\n"
                             "    return a == KOINE_INTEGER_FAULT ? a : a > 0 ? 1 : a < 0 ? -1 : 0;\n"
                             "}\n",
    [FUNCTION_koine_iabs] = "static inline int64_t koine_iabs(int64_t a)\n"
                            "{\n"
                            "    return a < 0 ? koine_ineg(a) : a;\n"
                            "}\n",
    [FUNCTION_koine_interval] = "static inline int64_t koine_interval(const double *t, double a)\n"
                                "{\n"
                                "    const double *x = t + 2;\n"
                                "    int64_t low = 0, high = (int64_t)t[0];\n"
                                "    if (a >= x[high - 1] && a <= x[high - 1] + t[1])\n"
                                "        return high - 1;\n"
                                "    if (a < x[0] && a >= x[0] - t[1])\n"
                                "        return 1;\n"
                                "    while (low < high) {\n"
                                "        const int64_t middle = (low + high) / 2;\n"
                                "        if (x[middle] <= a)\n"
                                "            low = middle + 1;\n"
                                "        else\n"
                                "            high = middle;\n"
                                "    }\n"
                                "    return low;\n"
                                "}\n",
    [FUNCTION_koine_lookup] =
        "static inline double koine_lookup(const double *t, int64_t interval, double a) /* interval < 0: the one of a "
        "*/\n"
        "{\n"
        "    const int64_t n = (int64_t)t[0], k = interval < 0 ? koine_interval(t, a) : interval < n ? interval : n;\n"
        "    const double *row = t + 2 + n + 5 * k;\n"
        "    const double u = a - row[0];\n"
        "    return t[1] != 0 && (k == 0 || k == n) ? 0.0 / (a - a) : row[1] + u * (row[2] + u * (row[3] + u * "
        "row[4]));\n"
        "}\n",
};
/* clang-format on */

/* What a definition calls in turn. */
static const struct {
    Helper caller, called;
} calls[] = { { FUNCTION_koine_iabs, FUNCTION_koine_ineg },
              { FUNCTION_koine_mix, FUNCTION_koine_philox },
              { FUNCTION_koine_random, FUNCTION_koine_philox },
              { FUNCTION_koine_lookup, FUNCTION_koine_interval } };

const char *function_name(Helper function)
{
    return names[function];
}

const char *function_text(Helper function)
{
    return definitions[function];
}

/* Exact functions are left to the compiler, which knows an instruction for some; -fno-builtin keeps
 * it from replacing any other by values of its own. */
static void print_builtins(Text *text, const bool *needed)
{
    static const Helper exact[] = { FUNCTION_fabs,  FUNCTION_floor, FUNCTION_ceil,
                                    FUNCTION_trunc, FUNCTION_round, FUNCTION_sqrt };
    bool is_open = false;
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
        if (needed[exact[k]]) {
            if (!is_open)
                text_add(text, "#if defined(__GNUC__) && !defined(__TINYC__)\n");
            is_open = true;
            text_format(text, "#define %s __builtin_%s\n", names[exact[k]], names[exact[k]]);
        }
    if (is_open)
        text_add(text, "#endif\n");
}

static bool uses_faults(const bool *is_printed)
{
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (is_printed[f] && definitions[f] && strstr(definitions[f], "KOINE_INTEGER_FAULT"))
            return true;
    return false;
}

static void print_functions(Text *text, const bool *needed)
{
    bool is_printed[FUNCTION_COUNT];
    memcpy(is_printed, needed, sizeof is_printed);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        is_printed[calls[k].called] |= is_printed[calls[k].caller];
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (is_printed[f] && !definitions[f])
            text_format(text, "double %s(double%s);\n", names[f], arities[f] == 2 ? ", double" : "");
    print_builtins(text, needed);
    if (uses_faults(is_printed))
        text_add(text, "#define KOINE_INTEGER_FAULT (-9223372036854775807 - 1)\n");
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (is_printed[f] && definitions[f])
            text_add(text, definitions[f]);
}

/* For functions of the model, see ir/routine.h. `call`: see RoutineCallSlot. */
static void print_call_support(Text *text)
{
    text_format(text,
                "static inline void koine_fail(KoineSlot *call, int64_t site)\n"
                "{\n"
                "    if (!call[0].i)\n"
                "        call[0].i = site;\n"
                "    if (!call[3].i)\n"
                "        call[3].i = site;\n"
                "}\n"
                "static inline int koine_count(KoineSlot *call, int64_t site)\n"
                "{\n"
                "    if (++call[2].i > %d + call[8].i)\n"
                "        koine_fail(call, site | %d);\n"
                "    return call[0].i == 0;\n"
                "}\n"
                "static inline int koine_enter(KoineSlot *call, int64_t site, int64_t room)\n"
                "{\n"
                "    room += call[9].i;\n"
                "    if (call[1].i + room > %d)\n"
                "        koine_fail(call, site | %d);\n"
                "    else\n"
                "        koine_count(call, site);\n"
                "    call[1].i += room;\n"
                "    return call[0].i == 0;\n"
                "}\n"
                "static inline int64_t koine_index(KoineSlot *call, int64_t site, int64_t index, int64_t n)\n"
                "{\n"
                "    if (index >= 1 && index <= n)\n"
                "        return index - 1;\n"
                "    koine_fail(call, site | %d);\n"
                "    return 0;\n"
                "}\n"
                "static inline int koine_trips(KoineSlot *call, int64_t site, int64_t from, int64_t to, int64_t by)\n"
                "{\n"
                "    if (by > 0 ? from > to : from < to)\n"
                "        return 1;\n"
                "    const uint64_t way = by > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;\n"
                "    const uint64_t trips = way / (uint64_t)(by > 0 ? by : -by);\n"
                "    const uint64_t left = (uint64_t)(%d + call[8].i - call[2].i);\n"
                "    if (trips >= left) {\n"
                "        koine_fail(call, site | %d);\n"
                "        return 0;\n"
                "    }\n"
                "    call[2].i += (int64_t)trips + 1;\n"
                "    const int64_t last = from + (int64_t)trips * by;\n"
                "    if (by > 0 ? last > 9223372036854775807 - by : last < -9223372036854775807 - by) {\n"
                "        koine_fail(call, site | %d);\n"
                "        return 0;\n"
                "    }\n"
                "    return 1;\n"
                "}\n"
                "static inline KoineSlot *koine_outside(KoineSlot *call)\n"
                "{\n"
                "    call[0].i = call[1].i = call[2].i = 0;\n"
                "    return call;\n"
                "}\n",
                ROUTINE_STEPS, ROUTINE_ENDLESS, ROUTINE_ROOM, ROUTINE_TOO_DEEP, ROUTINE_INDEX, ROUTINE_STEPS,
                ROUTINE_ENDLESS, ROUTINE_NOT_FINITE);
}

/* For functions of C, see external.h: places that are filled when the text is loaded, and the calls through the host.
 */
static void print_external_support(Text *text)
{
    text_add(
        text,
        "static uint32_t (*koine_watched)(const void *code, KoineSlot *call, const KoineSlot *in,\n"
        "        KoineSlot *out);\n"
        "static const void *(*koine_text_bytes)(const KoineSlot *call, int64_t number);\n"
        "static uint32_t (*koine_after)(const void *code);\n"
        "static uint32_t (*koine_text_take)(KoineSlot *call, const void *text, int64_t *to);\n"
        "static void (*koine_texts_done)(const void *code);\n"
        "static void *(*koine_object_of)(const KoineSlot *call, int64_t number);\n"
        "static uint32_t (*koine_object_made)(const KoineSlot *call, int64_t number, void *object, const void *code);\n"
        "#ifdef __TINYC__\n"
        "#define KOINE_RARELY(x) (x)\n"
        "#define KOINE_RARE static\n"
        "#else\n"
        "#define KOINE_RARELY(x) __builtin_expect((x) != 0, 0)\n"
        "#define KOINE_RARE static __attribute__((noinline, cold))\n"
        "#endif\n"
        "static inline int koine_rounds(void) /* not to the nearest */\n"
        "{\n"
        "    static volatile double koine_one = 1.0, koine_tiny = 1e-20;\n"
        "    const double a = koine_one, b = koine_tiny;\n"
        "    return KOINE_RARELY((a + b) - (a - b) != 0.0);\n"
        "}\n"
        "static inline int koine_is_due(KoineSlot *call, const uint32_t *alarm)\n"
        "{\n"
        "    const int64_t count = call[4].i++;\n"
        "    return KOINE_RARELY((*alarm || (count & (count - 1)) == 0 || (count & 65535) == 0) && koine_watched);\n"
        "}\n"
        "KOINE_RARE void koine_watch(KoineSlot *call, int64_t site, const void *code, const KoineSlot *in,\n"
        "        KoineSlot *out)\n"
        "{\n"
        "    const int64_t kind = koine_watched(code, call, in, out);\n"
        "    if (kind)\n"
        "        koine_fail(call, site | kind);\n"
        "}\n"
        "static inline uint32_t koine_takes(KoineSlot *call, int64_t site, const void *text, int64_t *to)\n"
        "{\n"
        "    const uint32_t taken = koine_text_take(call, text, to);\n"
        "    if (taken)\n"
        "        koine_fail(call, site + taken);\n"
        "    return taken;\n"
        "}\n"
        "KOINE_RARE int koine_has_failed(KoineSlot *call, int64_t site, const void *code)\n"
        "{\n"
        "    const int64_t kind = koine_after(code);\n"
        "    if (kind)\n"
        "        koine_fail(call, site | kind);\n"
        "    return kind != 0;\n"
        "}\n");
}

/* What they do the loader of the code says, see KoineCompiled. */
static void print_text_support(Text *text)
{
    text_add(text,
             "static int64_t (*koine_text_function)(KoineSlot *call, uint32_t op, const KoineSlot *args);\n"
             "static inline int64_t koine_texts(KoineSlot *call, uint32_t op, int64_t site, const KoineSlot *args)\n"
             "{\n"
             "    const int64_t text = koine_text_function(call, op, args);\n"
             "    if (site && text == (-9223372036854775807 - 1)) {\n"
             "        if (!call[0].i)\n"
             "            call[0].i = site;\n"
             "        if (!call[3].i)\n"
             "            call[3].i = site;\n"
             "    }\n"
             "    return text;\n"
             "}\n"
             "static inline int64_t koine_text(KoineSlot *call, uint32_t op, int64_t site, int64_t a, int64_t b, "
             "int64_t c)\n"
             "{\n"
             "    KoineSlot args[3];\n"
             "    args[0].i = a;\n"
             "    args[1].i = b;\n"
             "    args[2].i = c;\n"
             "    return koine_texts(call, op, site, args);\n"
             "}\n"
             "static inline int64_t koine_text_of(KoineSlot *call, uint32_t op, int64_t site, double a, int64_t b)\n"
             "{\n"
             "    KoineSlot args[3];\n"
             "    args[0].r = a;\n"
             "    args[1].i = b;\n"
             "    args[2].i = 0;\n"
             "    return koine_texts(call, op, site, args);\n"
             "}\n");
}

void print_prelude(Text *text, const PreludeNeeds *needs)
{
    text_add(text, "typedef signed int int32_t;\n"
                   "typedef unsigned int uint32_t;\n"
                   "typedef signed long int64_t;\n"
                   "typedef unsigned long uint64_t;\n"
                   "typedef union {\n"
                   "    double r;  /* Real */\n"
                   "    int64_t i; /* Integer, Boolean, enumeration */\n"
                   "} KoineSlot;\n");
    if (needs->derivatives)
        text_add(text, "typedef struct KoineModel { /* its head, as in koine/model.h */\n"
                       "    const void *kind;\n"
                       "    KoineSlot *block;\n"
                       "    uint64_t size;\n"
                       "    const void *host;\n"
                       "    const uint32_t *const *handles; /* begins with the rows */\n"
                       "} KoineModel;\n");
    if (needs->loops)
        text_add(text, "#if defined(__GNUC__) && !defined(__clang__) && !defined(__TINYC__)\n"
                       "#define KOINE_INDEPENDENT _Pragma(\"GCC ivdep\")\n"
                       "#else\n"
                       "#define KOINE_INDEPENDENT\n"
                       "#endif\n");
    if (needs->parts) /* inlined again they would be one function for passes that are quadratic in its length */
        text_add(text, "#ifdef __TINYC__\n"
                       "#define KOINE_PART static\n"
                       "#else\n"
                       "#define KOINE_PART static __attribute__((noinline))\n"
                       "#endif\n");
    print_functions(text, needs->functions);
    if (needs->calls)
        print_call_support(text);
    if (needs->externals)
        print_external_support(text);
    if (needs->texts)
        print_text_support(text);
}

bool has_prelude_prefix(const char *name)
{
    return strncmp(name, "koine", 5) == 0 || strncmp(name, "Koine", 5) == 0 || strncmp(name, "KOINE", 5) == 0;
}

bool is_prelude_name(const char *name)
{
    static const char *const taken[] = {
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "asm",
        "typeof",
        "bool",
        "true",
        "false",
        "nullptr",
        "constexpr",
        "thread_local",
        "alignas",
        "alignof",
        "static_assert",
        "typeof_unqual",
        "main",
        "linux",
        "unix",
        "i386",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "m",
        "row",
        "rows",
        "n",
        "i",
        "model",
    };
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (strcmp(name, taken[k]) == 0)
            return true;
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (strcmp(name, names[f]) == 0)
            return true;
    return has_prelude_prefix(name);
}

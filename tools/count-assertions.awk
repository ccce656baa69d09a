# count-assertions.awk: for each function of the C files given, the number of assertions that it and the functions of its
# file that it calls make: lines "NAME COUNT FILE". Functions begin and end in the first column, as clang-format has it.
function finish_file(    f, c, n, name) {
    for (f in body) {
        delete seen
        print f, total(f), file
    }
    delete body
}
function total(f,    text, name, n) {
    if (f in seen) return 0
    seen[f] = 1
    text = body[f]
    n = gsub(/(assert_[a-z_]+|expect_[a-z_0-9]+|fail_msg|fail|is_near|cmocka_expect[a-z_]*) *\(/, "@&", text)
    text = body[f]
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) { # names are enough: functions are also passed on
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (name != f && name in body) n += total(name)
    }
    return n
}
FNR == 1 { finish_file(); file = FILENAME; name = "" }
/^#define +[A-Za-z_0-9]+\(/ {
    head = $2
    sub(/\(.*/, "", head)
    name = head
    body[name] = $0
    is_macro = 1
    if ($0 !~ /\\$/) name = ""
    next
}
is_macro && name != "" { body[name] = body[name] "\n" $0; if ($0 !~ /\\$/) { name = ""; is_macro = 0 }; next }
/^[A-Za-z].*\(/ && !/;[ \t]*$/ && !/^#/ {
    head = $0
    sub(/\(.*/, "", head)
    sub(/.*[ *]/, "", head)
    name = head
    is_macro = 0
    body[name] = ""
    next
}
/^}/ { name = ""; next }
name != "" { body[name] = body[name] "\n" $0 }
END { finish_file() }

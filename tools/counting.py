"""Counts C code: functions, structs, comments and lines of the files of a tree. Used by measure and check-size.

Functions are what stands between braces in column 0; their length includes both. Structs are counted by declarators
(`int a, b;` is two fields, a struct or union inside of another is one). A function's nesting is the depth of braces in
its body. Files are the .c, .h and .inc files below src and include; an .inc file is code that is included with
different macros, so its functions are not counted.
"""
import re
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
STRUCT = re.compile(r"^(?:static )?(?:const )?(?:typedef )?(?:const )?(?:struct|union)(?: (\w+))?\s*\{\s*?\n"
                    r"(.*?)^\}(?: (\w+))?[^;]*;", re.S | re.M)
NESTED = re.compile(r"\s*(?:const )?(?:struct|union)[^{;]*\{.*\}[^}]*$", re.S)


def blank(match):
    """What replaces a comment or a text: as many lines, nothing in them."""
    return "\n" * match.group().count("\n")


def bare(text):
    """Code without comments, with empty texts."""
    return COMMENT.sub(blank, TEXT.sub('""', text))


def pieces(text, mark):
    """Parts of a text between marks that stand in no parentheses and no braces."""
    depth, begin, found = 0, 0, []
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == mark and depth == 0:
            found.append(text[begin:k])
            begin = k + 1
    return found + [text[begin:]]


def fields(body):
    """Declarators of a struct's body."""
    return sum(1 if NESTED.match(member) else len(pieces(member, ",")) for member in pieces(body, ";")[:-1])


def parameters(head):
    """Parameters of the function whose lines before the brace are these."""
    text = head[head.find("(") + 1:head.rfind(")")].strip()
    return 0 if text in ("", "void") else len(pieces(text, ","))


def nesting(body):
    """The depth of braces in the lines of a function's body."""
    depth = deepest = 0
    for c in "".join(body):
        depth += (c == "{") - (c == "}")
        deepest = max(deepest, depth)
    return deepest


def functions(text):
    """(length, parameters, nesting, name, line) of each function."""
    lines, begin, head = text.split("\n"), None, []
    for k, line in enumerate(lines):
        if line == "{":
            begin = k
        elif line == "}" and begin is not None:
            signature = " ".join(head)
            name = re.search(r"(\w+)\s*\(", signature)
            yield (k - begin + 1, parameters(signature), nesting(lines[begin + 1:k]), name.group(1) if name else "?",
                   begin + 1)
            begin, head = None, []
        elif begin is None:
            head = [] if not line.strip() or line.startswith("#") or line.rstrip().endswith((";", "}")) else head + [line]


def structs(text):
    """(fields, name, line) of each struct and union."""
    for match in STRUCT.finditer(text):
        yield fields(match.group(2)), match.group(3) or match.group(1) or "?", text[:match.start()].count("\n") + 1


def comment_lines(text):
    """The lines that carry a comment, as (number, columns)."""
    marked = COMMENT.sub(lambda m: "\n".join("\1" for _ in m.group().split("\n")), TEXT.sub('""', text))
    widths = [len(line) for line in text.split("\n")]
    return [(k + 1, widths[k]) for k, line in enumerate(marked.split("\n")) if "\1" in line]


def folder_of(tree, path):
    """src/emit/c/x.c is of emit/c, src/graph/x.c of graph, include/koine/x.h of include."""
    if path.is_relative_to(tree / "include"):
        return "include"
    return "/".join(path.relative_to(tree / "src").parts[:-1][:2])


def count_file(path):
    text = path.read_text(errors="replace")
    code = bare(text)
    return {"lines": text.count("\n"), "functions": [] if path.suffix == ".inc" else list(functions(code)),
            "structs": list(structs(code)), "comments": comment_lines(text)}


def count_tree(tree):
    """{path: what was counted in it} of the C files of a tree."""
    found = sorted([*(tree / "src").rglob("*"), *(tree / "include").rglob("*.h")])
    return {path: count_file(path) for path in found if path.suffix in (".c", ".h", ".inc")}


def by_folder(tree, files):
    """{folder: [what was counted in a file]}, sorted by name."""
    folders = {}
    for path, file in files.items():
        folders.setdefault(folder_of(tree, path), []).append(file)
    return dict(sorted(folders.items()))


TREE = Path(__file__).resolve().parent.parent

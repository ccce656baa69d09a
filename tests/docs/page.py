"""Runs what a page of documentation shows.

Fenced blocks of a Markdown page, in order:

    ```console          commands behind "$ ", each followed by what it prints (standard output and error)
    ```mdl Name.mdl     a file of this name: it is written before the commands that follow (any language word)

Output is compared only where the page shows some; a line of "..." stands for any lines, and a number may be shown with
fewer digits than are printed. A command must succeed, unless
"[status 1]" is the last line below it. All other blocks are left alone."""
import os
import re
import subprocess


def blocks(text):
    """(information, content, line number) of every fenced block."""
    found, lines, k = [], text.split("\n"), 0
    while k < len(lines):
        begin = re.match(r"```(\S.*)?$", lines[k])
        if begin:
            end = k + 1
            while end < len(lines) and lines[end].rstrip() != "```":
                end += 1
            found.append(((begin.group(1) or "").strip(), lines[k + 1:end], k + 1))
            k = end
        k += 1
    return found


def commands(content, line):
    """(command, lines shown, status, line number) of a console block."""
    found = []
    for number, text in enumerate(content, line + 1):
        if text.startswith("$ "):
            found.append([text[2:], [], 0, number])
        elif not found:
            raise ValueError(f"line {number}: a console block begins with a command")
        else:
            found[-1][1].append(text.rstrip())
    for command in found:
        status = re.match(r"\[status (\d+)\]$", command[1][-1]) if command[1] else None
        if status:
            command[2] = int(status.group(1))
            command[1].pop()
    return found


NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.])")


def is_same_line(shown, printed):
    """Equal but for the digits of numbers, which are rounded to what is shown."""
    if shown == printed.rstrip():
        return True
    left, right = NUMBER.split(shown), NUMBER.split(printed.rstrip())
    if len(left) != len(right):
        return False
    for k, (a, b) in enumerate(zip(left, right)):
        if a == b:
            continue
        if k % 2 == 0 or "e" in a:
            return False
        digits = len(a.split(".")[1]) if "." in a else 0
        if abs(float(a) - float(b)) > (0.5001 * 10.0 ** -digits if digits else 1e-9):
            return False
    return True


def matches(shown, printed):
    """Whether the lines printed are those shown, "..." being any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[k:]) for k in range(len(printed) + 1))
    return bool(printed) and is_same_line(shown[0], printed[0]) and matches(shown[1:], printed[1:])


def run_page(path, folder, koine):
    """Runs the page in the folder; a list of what is wrong."""
    environment = dict(os.environ, PATH=os.path.dirname(koine) + ":" + os.environ["PATH"], TERM="dumb",
                       LC_ALL="C.UTF-8")
    environment.pop("COLUMNS", None)
    wrong, n_commands = [], 0
    with open(path, encoding="utf-8") as page:
        text = page.read()
    for information, content, line in blocks(text):
        words = information.split()
        if len(words) == 2:
            with open(os.path.join(folder, words[1]), "w", encoding="utf-8") as file:
                file.write("\n".join(content) + "\n")
        if words[:1] != ["console"]:
            continue
        for command, shown, status, number in commands(content, line):
            n_commands += 1
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
            printed = done.stdout.decode("utf-8", "replace").split("\n")
            if printed and printed[-1] == "":
                printed.pop()
            if done.returncode != status:
                wrong.append(f"{path}:{number}: $ {command}\n  status {done.returncode}, not {status}; it printed\n  | " +
                             "\n  | ".join(printed))
            elif shown and not matches(shown, printed):
                wrong.append(f"{path}:{number}: $ {command}\n  the page shows\n  | " + "\n  | ".join(shown) +
                             "\n  it printed\n  | " + "\n  | ".join(printed))
    if n_commands == 0:
        wrong.append(f"{path}: there is no console block")
    return wrong

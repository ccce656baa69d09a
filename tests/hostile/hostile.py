#!/usr/bin/env python3
"""Files of strangers, thousands of them: what Koine does with them must execute nothing and write nothing outside its folder.

    hostile.py KOINE KIND COUNT [--every-tier] [--seed N]

KIND is names, experiments, banks or catalogues. Each case is a folder of its own below a fresh one, which also holds a home
folder and files that are nobody's business. After each command
  * all files outside of the case's folder are as before, and so are those in it that Koine did not write;
  * no program was started but Koine, and in the tiers cc and auto the compiler, as `watch` (watch.c) writes down;
  * what the compiler got to see holds nothing of the stranger's but identifiers and comments of plain characters;
  * the command has ended by itself, neither by a signal nor by a fault of Koine.

The tier changes from case to case; with --every-tier each case runs in interp, tcc and auto, and the first twentieth in cc too.
Status 1: something was found; the folder of the case is kept and named.
"""
import argparse, hashlib, os, random, re, shutil, signal, sqlite3, stat, struct, subprocess, sys, tempfile

TIERS = ["interp", "tcc", "auto"]
COMPILERS = re.compile(r"^/usr/(bin|lib/\S+|libexec/\S+)/(cc|gcc|cc1|as|ld|collect2|lto-wrapper|clang|ld\.\w+|x86_64-linux-gnu-\w+(-\d+)?|\w+-linux-gnu-\w+(-\d+)?)$")
SECONDS = 20

# ---- what is watched -------------------------------------------------------------------------------------------------


def state_of(path):
    s = os.lstat(path)
    kind = stat.S_IFMT(s.st_mode)
    if kind == stat.S_IFLNK:
        return (s.st_mode, os.readlink(path))
    content = b""
    if kind == stat.S_IFREG:
        with open(path, "rb") as file:
            content = hashlib.md5(file.read()).digest()
    if kind == stat.S_IFDIR:
        return (s.st_mode, s.st_ino)
    return (s.st_mode, s.st_ino, s.st_size, s.st_mtime_ns, content)


def list_files(top, without):
    found = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in without]
        for name in folders + files:
            path = os.path.join(folder, name)
            found[path] = state_of(path)
    return found


def differences(before, after):
    lines = ["new: " + p for p in after if p not in before]
    lines += ["gone: " + p for p in before if p not in after]
    return lines + ["changed: " + p for p in before if p in after and before[p] != after[p]]


class World:
    """The folder in which it all happens."""

    def __init__(self, koine, log, sources):
        self.koine, self.log, self.sources = os.path.realpath(koine), log, sources
        self.top = tempfile.mkdtemp(prefix="koine-hostile-")
        self.work = self.top + "/work"
        self.case = self.work + "/case"
        self.owned = self.top + "/home/OWNED"
        for folder in ("home/.ssh", "canary", "own/cache", "own/state", "tmp", "work"):
            os.makedirs(f"{self.top}/{folder}")
        for name in ("home/.bashrc", "home/.profile", "home/.ssh/authorized_keys", "home/precious.csv", "canary/a.csv",
                     "canary/a.txt", "canary/a.h5", "canary/a.mat", "above.csv", "work/above.txt"):
            with open(f"{self.top}/{name}", "w") as file:
                file.write("mine\n")
        with open(self.top + "/canary/Outside.mdl", "w") as file:
            file.write("BASIC COMPONENT Outside\nEND OF Outside\n")
        self.environment = {"HOME": self.top + "/home", "XDG_CACHE_HOME": self.top + "/own/cache", "TERM": "dumb",
                            "XDG_STATE_HOME": self.top + "/own/state", "TMPDIR": self.top + "/tmp", "PATH": "/usr/bin:/bin",
                            "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}
        self.outside = self.list_outside()
        self.n_starts = 0
        self.planted = {}
        self.statuses = {}
        self.read_starts()

    def list_outside(self):
        return list_files(self.top, {self.case, self.top + "/own"})

    def begin(self):
        shutil.rmtree(self.case, ignore_errors=True)
        os.mkdir(self.case)
        self.outside = self.list_outside()
        self.planted = {}

    def plant(self):
        """What is in the case now must stay, but for files that `own` names."""
        self.planted = list_files(self.case, set())

    def read_starts(self):
        """Lines that `watch` wrote since the last time."""
        if not self.log:
            return []
        with open(self.log, "rb") as file:
            file.seek(self.n_starts)
            text = file.read()
        self.n_starts += len(text)
        return [line.decode("ascii", "replace").split("\t") for line in text.splitlines()]


# ---- judging ---------------------------------------------------------------------------------------------------------

PLAIN_CALLS = re.compile(r"^(if|for|return|void|while|sizeof|defined|_Pragma|k\d+|f\d+(_\w*)?|koine_\w+|KOINE_\w+|__builtin_\w+|"
                         r"\w+_part_\d+|a?sin|a?cos|a?tan|atan2|exp|log|log10|sqrt|sinh|cosh|tanh|pow|fabs|floor|ceil|trunc|round|"
                         r"fmod|fmin|fmax|isfinite|isnan|memcpy|\w+)$")
FORBIDDEN_WORDS = {"asm", "__asm__", "__asm", "system", "popen", "execve", "execl", "fork", "dlopen", "syscall", "extern", "union_",
                   "volatile", "goto_", "__attribute__", "constructor", "include", "open", "fopen", "unlink"}


def faults_of_c(text):
    """What a generated text holds besides what Koine writes; the rule of docs/security.md, checked a second time."""
    faults = []
    if re.search(rb"[^\n -~]", text):
        faults.append("a byte that is no plain character")
    plain = text.decode("latin-1")
    parts = re.split(r"(/\*.*?\*/)", plain, flags=re.S)
    for comment in parts[1::2]:
        if re.search(r"[\\?#\n]|/\*", comment[2:-2]):
            faults.append("a comment with " + comment[:60])
    code = " ".join(parts[0::2])
    if "/*" in code or "*/" in code or "//" in code:
        faults.append("a comment that is none")
    for line in code.splitlines():
        if line.startswith("#"):
            if not re.match(r"#(if defined\(__GNUC__\)[ &!()\w]*|define (KOINE_\w+|\w+ __builtin_\w+)( .*)?|else|endif)$", line.rstrip(" ")):
                faults.append("a directive: " + line)
        elif re.search(r'["\'\\#`@$]|\?\?', re.sub(r'_Pragma\("GCC ivdep"\)', "", line)):
            faults.append("a character outside of comments: " + line[:80])
        for word in set(re.findall(r"[A-Za-z_]\w*(?=\s*\()", line)) & FORBIDDEN_WORDS:
            faults.append("a call of " + word)
        if re.search(r"\b(asm|__asm__|__attribute__|extern)\b", line) and not line.startswith("#"):
            faults.append("a word: " + line[:80])
    return faults


def judge(world, command, tier, status, error, own):
    found = []
    after = world.list_outside()
    found += differences(world.outside, after)
    for path, state in world.planted.items():
        if own(os.path.relpath(path, world.case)):
            continue
        if not os.path.lexists(path):
            found.append("gone: " + path)
        elif state_of(path) != state:
            found.append("changed: " + path)
    n_own = 0
    for number, path, *arguments in world.read_starts():
        if os.path.realpath(path) == world.koine:
            n_own += 1
        elif tier in ("cc", "auto") and COMPILERS.match(path):
            source = f"{world.sources}/{number}.c"
            if os.path.exists(source):
                with open(source, "rb") as file:
                    found += faults_of_c(file.read())
                os.unlink(source)
        else:
            found.append("started: " + " ".join([path] + arguments))
    if world.log and n_own != 1:
        found.append(f"Koine was started {n_own} times")
    if status is None:
        found.append(f"no end within {SECONDS} s")
    elif status < 0 or status > 4 or b"internal error" in error or b"Sanitizer" in error:
        found.append(f"status {status}: " + error.decode("utf-8", "replace")[-400:])
    return [f"{' '.join(command)}: {line}" for line in found]


def run(world, arguments, tier, own=lambda path: False):
    command = [world.koine] + arguments
    try:
        done = subprocess.run(command, cwd=world.case, env=world.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=SECONDS)
        status, error = done.returncode, done.stderr
        world.statuses[status] = world.statuses.get(status, 0) + 1
        if os.environ.get("HOSTILE_SHOW"):
            print(arguments, status, error.decode("utf-8", "replace")[:int(os.environ["HOSTILE_SHOW"])])
    except subprocess.TimeoutExpired:
        status, error = None, b""
    return judge(world, ["koine"] + arguments, tier, status, error, own)


def check_watch(world):
    """That a started program and a changed file would be seen."""
    world.begin()
    world.plant()
    real, world.koine = world.koine, "/nowhere"
    command = ["/bin/sh", "-c", f"/bin/echo x > {world.owned}"]
    subprocess.run(command, env=world.environment, check=True)
    found = judge(world, command, "interp", 0, b"", lambda path: False)
    os.unlink(world.owned)
    world.koine = real
    if not any("new: " + world.owned in line for line in found):
        sys.exit("hostile.py: a file outside would not be seen")
    if world.log and not any("started: /bin/sh" in line for line in found):
        sys.exit("hostile.py: a program would not be seen")


# ---- hostile texts ---------------------------------------------------------------------------------------------------

PIECES = ["*/", "/*", "\\\n", "??/\n", "*\\\n/", "*??/\n/", "#include \"/etc/passwd\"\n", "\n#define double int\n", "asm", "__asm__(\"nop\");",
          "system(\"id\");", "\"", "'", ";", "{", "}", "};", "(", ")", "__attribute__((constructor))", "_Pragma(\"x\")", "%:define", "<:", "//",
          "\x1b[31m", "\x1b]0;x\x07", "\xff", "\xc3\xa4", "\u202e", "\u2028", "%s%n%n", "`id`", "$(id)", "|id", "&id", "\r", "\t", "\x7f",
          "<script>alert(1)</script>", "=HYPERLINK(\"x\")", "inf", "nan", "time", "m", "koine_fail", "k1", "f1_x", "-rf", "~", "..", "/"]


def attacks(world):
    """Names that did harm once, or would if a wall were missing."""
    shell = f'system("echo > {world.owned}");'
    constructor = f"extern int system(const char *); __attribute__((constructor)) static void p(void){{ {shell} }}"
    return [f"x */ {constructor} /*", f"x */ {constructor}\n#ifdef __TINYC__\n#error no\n#endif\n/*", f"p*\\\n/ }}; {constructor} enum {{ zz, /*",
            f"p*??/\n/ }}; {constructor} enum {{ zz, /*", f"x\n{constructor}\n", f"a; {shell} b", f"0); {shell} (",
            f"x */ void p(void){{ __asm__ volatile(\"syscall\"); }} /*", f"`echo > {world.owned}`", f"$(echo > {world.owned})", f"; echo > {world.owned} #",
            "../../home/.bashrc", "../canary/a", f"{world.top}/canary/a", "~/.bashrc", ".hidden", "a/b", "../" * 9 + "tmp/x", "x" * 300, "-", "--help"]


def text_of(r, world):
    pick = r.randrange(4)
    if pick == 0:
        return r.choice(attacks(world)).encode()
    if pick == 1:
        return bytes(r.randrange(1, 256) for _ in range(r.randrange(1, 12)))
    return "".join(r.choice(PIECES) for _ in range(r.randrange(1, 5))).encode("utf-8", "surrogateescape")


def quoted(text, mark):
    """As the text form and YAML write it."""
    return mark + "".join(chr(b) if 32 <= b < 127 and chr(b) not in "\\\"'" else "\\x%02x" % b for b in text) + mark


def hostile_ir(r, world, name=None):
    n = iter(range(99))
    names = {}

    def q(key, mark="'"):
        if key not in names:
            names[key] = text_of(r, world) + (b"%d" % next(n) if r.randrange(8) else b"%d" % next(n))
        return quoted(names[key], mark)

    def t():
        return quoted(text_of(r, world).replace(b"%", b"_"), '"')

    model = name or quoted(text_of(r, world), "'")
    return f"""koine-ir 1
source 0 {t()} simplex
enum {q('E')} ({q('v1')}, {q('v2')})
model {model}
param {q('p')} Real = 1.0 unit "m" comment {t()}
param {q('b')} Boolean = true
var {q('h')} Real continuous der start 1.0 fixed comment {t()}
var {q('y')} Real continuous now
var {q('n')} Integer discrete next start 0 fixed
eq {q('e1')} der({q('h')}) := -{q('h')}*{q('p')} @0:1:1
eq e2 {q('y')} := sin({q('h')}) + (if {q('b')} then 1.0 else 2.0)
trans {q('t1')} edge next set when {q('h')} < 0.97 :
  next({q('n')}) := {q('n')} + 1
  display {t()}
end {q('t1')}
end {model}
"""


WRITER = """BASIC COMPONENT Writer
DECLARATION OF ELEMENTS
STATE VARIABLES
 DISCRETE
  done (INTEGER) := 0
 CONTINUOUS
  x (REAL) := 1
DYNAMIC BEHAVIOUR
DIFFERENTIAL EQUATIONS
  x' := - x;
END
WHENEVER (x < 0.97) AND (done = 0)
DO
  DISPLAY ("; echo > OWNED #\\n"); done^ := 1;
END
END OF Writer
"""
LONG = ["--stop", "3e6", "--interval", "1e6", "--solver", "rk4", "--step", "1"]  # enough work for auto to compile
SHORT = ["--stop", "0.1", "--interval", "0.05"]
RESULT = re.compile(r"^[^/.][^/]*\.(csv|mat|h5|txt|log|protocol)$|^(sub/)[^/.][^/]*\.(csv|mat|h5|txt|log|protocol)$|^\.koine(/runs\.sqlite.*)?$")


def length_for(tier, k):
    return LONG if tier == "auto" and k % 25 == 0 else SHORT


def write(world, name, text):
    with open(f"{world.case}/{name}", "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def plant_traps(world):
    """Links, pipes, hidden and foreign files that lie in wait."""
    case = world.case
    os.mkdir(case + "/sub")
    for name in ("foreign.csv", "foreign.txt", "Makefile", ".bashrc", "sub/foreign.csv", "foreign.h5", "foreign.mat"):
        write(world, name, "mine\n")
    os.symlink(world.top + "/canary/a.csv", case + "/link.csv")
    os.symlink(world.top + "/home/.bashrc", case + "/link.txt")
    os.symlink(world.top + "/canary", case + "/away")
    os.symlink("loop.csv", case + "/loop.csv")
    os.symlink(world.top + "/home/new.csv", case + "/dangling.csv")
    os.link(world.top + "/canary/a.txt", case + "/second.txt")
    os.mkfifo(case + "/pipe.csv")


def path_of(r, world):
    top = world.top
    return r.choice([top + "/canary/a.csv", "../../canary/a.csv", "../above.txt", top + "/home/.bashrc", "../../home/.bashrc", "~/.bashrc", "link.csv",
                     "link.txt", "away/a.csv", "away/new.csv", "loop.csv", "dangling.csv", "second.txt", "pipe.csv", ".bashrc", ".hidden.csv", "sub/../../above.txt",
                     "/dev/full", "/dev/null", "/dev/zero", "/dev/stdin", "/proc/self/mem", "/proc/self/fd/1", "-", "Makefile", "foreign.csv", "foreign.txt",
                     "foreign.h5", "foreign.mat", "sub/foreign.csv", "sub", "", ".", "..", "/", "own.csv", "own.mat", "own.h5", "sub/own.txt", "a\nb.csv",
                     "x" * 300 + ".csv", text_of(r, world).decode("latin-1") + ".csv", text_of(r, world).decode("latin-1"), "|id", ".koine/runs.sqlite"])


# ---- the four kinds --------------------------------------------------------------------------------------------------


def case_names(r, world, k, tier):
    is_part = k % 4 == 0  # a component of an innocent model
    write(world, "Evil.ir", hostile_ir(r, world, "Evil" if is_part else None))
    write(world, "Main.mdl", "HIGH LEVEL COMPONENT Main\nSUBCOMPONENTS\n  Evil\nEND OF Main\n")
    model = "Main.mdl" if is_part else "Evil.ir"
    plant_traps(world)
    world.plant()
    found = run(world, ["run", model, "--tier", tier] + length_for(tier, k), tier, RESULT.match)
    if k % 10 == 0:
        for more in (["check", model, "--json"], ["dump", model, "--c"], ["structure", model, "--svg", "s.svg"],
                     ["run", model, "--tier", tier, "--control", "PrtDepth=1", "--stats", "s.json", "--no-catalogue"] + SHORT):
            found += run(world, more, tier, RESULT.match)
    return found


def case_experiments(r, world, k, tier):
    lines = ["stop: 0.1", "interval: 0.05"]

    def y(text):
        return quoted(text.encode("latin-1", "replace") if isinstance(text, str) else text, '"')

    def maybe(n):
        return r.randrange(n) == 0

    def path():  # mostly with an ending that is taken, else that is all that is found wrong
        chosen = path_of(r, world)
        return chosen if maybe(3) or re.search(r"\.(csv|mat|h5|txt)$", chosen) else chosen + r.choice([".csv", ".txt"])

    # Few settings a case: the first that is refused ends the run.
    for key in r.sample(["output", "protocol", "observers", "plot", "set", "reads", "word", "output", "protocol"], r.randrange(1, 3)):
        if key in ("output", "protocol"):
            lines = [line for line in lines if not line.startswith(key)] + [f"{key}: {y(path())}"]
        elif key == "observers":
            lines += ["observers:", f"  - name: {y(text_of(r, world) if maybe(2) else 'o')}", "    every: 0.05"]
            lines += [f"    output: {y(path())}"] if maybe(2) else []
        elif key == "plot":
            lines += ["plot:", f"  - title: {y(text_of(r, world))}", "    variables: [x]"]
        elif key == "set":
            lines += ["set:", f"  {y(text_of(r, world) if maybe(2) else 'x')}: {y(text_of(r, world))}"]
        elif key == "reads":
            lines.append(f"{r.choice(['start-from', 'inputs'])}: {y(path_of(r, world))}")
        else:
            word = r.choice(["model", "use", "task", "solver", "profile", "variables", "tier", "seed", "event-rows"])
            lines.append(f"{word}: {y(path_of(r, world) if maybe(2) else text_of(r, world))}")
    if maybe(4):
        lines += ["control:", f"  PrtDepth: {r.randrange(4)}"]
    if not any(line.startswith("model:") for line in lines):
        lines.append("model: Writer.mdl")
    write(world, "Writer.mdl", WRITER)
    write(world, "Writer.exp.yaml", "\n".join(lines) + "\n")
    plant_traps(world)
    world.plant()
    found = run(world, ["run", "Writer.mdl", "--tier", tier], tier, RESULT.match)
    if k % 5 == 0:
        found += run(world, ["run", "Writer.exp.yaml", "--tier", tier, "--no-catalogue"], tier, RESULT.match)
    return found


def case_banks(r, world, k, tier):
    names = ["A", "B", "Evil", "Outside", "../Outside", "..", ".", "A/V1", "../../canary/Outside", world.top + "/canary/Outside", "~", "-", '"']
    folders = ["../../canary", world.top + "/canary", "..", ".", "/", "away", "sub", "pipe", "/dev/stdin", "/proc/self/fd", "~", "x" * 300]

    def word():
        text = r.choice(names + folders) if r.randrange(3) else text_of(r, world).decode("latin-1").replace("\n", " ")
        return f'"{text}"' if r.randrange(2) else text

    lines = []
    good = ["use A V1", "use A Version0", "# nothing", "import sub"]
    for _ in range(r.randrange(1, 4)):
        lines.append(r.choice(good) if r.randrange(2) else r.choice([f"use {r.choice(names)} {word()}", f"use A {word()}", f"use {word()} V1", f"import {word()}",
                               f"import {r.choice(names)} from {word()}", f"import {word()} from {r.choice(folders)} as {word()}",
                               text_of(r, world).decode("latin-1")]))
    os.mkdir(world.case + "/A")
    plant_traps(world)
    part = "BASIC COMPONENT A\nDECLARATION OF ELEMENTS\nSTATE VARIABLES\nCONTINUOUS x (REAL) := 1\nDYNAMIC BEHAVIOUR\nDIFFERENTIAL EQUATIONS\nx' := - x;\nEND\nEND OF A\n"
    for name in ("A/Version0.mdl", "A/V1.mdl"):
        write(world, name, part)
    write(world, "Evil.ir", hostile_ir(r, world, "Evil"))
    parts = r.sample(["A", "Evil", "A", "Evil", "B", "Outside"], 1 + (r.randrange(4) == 0))
    write(world, "Main.mdl", "HIGH LEVEL COMPONENT Main\nSUBCOMPONENTS\n  " + ",\n  ".join(parts) + "\nEND OF Main\n")
    odd = text_of(r, world).replace(b"/", b"_")[:100]
    if odd not in (b".", b"..") and odd:
        with open(os.fsencode(world.case) + b"/" + odd + b".mdl", "wb") as file:
            file.write(part.encode())
    if r.randrange(4) == 0:
        os.symlink(r.choice([world.top + "/home/.bashrc", world.top + "/home/new"]), world.case + "/koine.bank.new")
    if r.randrange(20) == 0:
        os.symlink(world.top + "/home/.bashrc", world.case + "/koine.bank")
    elif r.randrange(30) == 0:
        os.mkfifo(world.case + "/koine.bank")
    else:
        write(world, "koine.bank", "\n".join(lines).encode("latin-1", "replace") + b"\n")
    world.plant()

    def own(path):
        return RESULT.match(path) or path in ("koine.bank", "koine.bank.new")

    found = run(world, ["run", "Main.mdl", "--tier", tier] + length_for(tier, k), tier, own)
    more = [["bank", "list", "."], ["bank", "check", "."], ["bank", "use", "A", "V1", "."],
            ["run", "Main.mdl", "--use", text_of(r, world).decode("latin-1"), "--tier", tier, "--no-catalogue"] + SHORT]
    return found + run(world, more[k % len(more)], tier, own)


MARK = bytes([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])


def journal_naming(path, n_pages, page_size):
    """A journal of SQLite whose end names another file; SQLite deletes that when it rolls back."""
    name = path.encode()
    total = sum(b - 256 if b > 127 else b for b in name) & 0xFFFFFFFF
    head = MARK + struct.pack(">IIIII", 0, 0, n_pages, 512, page_size)
    return head.ljust(512, b"\0") + struct.pack(">I", 0x40000000 // page_size + 1) + name + struct.pack(">II", len(name), total) + MARK


STATEMENTS = ["CREATE TRIGGER t1 AFTER INSERT ON runs BEGIN DELETE FROM runs; END", "CREATE TRIGGER t2 AFTER UPDATE ON runs BEGIN UPDATE runs SET result='{path}'; END",
              "CREATE TRIGGER t3 BEFORE DELETE ON runs BEGIN SELECT load_extension('{path}'); END", "CREATE VIEW v AS SELECT * FROM runs",
              "ALTER TABLE runs RENAME TO other", "ALTER TABLE runs ADD COLUMN extra AS (abs(id))", "CREATE INDEX i ON runs(abs(id))", "PRAGMA user_version=1",
              "PRAGMA user_version=0", "PRAGMA user_version=9", "PRAGMA journal_mode=DELETE", "PRAGMA journal_mode=WAL", "UPDATE runs SET id=-1",
              "UPDATE runs SET tags=x'00ff', created=NULL", "UPDATE runs SET outcome='running', process=1"]


def make_catalogue(world, template):
    """One of ours with one run, made once."""
    if not os.path.exists(template):
        world.begin()
        os.mkdir(world.case + "/.koine")
        shutil.copy(SOURCE + "/tests/cli/stranger/Osc.ir", world.case)
        found = run(world, ["run", "Osc.ir", "--stop", "1", "--output", "made.csv", "--tier", "interp"], "interp", RESULT.match)
        if found or not os.path.exists(world.case + "/.koine/runs.sqlite"):
            sys.exit("hostile.py: no catalogue: " + str(found))
        base = sqlite3.connect(world.case + "/.koine/runs.sqlite")
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        base.execute("PRAGMA journal_mode=DELETE")
        base.close()
        shutil.copy(world.case + "/.koine/runs.sqlite", template)
        world.begin()


def case_catalogues(r, world, k, tier):
    template = world.top + "/own/template.sqlite"
    make_catalogue(world, template)
    path = world.case + "/.koine/runs.sqlite"
    os.mkdir(world.case + "/.koine")
    shutil.copy(template, path)
    shutil.copy(SOURCE + "/tests/cli/stranger/Osc.ir", world.case)
    plant_traps(world)
    base = sqlite3.connect(path)
    columns = ["created", "koine", "model", "file", "experiment", "hash", "settings", "result", "outcome", "message", "tags", "origins", "host"]
    for _ in range(r.randrange(4)):
        try:
            base.execute("INSERT INTO runs(created,koine,model,file,experiment,hash,settings,result,outcome,message,points) VALUES('','','M','','','','{}',?,'done','',1)",
                         (os.path.join(world.case, path_of(r, world)),))
            if r.randrange(2):
                base.execute(f"UPDATE runs SET {r.choice(columns)}=? WHERE id={r.randrange(3)}", (text_of(r, world).decode("latin-1"),))
            if r.randrange(3) == 0:
                base.execute(r.choice(STATEMENTS).format(path=world.top + "/home/.bashrc"))
        except sqlite3.Error:
            pass
    base.commit()
    base.close()
    with open(path, "rb") as file:
        head = file.read(100)
    way = r.randrange(12)
    target = r.choice([world.top + "/canary/a.csv", world.top + "/home/.bashrc", world.top + "/canary"])
    if way == 0:
        with open(path + "-journal", "wb") as file:
            file.write(journal_naming(target, os.path.getsize(path) // 4096, 4096))
    elif way == 1:
        for end in ("-wal", "-shm", "-journal"):
            if os.path.lexists(path + end):
                os.unlink(path + end)
            if r.randrange(2):
                (os.symlink if r.randrange(2) else os.link)(world.top + "/canary/a.csv", path + end)
    elif way == 2:
        with open(path, "r+b") as file:
            for _ in range(r.randrange(1, 30)):
                file.seek(r.randrange(os.path.getsize(path)))
                file.write(bytes([r.randrange(256)]))
    elif way == 3:
        os.truncate(path, r.randrange(os.path.getsize(path)))
    elif way == 4:
        os.unlink(path)
        r.choice([lambda: os.symlink(world.top + "/canary/a.csv", path), lambda: os.mkfifo(path), lambda: os.mkdir(path),
                  lambda: os.link(world.top + "/canary/a.csv", path), lambda: os.symlink("/dev/zero", path)])()
    elif way == 5:
        shutil.rmtree(world.case + "/.koine")
        os.symlink(world.top + "/canary", world.case + "/.koine")
    elif way == 6:
        with open(path + r.choice(["-wal", "-journal", "-shm"]), "wb") as file:
            file.write(bytes(r.randrange(256) for _ in range(r.randrange(2000))))
    assert head
    world.plant()

    def own(name):
        return RESULT.match(name) and not os.path.basename(name).startswith("foreign")

    forget = ["runs", "forget", "--all", "--results", "--yes"]
    looks = [["runs", "list"], ["runs", "list", "--json"], ["runs", "show", "1"], ["runs", "tag", "1", "x"]]
    note = ["run", "Osc.ir", "--output", "own.csv", "--tier", tier] + length_for(tier, k)
    found = run(world, r.choice(looks) if k % 3 == 0 else note, tier, own)
    return found + run(world, forget, tier, own)


KINDS = {"names": case_names, "experiments": case_experiments, "banks": case_banks, "catalogues": case_catalogues}
SOURCE = os.path.realpath(os.path.dirname(os.path.realpath(__file__)) + "/../..")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("koine")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("count", type=int)
    parser.add_argument("--every-tier", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log")
    parser.add_argument("--sources")
    a = parser.parse_args()
    world = World(a.koine, a.log, a.sources)
    check_watch(world)
    n_found = n_runs = 0
    for k in range(a.seed, a.seed + a.count):
        tiers = [TIERS[k % 3]] + (["cc"] if k % 40 == 39 else [])
        if a.every_tier:
            tiers = TIERS + (["cc"] if 20 * (k - a.seed) < a.count else [])
        for tier in tiers:
            world.begin()
            found = KINDS[a.kind](random.Random(f"{a.kind} {k}"), world, k, tier)
            n_runs += 1
            if found:
                n_found += 1
                kept = f"{world.top}-{a.kind}-{k}-{tier}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(world.case, kept, symlinks=True, copy_function=lambda f, t: shutil.copy2(f, t) if os.path.isfile(f) else None)
                print(f"{a.kind} {k} in tier {tier}, kept in {kept}:\n  " + "\n  ".join(found), flush=True)
                if n_found >= 20:
                    sys.exit("hostile.py: too many; the rest was not tried")
    shutil.rmtree(world.top)
    print(f"{a.kind}: {a.count} cases, {n_runs} with a tier each, {n_found} with something found; {sum(world.statuses.values())} commands, {world.statuses.get(0, 0)} with status 0" + ("" if a.log else "; programs were not watched"))
    sys.exit(n_found > 0)


main()

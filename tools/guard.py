"""What tools/check-stops, check-kills and check-faults share: models, a folder of their own for each run, and reading
results back. Needs Python 3 only."""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(HERE)
SOLVERS = """auto dopri5 dop853 cvode-bdf cvode-adams ida arkode-erk arkode-dirk euler heun rk4 simplex-euler simplex-rk4
 simplex-fehlberg simplex-gauss simplex-bulirsch-stoer simplex-rosenbrock""".split()
TIERS = "auto interp tcc cc".split()

OSCILLATOR = """koine-ir 1
model Osc
param w Real = 1.0
var x Real continuous der start 1.0 fixed
var v Real continuous der start 0.0 fixed
var n Integer discrete next start 0 fixed
eq e1 der(x) := v
eq e2 der(v) := -w*x
trans up edge next set when x > 0.5 :
  next(n) := n + 1
end up
end Osc
"""


def different_equations(n, name="Wide"):
    """n states whose equations all have shapes of their own: much work for a compiler."""
    lines = ["koine-ir 1", f"model {name}"]
    for k in range(n):
        lines.append(f"var x{k} Real continuous der start {1 + k % 7}.0 fixed")
    for k in range(n):
        term, bits = f"x{(k + 1) % n}", k + 2
        while bits > 1:
            term = f"sin({term})" if bits & 1 else f"({term} + 0.5*x{(k * 7 + bits) % n})"
            bits >>= 1
        lines.append(f"eq e{k} der(x{k}) := -x{k} + 0.1*{term}")
    return "\n".join(lines + [f"end {name}", ""])


def large_system(n, name="Ring"):
    """n nonlinear equations that are one system, solved anew at every evaluation."""
    lines = ["koine-ir 1", f"model {name}", "var s Real continuous der start 0.0 fixed"]
    lines += [f"var y{k} Real continuous" for k in range(n)]
    lines.append("eq e der(s) := y0 - s")
    for k in range(n):
        others = " + ".join(f"0.1*y{(k + d * d * 7 + 1) % n}" for d in range(3))
        lines.append(f"eq a{k} 0.0 = 3.0*y{k} + y{k}*y{k}*y{k} + {others} - sin(s + {k}.0)")
    return "\n".join(lines + [f"end {name}", ""])


DELAY = """BASIC COMPONENT Late
DECLARATION OF ELEMENTS
  STATE VARIABLES CONTINUOUS X (REAL) := 1
  DEPENDENT VARIABLES CONTINUOUS Old (REAL) := 1
DYNAMIC BEHAVIOUR
DIFFERENTIAL EQUATIONS
  X' := -Old;
END
Old := DELAY(X, 0.5);
END OF Late
"""

PHASES = "model: Osc.ir\nstop: 1e7\ninterval: 0.1\nphases:\n" + "".join(
    f"  - until: {k}\n    set:\n      w: {1 + k % 3}\n" for k in range(1, 2000))
OBSERVED = """model: Osc.ir
stop: 1e7
interval: 0.1
protocol: run.protocol
observers:
  - name: every
    kind: sampled
    every: 0.5
    variables: [x, n]
"""


def arguments(description, runs, **more):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--koine", default=os.path.join(SOURCE, "build/release/koine"), help="the program")
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--seed", type=int, default=None, help="repeats the choices of an earlier call")
    for name, (default, text) in more.items():
        parser.add_argument("--" + name, type=type(default), default=default, help=text)
    given = parser.parse_args()
    given.koine = os.path.realpath(given.koine)
    if given.seed is None:
        given.seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {given.seed}")
    return given


class Place:
    """A folder for one run: here/ is the current folder, the others are what Koine keeps for itself."""

    def __init__(self, top=None):
        self.top = tempfile.mkdtemp(prefix="koine-guard-", dir=top)
        for name in ("here", "cache", "state", "tmp", "home"):
            os.mkdir(os.path.join(self.top, name))
        self.here = os.path.join(self.top, "here")
        self.environment = dict(os.environ, HOME=self.path("home"), XDG_CACHE_HOME=self.path("cache"), LC_ALL="C.UTF-8",
                                XDG_STATE_HOME=self.path("state"), TMPDIR=self.path("tmp"), TERM="dumb", COLUMNS="80")
        for name in ("XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "CC"):
            self.environment.pop(name, None)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def write(self, name, text):
        with open(os.path.join(self.here, name), "w") as file:
            file.write(text)

    def start(self, words, **more):
        return subprocess.Popen(words, cwd=self.here, env=self.environment, start_new_session=True,
                                stdin=subprocess.DEVNULL, **more)

    def run(self, words, environment=None, timeout=60):
        return subprocess.run(words, cwd=self.here, env=dict(self.environment, **(environment or {})),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)

    def files(self):
        """Path and content of everything, but for the cache and what is mapped to memory."""
        found = {}
        for folder, _, names in os.walk(self.top):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.top)] = file.read()
        return found

    def left_over(self):
        """What a run should have taken away again."""
        left = [os.path.join("tmp", name) for name in os.listdir(self.path("tmp"))]
        cache = self.path("cache", "koine")
        if os.path.isdir(cache):
            left += [name for name in os.listdir(cache) if name.startswith("koine-")]
        return left + [name for name in os.listdir(self.here) if name.endswith(".koine-new")]

    def remove(self):
        shutil.rmtree(self.top, ignore_errors=True)


def session_processes(session):
    """Processes of a session that are alive."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in (b"Z", b"X"):
            found.append(int(name))
    return found


def wait_for_session(session, seconds):
    """Processes that are still there after so long, of a session whose first process has ended."""
    end = time.monotonic() + seconds
    while True:
        left = session_processes(session)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.01)


def end_session(session):
    for process in session_processes(session):
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            pass


def rows(place, koine, name):
    """Lines of a result, the names first, and what was said; lines None: it cannot be read."""
    if name.endswith(".csv.raw"):
        raise ValueError(name)
    done = place.run([koine, "convert", name, "-"])
    said = done.stderr.decode("utf-8", "replace")
    return (done.stdout.splitlines() if done.returncode == 0 else None), said


def judge(problems, runs, what):
    for problem in problems[:20]:
        print("  " + problem)
    print(f"{runs} {what}, {len(problems)} problems")
    sys.exit(1 if problems else 0)

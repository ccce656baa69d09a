"""Models and their runs."""
import ctypes
import json
import math
from dataclasses import dataclass
from typing import Tuple

from .diagnostics import ModelError, RunError, diagnostics_of
from .library import ENDS, LIBRARY, REPORTS, Opening, VariableInfo, bytes_of, text_of
from .result import Result, numpy
from .running import Caller


@dataclass(frozen=True)
class Variable:
    """What the model says of a variable."""
    name: str
    unit: str
    comment: str
    type: str  # "real", "integer", "boolean", "enumeration", "string"
    variability: str  # "constant", "structural", "parameter", "discrete", "continuous"
    causality: str  # "local", "input", "output", "parameter"
    shape: Tuple[int, ...]  # (): a scalar
    labels: Tuple[str, ...]  # of an enumeration
    is_settable: bool
    is_state: bool
    is_hidden: bool


def value_text(value):
    """A value as Koine reads it: 3, true, red, {1, 2, 3}."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no value of a model")
        return repr(value)
    return "{" + ", ".join(value_text(v) for v in value) + "}"


def setting_texts(key, value):
    """A setting as koine_give takes it: one text, or one for each name."""
    if key in ("set", "nominal", "control"):
        return [f"{name}={value_text(v)}" for name, v in dict(value).items()]
    if isinstance(value, bool):
        return ["on" if value else "off"]
    if isinstance(value, (list, tuple)):
        return [",".join(str(v) for v in value)]
    return [str(value)]  # numbers, texts and paths


class Model:
    """A model, opened and compiled. Use it in one thread at a time; several models may run in several threads.

    `file` is a model in any of the languages, FILE:CLASS, or an experiment NAME.exp.yaml, whose settings then hold. With
    `text` the model is that text, and `file` is only its name. Settings are those of `give`. Functions of C that the
    model names are compiled and executed only with `allow_external`: they can do whatever you can. `derivatives` (a list,
    perhaps empty) is for `linearize`.
    """

    def __init__(self, file, *, text=None, class_name=None, tier=None, allow_external=False, derivatives=None, **settings):
        data = None if text is None else text.encode("utf-8")
        opening = Opening(bytes_of(class_name), data, len(data or b""), bytes_of(tier), None, allow_external,
                          None if derivatives is None else bytes_of(",".join(derivatives)))
        self.file = str(file)
        self._is_open = False  # a run is
        self._end = None
        self._variables = None
        self._project = LIBRARY.koine_open(bytes_of(file), ctypes.byref(opening))
        self._caller = Caller(self._project)
        if not LIBRARY.koine_is_ready(self._project):
            self._fail()
        self.give(**settings)

    def close(self):
        """Frees the model. Results stay."""
        if getattr(self, "_project", None):
            self._caller.listen(None, None)
            LIBRARY.koine_close(self._project)
            self._project = None

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<koine.Model {self.file}>"

    def _handle(self):
        if not self._project:
            raise ValueError("the model is closed")
        return self._project

    def _fail(self):
        raise ModelError(text_of(LIBRARY.koine_message(self._handle())), diagnostics_of(self._handle()))

    # ---- What it is -------------------------------------------------------------------------------------------------

    @property
    def diagnostics(self):
        """What was said about the last thing that was done with the model, warnings and notes too."""
        return diagnostics_of(self._handle())

    @property
    def variables(self):
        """The variables by their names."""
        if self._variables is None:
            info, found = VariableInfo(), {}
            while LIBRARY.koine_variable(self._handle(), len(found), ctypes.byref(info)):
                name = text_of(info.name)
                found[name] = Variable(
                    name, text_of(info.unit), text_of(info.comment), text_of(info.type), text_of(info.variability),
                    text_of(info.causality), tuple(info.extents[k] for k in range(info.n_extents)),
                    tuple(text_of(info.labels[k]) for k in range(info.n_labels)), info.is_settable, info.is_state,
                    info.is_hidden)
            self._variables = found
        return self._variables

    def report(self, name):
        """A report: "diagnostics", "structure", "statistics" as data, "components" as a text; None: there is none."""
        text = text_of(LIBRARY.koine_report(self._handle(), REPORTS.index(name)))
        return text if text is None or name == "components" else json.loads(text)

    # ---- Settings and values ----------------------------------------------------------------------------------------

    def give(self, **settings):
        """Settings of the experiment, by the names of docs/experiments.md with _ for -: give(stop=10, max_step=0.1).

        They hold until they are given anew; None takes one back. `set`, `nominal` and `control` take pairs of name and
        value, which replace those given before.
        """
        for name, value in settings.items():
            key = name.replace("_", "-")
            texts = [] if value is None else setting_texts(key, value)
            LIBRARY.koine_give(self._handle(), bytes_of(key), None)
            for text in texts:
                LIBRARY.koine_give(self._handle(), bytes_of(key), bytes_of(text))
            self._variables = None

    def set(self, names=None, value=None, /, **more):
        """Parameters and start values: set(K=3), set("body.m", 2), set({"body.r": [0, 1.5, 0]}), or model["K"] = 3.

        Between runs they hold for those that begin later. While a run is open they change it where it stands.
        """
        pairs = {names: value} if isinstance(names, str) else dict(names or {})
        for name, one in {**pairs, **more}.items():
            self[name] = one

    def __setitem__(self, name, value):
        words = self._handle(), bytes_of(name), bytes_of(value_text(value))
        is_set = self._caller.call(lambda: LIBRARY.koine_set(*words)) if self._is_open else LIBRARY.koine_set(*words)
        if not is_set:
            self._fail()

    def __getitem__(self, name):
        """A value where the run stands, at the end of the last one, or the one that it would start from (nan: computed;
        a String: None)."""
        n = LIBRARY.koine_get(self._handle(), bytes_of(name), None, 0)
        if n < 0:
            raise KeyError(name)
        variable = self.variables.get(name) or self.variables.get(name.split("[")[0])
        if variable and variable.type == "string":
            texts = [text_of(LIBRARY.koine_get_text(self._handle(), bytes_of(name), k)) for k in range(n)]
            return nested(texts, variable.shape) if variable.name == name and variable.shape else texts[0]
        values = (ctypes.c_double * n)()
        LIBRARY.koine_get(self._handle(), bytes_of(name), values, n)
        variable = self.variables.get(name)
        if not variable or not variable.shape:
            return values[0]
        return numpy.array(values).reshape(variable.shape) if numpy else nested(list(values), variable.shape)

    # ---- Runs -------------------------------------------------------------------------------------------------------

    def run(self, *, progress=None, message=None, **settings):
        """A whole run, and its result. Settings are those of `give`, and hold on.

        `progress(time)` is called now and then, `message(level, text)` when the model says something. Ctrl-C, or an
        exception of theirs, ends the run in order: `result` then has what it recorded.
        """
        try:
            self.begin(progress=progress, message=message, **settings)
            self.step(math.inf)
        except BaseException:
            self._close_run()
            raise
        return self.end()

    def begin(self, *, progress=None, message=None, **settings):
        """Begins a run that goes on with `step` and ends with `end`. One that is open is ended."""
        self.give(**settings)
        self._close_run()
        self._end = None
        self._caller.listen(progress, message)
        project = self._handle()
        self._variables = None
        self._is_open = True  # also where Ctrl-C comes
        if not self._caller.call(lambda: LIBRARY.koine_begin(project)):
            self._is_open = False
            self._fail()

    def step(self, to):
        """Goes on to the time `to` and serves all that happens up to it. False: the run is over, `end` says how."""
        project = self._handle()
        if not self._is_open:
            raise ValueError("no run is open: begin one")
        return self._caller.call(lambda: LIBRARY.koine_step(project, to))

    def enter(self, entry):
        """Calls the entry of the model with this name where the run stands."""
        project, name = self._handle(), bytes_of(entry)
        if not self._caller.call(lambda: LIBRARY.koine_enter(project, name)):
            raise ModelError(text_of(LIBRARY.koine_message(project)))

    def save(self):
        """The open run as it stands, as bytes for `restore`, of this model or of another one like it."""
        size = ctypes.c_size_t()
        data = LIBRARY.koine_save(self._handle(), ctypes.byref(size))
        if not data:
            raise ModelError(text_of(LIBRARY.koine_message(self._handle())))
        return ctypes.string_at(data, size.value)

    def restore(self, data):
        """The open run goes back, or ahead, to where it was saved."""
        if not LIBRARY.koine_restore(self._handle(), data, len(data)):
            raise ModelError(text_of(LIBRARY.koine_message(self._handle())))

    def linearize(self, inputs=None, outputs=None):
        """The model near the point where the open run stands: a dict with the keys of `koine linearize --json`.

        `inputs` and `outputs` are names; without them all inputs, and the outputs at the top. The model was opened with
        `derivatives`, a list of further parameters and variables, which may be empty.
        """
        names = [None if n is None else bytes_of(",".join(n)) for n in (inputs, outputs)]
        text = text_of(LIBRARY.koine_linearize_report(self._handle(), *names))
        if text is None:
            raise ModelError(text_of(LIBRARY.koine_message(self._handle())))
        return json.loads(text)

    def end(self):
        """Ends the run that is open, and gives its result. A run that failed raises RunError, which has it, too."""
        if not self._is_open:
            raise ValueError("no run is open: begin one")
        self._close_run()
        if self._end in ("failed", "sink", "options"):
            raise RunError(text_of(LIBRARY.koine_message(self._handle())), self.diagnostics, self.result, self.time)
        return self.result

    def _close_run(self):
        def end():
            self._end = ENDS[LIBRARY.koine_end(self._handle())]

        if self._is_open:
            self._is_open = False
            self._caller.call(end)

    def interrupt(self):
        """The run ends in order. May be called from any thread."""
        LIBRARY.koine_interrupt(self._handle())

    @property
    def time(self):
        """The time that the run has come to; of the last one, if none is open; nan: there was none."""
        return LIBRARY.koine_reached(self._handle())

    @property
    def result(self):
        """What the run has recorded so far, or the last one; None: there was none."""
        handle = LIBRARY.koine_result(self._handle())
        return Result(handle, self._end) if handle else None


def nested(values, shape):
    """A list of lists, the last index being the fastest."""
    if len(shape) <= 1:
        return values
    size = len(values) // shape[0] if shape[0] else 0
    return [nested(values[k * size:(k + 1) * size], shape[1:]) for k in range(shape[0])]

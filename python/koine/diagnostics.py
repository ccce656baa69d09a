"""What is wrong with a model or a run, as data and as exceptions."""
import ctypes
from dataclasses import dataclass
from typing import Optional

from .library import LEVELS, LIBRARY, DiagnosticData, text_of


@dataclass(frozen=True)
class Diagnostic:
    """One thing that Koine says about a model. Lines and columns count from 1; without a place, file is None."""
    level: str  # "error", "warning", "note"
    code: str  # "KN1010"; `koine explain KN1010` tells more
    text: str
    help: Optional[str]
    file: Optional[str]
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        more = f"\n  help: {self.help}" if self.help else ""
        return f"{place}{self.level} {self.code}: {self.text}{more}"


class KoineError(Exception):
    """Something that could not be done. `code`, `file`, `line`, `text` and `help` are those of the first error."""

    def __init__(self, message, diagnostics=(), result=None):
        self.diagnostics = list(diagnostics)
        self.result = result  # what the run has recorded; None: nothing
        errors = [d for d in self.diagnostics if d.level == "error"]
        first = errors[0] if errors else None
        self.code = first.code if first else None
        self.file = first.file if first else None
        self.line = first.line if first else None
        self.help = first.help if first else None
        self.text = first.text if first else message
        super().__init__("\n".join(str(d) for d in errors) or message)


class ModelError(KoineError):
    """The model cannot be compiled, or a value or setting is wrong."""


class RunError(KoineError):
    """The run has failed. `time` is where, `result` what it had recorded."""

    def __init__(self, message, diagnostics=(), result=None, time=float("nan")):
        super().__init__(message, diagnostics, result)
        self.time = time
        if message and message not in str(self):
            self.args = (f"{message}\n{self.args[0]}",)


def diagnostics_of(project):
    """All diagnostics of the last thing that was done with the model."""
    data, found = DiagnosticData(), []
    while LIBRARY.koine_diagnostic(project, len(found), ctypes.byref(data)):
        found.append(Diagnostic(LEVELS[data.level], f"KN{data.code}", text_of(data.message), text_of(data.help),
                                text_of(data.file), data.line, data.column, data.end_line, data.end_column))
    return found

"""Koine in Python: open a model, set values, run it, read what came out.

    import koine
    height = koine.Model('Ball.mdl').run(stop=2)['Y']

docs/python.md is the manual.
"""
from .diagnostics import Diagnostic, KoineError, ModelError, RunError
from .library import PATH as library_path
from .library import VERSION as __version__
from .model import Model, Variable
from .result import Deviation, Result, compare, read

__all__ = ["Deviation", "Diagnostic", "KoineError", "Model", "ModelError", "Result", "RunError", "Variable", "compare",
           "library_path", "read"]

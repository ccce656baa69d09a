"""Results: columns over the time, compared and drawn."""
import array
import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass

from .library import LIBRARY, DeviationData, bytes_of, text_of

try:
    import numpy
except ImportError:
    numpy = None


@dataclass(frozen=True)
class Deviation:
    """A column that leaves the tube around its reference."""
    name: str
    deviation: float  # largest distance from the reference
    allowed: float  # by the tube
    time: float  # where it is


class Result(Mapping):
    """What a run has recorded, or a result file holds: a mapping from names to columns, "time" being the first.

    A column is a numpy array, or, without numpy, an array.array of doubles. It is a copy and stays when the result goes.
    """

    def __init__(self, handle, end=None):
        self._handle = handle
        self._columns = {}
        self.end = end  # "done", "terminated", "interrupted", "failed"; None: the run is open, or it is of a file
        self.rows = LIBRARY.koine_result_rows(handle)
        self._numbers = {}
        while (name := LIBRARY.koine_result_name(handle, len(self._numbers))) is not None:
            self._numbers[text_of(name)] = len(self._numbers)

    def __del__(self):
        if getattr(self, "_handle", None):
            LIBRARY.koine_result_free(self._handle)
            self._handle = None

    def __getitem__(self, name):
        if name not in self._columns:
            values = LIBRARY.koine_result_values(self._handle, self._numbers[name])
            data = ctypes.string_at(values, self.rows * ctypes.sizeof(ctypes.c_double)) if self.rows else b""
            self._columns[name] = numpy.frombuffer(bytearray(data)) if numpy else array.array("d", data)
        return self._columns[name]

    def __iter__(self):
        return iter(self._numbers)

    def __len__(self):
        return len(self._numbers)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __repr__(self):
        end = f", {self.end}" if self.end else ""
        return f"<koine.Result of {len(self)} columns, {self.rows} rows{end}>"

    @property
    def time(self):
        """The first column."""
        return self[next(iter(self._numbers))]

    def compare(self, other, tube=None, absolute=None):
        """The columns of `other`, a result or a file, that leave a tube around those of this one; the worst comes first.

        The tube is `tube` (0.002) times the range of the time and of the signal wide, `absolute` (1e-9) at least. Columns
        that only one of them has are not compared.
        """
        other = other if isinstance(other, Result) else read(other)
        if self.rows == 0 or other.rows == 0:
            raise ValueError("a result without rows cannot be compared")
        worst = (DeviationData * len(self))()
        n = LIBRARY.koine_compare(self._handle, other._handle, -1 if tube is None else tube,
                                  -1 if absolute is None else absolute, worst, len(worst))
        return [Deviation(text_of(d.name), d.deviation, d.allowed, d.time) for d in worst[:n]]

    def plot(self, *names, axes=None, **style):
        """Draws columns over the time with matplotlib, all of them unless some are named. Gives the axes."""
        for name in names:
            if name not in self._numbers:
                raise KeyError(name)
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError(f"plots need matplotlib (apt-get install python3-matplotlib): {error}") from None
            axes = pyplot.subplots()[1]
        for name in names or list(self)[1:]:
            axes.plot(self.time, self[name], label=name, **style)
        axes.set_xlabel("time")
        axes.legend()
        return axes


def read(file):
    """The result in a file: CSV, MAT or native."""
    why = ctypes.c_char_p()
    handle = LIBRARY.koine_result_open(bytes_of(file), ctypes.byref(why))
    if why.value is not None:
        reason = text_of(why.value)
        LIBRARY.koine_result_free(handle)
        raise (OSError if not os.path.exists(file) else ValueError)(reason)
    return Result(handle)


def compare(reference, other, tube=None, absolute=None):
    """Result.compare of two results or files."""
    reference = reference if isinstance(reference, Result) else read(reference)
    return reference.compare(other, tube, absolute)

"""Run by test-installed, in a folder with Ball.mdl: layout (prints a C program), or use PREFIX."""
import re
import sys
from pathlib import Path

import koine
from koine import library


def print_layout():
    """A program that ends with 0 if sizes and offsets of all fields are those of ctypes."""
    print("#include <koine/koine.h>\nint main(void)\n{\n    return !(1")
    for name, struct in library.STRUCTS.items():
        print(f"        && sizeof({name}) == {koine_size(struct)}")
        for field, _ in struct._fields_:
            place = getattr(struct, field)
            print(f"        && offsetof({name}, {field}) == {place.offset}")
            print(f"        && sizeof((({name} *)0)->{field}) == {place.size}")
    print("    );\n}")


def koine_size(struct):
    """The size of a struct in bytes."""
    return library.ctypes.sizeof(struct)


class Axes:
    """Stands for those of matplotlib: remembers what is drawn."""

    def __init__(self):
        self.drawn = []

    def plot(self, times, values, label):
        """One line."""
        self.drawn.append((label, len(times), values[-1]))

    def set_xlabel(self, label):
        """The axis has a name."""
        assert label == "time"

    def legend(self):
        """Nothing to do."""


def use(prefix):
    """Load, set, run, step, read, draw; then a wrong model."""
    assert Path(koine.library_path).is_relative_to(prefix), koine.library_path
    assert Path(koine.__file__).is_relative_to(prefix), koine.__file__
    header = (prefix / "include" / "koine" / "koine.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^KOINE_API .*?\b(koine_[a-z_]+)\(", header, re.MULTILINE))
    assert declared == set(library.FUNCTIONS), declared ^ set(library.FUNCTIONS)
    enumerators = [word.lower() for word in re.findall(r"KOINE_(?:END|LEVEL|REPORT)_([A-Z]+)\b(?=,| )", header)]
    for names in (library.LEVELS, library.ENDS, library.REPORTS):
        assert all(name in enumerators for name in names), enumerators
    ball = koine.Model("Ball.mdl")
    ball.set(Y=1.5)
    assert abs(ball.run(stop=0.5)["Y"][-1] - (1.5 - 9.81/8)) < 1e-6  # falls freely
    ball.begin(stop=2)
    assert ball.step(0.5) and abs(ball["Y"] - (1.5 - 9.81/8)) < 1e-6
    assert not ball.step(2)
    result, axes = ball.end(), Axes()
    result.plot("Y", axes=axes)
    assert axes.drawn == [("Y", result.rows, result["Y"][-1])]
    try:
        koine.Model("Bad.mdl", text="BASIC COMPONENT Bad\nDYNAMIC BEHAVIOUR\nEND OF Worse\n")
    except koine.ModelError as error:
        assert (error.code, error.file, error.line) == ("KN1010", "Bad.mdl", 2), error
    else:
        raise AssertionError("a wrong model is opened")


if sys.argv[1] == "layout":
    print_layout()
else:
    use(Path(sys.argv[2]))

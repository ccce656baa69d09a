"""Finds libkoine and declares its functions: include/koine/koine.h in the words of ctypes.

The first of these is taken: KOINE_LIBRARY (the library or its folder); the build of the checkout that this package lies
in or was installed from; the installed tree that this package lies in; the libraries of the system.
"""
import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

NAME = "libkoine.so.0"
SERIES = "0.1"  # what the functions below are those of
HERE = Path(__file__).resolve().parent


# ---- Structs --------------------------------------------------------------------------------------------------------

class Opening(ctypes.Structure):
    """KoineOpening"""
    _fields_ = [("class_name", c_char_p), ("text", c_char_p), ("size", c_size_t), ("tier", c_char_p),
                ("out_of_memory", c_void_p), ("allow_external", c_bool), ("derivatives", c_char_p)]


class DiagnosticData(ctypes.Structure):
    """KoineDiagnostic"""
    _fields_ = [("level", c_int), ("code", c_uint32), ("message", c_char_p), ("help", c_char_p), ("file", c_char_p),
                ("line", c_uint32), ("column", c_uint32), ("end_line", c_uint32), ("end_column", c_uint32)]


class VariableInfo(ctypes.Structure):
    """KoineVariableInfo"""
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("comment", c_char_p), ("type", c_char_p),
                ("variability", c_char_p), ("causality", c_char_p), ("count", c_uint32), ("n_extents", c_uint32),
                ("extents", POINTER(c_uint32)), ("labels", POINTER(c_char_p)), ("n_labels", c_uint32),
                ("is_settable", c_bool), ("is_state", c_bool), ("is_hidden", c_bool)]


ON_MESSAGE = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
ON_PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, c_double)


class Listener(ctypes.Structure):
    """KoineListener"""
    _fields_ = [("context", c_void_p), ("message", ON_MESSAGE), ("progress", ON_PROGRESS)]


class DeviationData(ctypes.Structure):
    """KoineDeviation"""
    _fields_ = [("name", c_char_p), ("deviation", c_double), ("allowed", c_double), ("time", c_double)]


STRUCTS = {"KoineOpening": Opening, "KoineDiagnostic": DiagnosticData, "KoineVariableInfo": VariableInfo,
           "KoineListener": Listener, "KoineDeviation": DeviationData}

# ---- Functions: what they give, then what they take -----------------------------------------------------------------

FUNCTIONS = {
    "koine_version": (c_char_p,),
    "koine_open": (c_void_p, c_char_p, POINTER(Opening)),
    "koine_close": (None, c_void_p),
    "koine_is_ready": (c_bool, c_void_p),
    "koine_diagnostic": (c_bool, c_void_p, c_uint32, POINTER(DiagnosticData)),
    "koine_message": (c_char_p, c_void_p),
    "koine_variable": (c_bool, c_void_p, c_uint32, POINTER(VariableInfo)),
    "koine_find": (c_int64, c_void_p, c_char_p),
    "koine_give": (None, c_void_p, c_char_p, c_char_p),
    "koine_set": (c_bool, c_void_p, c_char_p, c_char_p),
    "koine_get": (c_int64, c_void_p, c_char_p, POINTER(c_double), c_uint32),
    "koine_get_text": (c_char_p, c_void_p, c_char_p, c_uint32),
    "koine_listen": (None, c_void_p, POINTER(Listener)),
    "koine_run": (c_int, c_void_p),
    "koine_begin": (c_bool, c_void_p),
    "koine_step": (c_bool, c_void_p, c_double),
    "koine_end": (c_int, c_void_p),
    "koine_enter": (c_bool, c_void_p, c_char_p),
    "koine_save": (c_void_p, c_void_p, POINTER(c_size_t)),
    "koine_restore": (c_bool, c_void_p, c_char_p, c_size_t),
    "koine_linearize_report": (c_char_p, c_void_p, c_char_p, c_char_p),
    "koine_reached": (c_double, c_void_p),
    "koine_interrupt": (None, c_void_p),
    "koine_report": (c_char_p, c_void_p, c_int),
    "koine_result": (c_void_p, c_void_p),
    "koine_result_open": (c_void_p, c_char_p, POINTER(c_char_p)),
    "koine_result_free": (None, c_void_p),
    "koine_result_rows": (c_uint64, c_void_p),
    "koine_result_name": (c_char_p, c_void_p, c_uint32),
    "koine_result_find": (c_int64, c_void_p, c_char_p),
    "koine_result_values": (POINTER(c_double), c_void_p, c_uint32),
    "koine_compare": (c_uint32, c_void_p, c_void_p, c_double, c_double, POINTER(DeviationData), c_uint32),
}

LEVELS = ("error", "warning", "note")
ENDS = ("done", "terminated", "interrupted", "failed", "sink", "options")
REPORTS = ("diagnostics", "structure", "components", "statistics")


# ---- Finding it -----------------------------------------------------------------------------------------------------

def checkouts():
    """The source trees whose build may be used: the one around this package, and the one it was installed from."""
    if (HERE.parent.parent / "include" / "koine" / "koine.h").exists():
        yield HERE.parent.parent
    note = HERE / "checkout"  # written by python/setup.py
    if note.exists():
        yield Path(note.read_text(encoding="utf-8").strip())


def candidates():
    """The files that may be the library, the first one that is there being taken."""
    for tree in checkouts():
        yield tree / "build" / "release" / NAME
    prefix = HERE.parents[3] if len(HERE.parents) > 3 else HERE  # of PREFIX/lib/python3/dist-packages/koine
    yield prefix / "lib" / NAME
    yield prefix / "lib64" / NAME
    yield from sorted((prefix / "lib").glob("*-linux-gnu*/" + NAME))


def find():
    """The library's path, or its name alone where only the system can know."""
    told = os.environ.get("KOINE_LIBRARY")
    if told:
        return str(Path(told) / NAME if Path(told).is_dir() else Path(told))
    return next((str(path) for path in candidates() if path.exists()), NAME)


def load(path):
    """The library with its functions declared."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"libkoine cannot be loaded: {error}. Build it (ninja -C build/release koine_library), install "
                          "Koine, or name the library in KOINE_LIBRARY") from None
    for name, (gives, *takes) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} is no libkoine of version {SERIES}: it has no {name}") from None
        function.restype, function.argtypes = gives, takes
    version = library.koine_version().decode()
    if not version.startswith(SERIES + "."):
        raise ImportError(f"{path} has version {version}, this package is for {SERIES}")
    return library


PATH = find()
LIBRARY = load(PATH)
VERSION = LIBRARY.koine_version().decode()


def text_of(data):
    """Text of the library; None where there is none."""
    return None if data is None else data.decode("utf-8", "replace")


def bytes_of(text):
    """Text for the library: a str or a path; None where there is none."""
    if text is None:
        return None
    data = os.fsencode(text)
    if b"\0" in data:
        raise ValueError("a text with a null character")
    return data

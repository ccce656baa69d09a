"""What the tests of the Python package share: where it is, and what to do where something is missing."""
import os
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
BALL = SOURCE / "examples" / "bouncing-ball" / "Ball.mdl"
RISE = """BASIC COMPONENT Rise
DECLARATION OF ELEMENTS
  CONSTANTS K (REAL) := 2
  STATE VARIABLES CONTINUOUS X (REAL[m]) := 1
DYNAMIC BEHAVIOUR
  DIFFERENTIAL EQUATIONS X' := K; END
END OF Rise
"""


def leave_out(why):
    """A package is missing: the test is skipped, where CI is set it fails."""
    print(f"not tested: {why}")
    sys.exit(1 if os.environ.get("CI") else 77)


def need_numpy():
    """Ends the test where numpy is missing."""
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        leave_out(f"{error} (apt-get install python3-numpy)")

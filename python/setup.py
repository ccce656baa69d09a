"""pip install --no-build-isolation --no-deps ./python: the rest is in setup.cfg.

The installed package remembers the checkout it came from, whose build has the library.
"""
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
(HERE.parent / "build" / "python").mkdir(parents=True, exist_ok=True)


class Remember(build_py):
    """Copies the package and writes its file `checkout` beside it."""

    def run(self):
        super().run()
        (Path(self.build_lib) / "koine" / "checkout").write_text(f"{HERE.parent}\n", encoding="utf-8")

    def get_outputs(self, include_bytecode=1):
        """The file is one of those that are installed."""
        return super().get_outputs(include_bytecode) + [str(Path(self.build_lib) / "koine" / "checkout")]


setup(cmdclass={"build_py": Remember})

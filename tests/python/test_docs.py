"""test_docs.py: the sessions in docs/python.md go as they stand there, and the notebook of the examples runs."""
import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile

from koine_python import BALL, SOURCE, need_numpy

need_numpy()
page = SOURCE / "docs" / "python.md"
text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
notebook = SOURCE / "examples" / "python-notebook" / "notebook.py"
with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(BALL.parent, folder, dirs_exist_ok=True)
    os.chdir(folder)
    done = doctest.DocTestRunner().run(test)
    assert done.attempted > 25, "the page has lost its sessions"
    made = subprocess.run([sys.executable, str(notebook)], capture_output=True, text=True, check=False)
    os.chdir(SOURCE)
print(made.stdout, made.stderr)
assert made.returncode == 0
assert "after half an hour: 23.49 degrees" in made.stdout  # 20 + 70 exp(-3)
assert "tau = 1072.2" in made.stdout  # -600/log(40/70)
# 20 + q ((0.9 (20 + 70 q) + 0.5) - 20) with q = exp(-300/tau) = sqrt(4/7)
assert "milk early: 54.87 degrees" in made.stdout
sys.exit(1 if done.failed else 0)

"""test_package.py [--without-numpy]: the package beside this tree, as a program uses it."""
import array
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from koine_python import BALL, RISE, SOURCE, need_numpy

HAS_NUMPY = "--without-numpy" not in sys.argv
if HAS_NUMPY:
    need_numpy()
    import numpy
else:
    sys.argv.remove("--without-numpy")
    sys.modules["numpy"] = None  # as if it were not installed
import koine  # noqa: E402
from koine import library  # noqa: E402


SWING = """BASIC COMPONENT Swing
DECLARATION OF ELEMENTS
  STATE VARIABLES DISCRETE n (INT) := 0
                  CONTINUOUS X (REAL) := 1, V (REAL) := 0
DYNAMIC BEHAVIOUR
  WHENEVER n = 0 DO n^ := 1; DISPLAY ("it runs\\n"); END
  DIFFERENTIAL EQUATIONS X' := V; V' := -X; END
END OF Swing
"""


def open_rise(**settings):
    return koine.Model("Rise.mdl", text=RISE, tier="interp", **settings)


class Steering(unittest.TestCase):
    def test_a_run_is_steered_saved_and_linearised(self):
        path = SOURCE / "tests" / "sim" / "changes" / "plant.ir"
        with koine.Model(path, tier="interp", derivatives=["T"], stop=4, tolerance=1e-9, solver="dopri5") as model:
            model.begin()
            model.step(0.7)
            model["u"] = 3
            model.step(0.9)
            saved = model.save()
            model.step(3)
            x = model["x"]
            model.restore(saved)
            self.assertAlmostEqual(model.time, 0.9, delta=1e-15)
            model.enter("t3")
            self.assertEqual(model["n"], 100)
            with self.assertRaises(koine.ModelError):
                model.enter("nothing")
            model.restore(saved)
            model.step(3)
            self.assertEqual(model["x"], x)
            linear = model.linearize(["u", "T"], ["y"])
            self.assertEqual((linear["A"], linear["C"], linear["states"]), ([[-0.5]], [[1]], ["x"]))
            with self.assertRaises(koine.ModelError):
                model.linearize(["q"])


class Values(unittest.TestCase):
    def test_a_string_is_a_text(self):
        with koine.Model(SOURCE / "tests" / "sim" / "strings" / "texts.ir", tier="interp", stop=1) as model:
            self.assertEqual(model["name"], "pump")
            self.assertIsNone(model["title"])  # computed
            model["name"] = "tap \u00e4"
            model.begin()
            model.step(0.25)
            self.assertEqual(model["label"], "tap \u00e4 [m/s]: off 000 idle")
            model.step(1)
            model.end()
            self.assertEqual(model["state"], "at  0.500|idle  |")

    def test_a_column_is_an_array(self):
        column = open_rise(stop=2).run()["X"]
        self.assertIsInstance(column, numpy.ndarray if HAS_NUMPY else array.array)
        self.assertEqual(len(column), 501)
        self.assertAlmostEqual(column[-1], 5, delta=1e-9)  # 1 + 2*2

    def test_a_column_outlives_its_result(self):
        column = open_rise(stop=2).run()["X"]
        others = [open_rise(stop=1).run()["X"] for _ in range(3)]
        self.assertAlmostEqual(column[-1], 5, delta=1e-9)
        self.assertAlmostEqual(others[0][-1], 3, delta=1e-9)

    def test_variables_are_described(self):
        x = open_rise().variables["X"]
        self.assertEqual((x.unit, x.type, x.variability, x.shape), ("m", "real", "continuous", ()))
        self.assertTrue(x.is_state and x.is_settable and not x.is_hidden)

    def test_values_are_set_between_runs(self):
        rise = open_rise(stop=2)
        for set_one in (lambda: rise.set(K=3), lambda: rise.set("K", 3), lambda: rise.set({"K": 3}),
                        lambda: rise.__setitem__("K", "3")):
            rise.set(K=1)
            set_one()
            self.assertEqual(rise["K"], 3)
            self.assertAlmostEqual(rise.run()["X"][-1], 7, delta=1e-9)  # 1 + 3*2

    def test_an_array_is_set_and_read(self):
        text = ("model m\n  parameter A(2,3)\n  local x=0\n  der(x) = A(1,3) + A(2,1)\nend\n")
        model = koine.Model("m.dym", text=text, tier="interp", stop=1)
        rows = [[1, 2, 3], [4, 5, 6]]
        model.set(A=numpy.array(rows) if HAS_NUMPY else rows)
        value = model["A"]
        self.assertEqual(value.tolist() if HAS_NUMPY else value, rows)
        self.assertAlmostEqual(model.run()["x"][-1], 7, delta=1e-9)  # 3 + 4
        self.assertEqual(model["A[2,1]"], 4)

    def test_unknown_names_are_key_errors(self):
        rise = open_rise(stop=1)
        self.assertRaises(KeyError, lambda: rise["Q"])
        self.assertRaises(KeyError, lambda: rise.run()["Q"])
        self.assertRaises(ValueError, rise.set, "K", float("nan"))

    def test_settings_hold_until_taken_back(self):
        rise = open_rise(stop=2)
        self.assertEqual(list(rise.run(variables=["X"])), ["time", "X"])
        self.assertEqual(list(rise.run()), ["time", "X"])
        self.assertEqual(set(rise.run(variables=None)), {"time", "X", "K"})
        self.assertAlmostEqual(rise.run(set={"K": 5, "X": 2})["X"][-1], 12, delta=1e-9)  # 2 + 5*2
        self.assertAlmostEqual(rise.run(set=None)["X"][-1], 5, delta=1e-9)


class Diagnostics(unittest.TestCase):
    def test_a_wrong_model_is_an_exception_with_data(self):
        with self.assertRaises(koine.ModelError) as caught:
            koine.Model("Bad.mdl", text=RISE.replace("END OF Rise", "END OF Fall"))
        error = caught.exception
        self.assertEqual((error.code, error.file, error.line, error.help), ("KN1101", "Bad.mdl", 7, "write END OF Rise"))
        self.assertIn("Fall", error.text)
        self.assertEqual(error.diagnostics[0].level, "error")
        self.assertIn("Bad.mdl:7:", str(error))

    def test_a_missing_file_is_told(self):
        self.assertRaisesRegex(koine.ModelError, "None.mdl", koine.Model, "/nowhere/None.mdl")
        self.assertRaises(OSError, koine.read, "/nowhere/none.csv")

    def test_wrong_settings_are_refused(self):
        rise = open_rise()
        self.assertRaisesRegex(koine.ModelError, "stop", rise.run)
        self.assertRaisesRegex(koine.ModelError, "nonsense", rise.run, stop=1, solver="nonsense")
        self.assertRaisesRegex(koine.ModelError, "KN4041", rise.set, Q=1)
        self.assertEqual(rise.run(solver=None).end, "done")

    def test_a_failed_run_keeps_its_results(self):
        text = RISE.replace("X' := K;", "X' := SQRT (1.5 - T);")
        model = koine.Model("Fails.mdl", text=text, tier="interp", stop=2)
        with self.assertRaises(koine.RunError) as caught:
            model.run()
        self.assertAlmostEqual(caught.exception.time, 1.5, delta=0.01)  # where the root's argument becomes negative
        self.assertEqual(caught.exception.result.end, "failed")
        self.assertGreater(caught.exception.result.rows, 100)
        self.assertTrue(str(caught.exception))


class Steps(unittest.TestCase):
    def test_steps_give_what_one_call_gives(self):
        ball = koine.Model(BALL, stop=2)
        whole = ball.run()
        ball.begin()
        t = 0.1
        while ball.step(t):
            self.assertAlmostEqual(ball.time, t, delta=1e-15)
            t += 0.1
        steps = ball.end()
        self.assertEqual(list(whole), list(steps))
        for name in whole:
            self.assertEqual(bytes(whole[name]), bytes(steps[name]), name)
        self.assertRaises(ValueError, ball.step, 3)
        self.assertRaises(ValueError, ball.end)

    def test_a_value_is_set_while_it_runs(self):
        rise = open_rise(stop=2)
        rise.begin()
        self.assertTrue(rise.step(1))
        rise.set(K=-1)
        self.assertLess(rise.result.rows, 300)
        self.assertIsNone(rise.result.end)
        self.assertFalse(rise.step(2))
        self.assertAlmostEqual(rise.end()["X"][-1], 2, delta=1e-9)  # 1 + 2 - 1
        self.assertAlmostEqual(rise.run()["X"][-1], 5, delta=1e-9)  # for that run alone

    def test_an_early_end_is_interrupted(self):
        rise = open_rise(stop=2)
        rise.begin()
        rise.step(1)
        self.assertEqual(rise.end().end, "interrupted")

    def test_reports_are_data(self):
        ball = koine.Model(BALL)
        self.assertIsNone(ball.report("statistics"))
        ball.run(stop=1)
        self.assertEqual(ball.report("statistics")["end"], "done")
        self.assertGreater(ball.report("statistics")["steps"], 10)
        self.assertIn("states", ball.report("structure"))
        self.assertIsInstance(ball.report("components"), str)

    def test_models_run_in_threads(self):
        ends = []

        def work():
            ends.append(koine.Model(BALL, tier="interp").run(stop=2)["Y"][-1])

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(ends), 3)
        self.assertEqual(len(set(ends)), 1)


class Interrupts(unittest.TestCase):
    def check_kept(self, ball):
        self.assertEqual(ball.result.end, "interrupted")
        self.assertGreater(ball.result.rows, 1)
        self.assertEqual(ball.result.time[-1], ball.time)
        self.assertEqual(ball.run(stop=1).end, "done")  # it can run again

    def run_long(self, swing, act):
        """A run that would take hours. Soon after it has begun, another thread acts."""
        swing.give(stop=1e9, interval=1, max_step=0.01)
        return swing.run(message=lambda *_: threading.Timer(0.2, act).start())

    def test_ctrl_c_ends_a_run_in_order(self):
        swing = koine.Model("Swing.mdl", text=SWING)
        handler = signal.getsignal(signal.SIGINT)
        self.assertRaises(KeyboardInterrupt, self.run_long, swing, lambda: os.kill(os.getpid(), signal.SIGINT))
        self.assertGreater(swing.time, 0)
        self.assertLess(swing.time, 1e9)
        self.assertIs(signal.getsignal(signal.SIGINT), handler)
        self.check_kept(swing)

    def test_ctrl_c_ends_a_step(self):
        swing = koine.Model("Swing.mdl", text=SWING, stop=1e9, interval=1, max_step=0.01)
        swing.begin()
        swing.step(1)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        self.assertRaises(KeyboardInterrupt, swing.step, 1e9)
        self.assertEqual(swing.end().end, "interrupted")
        self.check_kept(swing)

    def test_ctrl_c_in_a_callback(self):
        ball = koine.Model(BALL)

        def on_progress(at):
            if at > 0:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(10)

        begun = time.monotonic()
        self.assertRaises(KeyboardInterrupt, ball.run, stop=1e6, progress=on_progress)
        self.assertLess(time.monotonic() - begun, 8)
        self.check_kept(ball)

    def test_an_exception_of_a_callback_is_raised(self):
        ball = koine.Model(BALL)

        def on_progress(at):
            if at > 1:
                raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, ball.run, stop=1e6, progress=on_progress)
        self.check_kept(ball)

    def test_another_thread_interrupts(self):
        swing = koine.Model("Swing.mdl", text=SWING)
        self.assertEqual(self.run_long(swing, swing.interrupt).end, "interrupted")
        self.check_kept(swing)

    def test_progress_is_told_in_this_thread(self):
        told = []
        koine.Model(BALL).run(stop=20, progress=lambda at: told.append((at, threading.current_thread())))
        self.assertGreater(len(told), 1)
        self.assertEqual([at for at, _ in told], sorted(at for at, _ in told))
        self.assertEqual({thread for _, thread in told}, {threading.current_thread()})

    def test_messages_of_the_model_are_told(self):
        told = []
        text = ("BASIC COMPONENT Say\nDECLARATION OF ELEMENTS\nSTATE VARIABLES DISCRETE n (INT) := 0\nDYNAMIC BEHAVIOUR\n"
                "  WHENEVER n = 0 DO n^ := 1; DISPLAY (\"above %d\\n\", n); END\nEND OF Say\n")
        say = koine.Model("Say.mdl", text=text, tier="interp", stop=2)
        say.run(message=lambda *what: told.append(what))
        self.assertEqual(len(told), 1)
        self.assertIn("above 0", told[0][1])
        say.begin(message=lambda *what: told.append(what))
        say.step(1)
        say.set(n=0)  # once more
        say.step(2)
        say.end()
        self.assertEqual(len(told), 3)


class Results(unittest.TestCase):
    def test_files_are_read_and_compared(self):
        rise = open_rise(stop=2)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rise.csv"
            first = rise.run(output=file)
            self.assertEqual(koine.compare(first, file), [])
            self.assertEqual(koine.read(file).rows, first.rows)
            file.write_text("time,X\n0,1\n1,abc\n", encoding="utf-8")
            self.assertRaises(ValueError, koine.read, file)
        rise.set(K=2.1)
        worst = first.compare(rise.run(output=None))
        self.assertEqual([d.name for d in worst], ["K", "X"])
        self.assertAlmostEqual(worst[0].deviation, 0.1, delta=1e-6)
        self.assertEqual(len(koine.compare(first, rise.result, tube=1, absolute=1)), 0)

    def test_plots_are_drawn_on_axes(self):
        axes = mock.Mock()
        result = open_rise(stop=2).run()
        self.assertIs(result.plot("X", axes=axes, color="red"), axes)
        (times, values), style = axes.plot.call_args
        self.assertEqual((len(times), values[-1]), (result.rows, result["X"][-1]))
        self.assertEqual(style, {"label": "X", "color": "red"})
        axes.set_xlabel.assert_called_once_with("time")
        self.assertRaises(KeyError, result.plot, "Q", axes=axes)

    def test_plots_make_axes_of_matplotlib(self):
        pyplot, axes = mock.Mock(), mock.Mock()
        pyplot.subplots.return_value = (None, axes)
        with mock.patch.dict(sys.modules, {"matplotlib": mock.Mock(pyplot=pyplot), "matplotlib.pyplot": pyplot}):
            self.assertIs(open_rise(stop=2).run().plot(), axes)
        self.assertEqual(axes.plot.call_count, 2)  # K and X

    @unittest.skipUnless(HAS_NUMPY, "matplotlib needs numpy")
    def test_plots_are_pictures(self):
        try:
            import matplotlib
        except ImportError:
            if os.environ.get("CI"):
                raise
            self.skipTest("matplotlib is missing (apt-get install python3-matplotlib)")
        matplotlib.use("Agg")
        axes = open_rise(stop=2).run().plot("X")
        self.assertAlmostEqual(axes.lines[0].get_ydata()[-1], 5, delta=1e-9)  # 1 + 2*2
        with tempfile.NamedTemporaryFile(suffix=".png") as picture:
            axes.figure.savefig(picture.name)
            self.assertEqual(picture.read(8), b"\x89PNG\r\n\x1a\n")

    def test_without_matplotlib_the_reason_is_told(self):
        with mock.patch.dict(sys.modules, {"matplotlib": None}):
            self.assertRaisesRegex(ImportError, "python3-matplotlib", open_rise(stop=2).run().plot)


class Library(unittest.TestCase):
    def import_with(self, **environment):
        return subprocess.run([sys.executable, "-c", "import koine; print(koine.library_path)"], capture_output=True,
                              text=True, env={**os.environ, **environment}, check=False)

    def test_the_build_of_the_checkout_is_found(self):
        done = self.import_with(KOINE_LIBRARY="")
        path = SOURCE / "build" / "release" / library.NAME
        if path.exists():
            self.assertEqual(done.stdout.strip(), str(path))

    def test_the_library_can_be_named(self):
        folder = str(Path(koine.library_path).parent)
        self.assertEqual(self.import_with(KOINE_LIBRARY=folder).stdout.strip(), koine.library_path)
        done = self.import_with(KOINE_LIBRARY="/nowhere/libkoine.so")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("KOINE_LIBRARY", done.stderr)

    def test_the_versions_agree(self):
        self.assertIn(f"version = {koine.__version__}\n", (SOURCE / "python" / "setup.cfg").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()

"""Calls that take long, so that Ctrl-C and what the run tells arrive while they do.

Python hears of signals in its main thread only, and not while that is inside the library. So the library works in a
thread of its own, and the main thread waits for what comes: progress, messages of the model, the end, or Ctrl-C.
Callbacks are therefore called in the thread that has called run or step; the library waits until they are done.
"""
import ctypes
import queue
import signal
import threading

from .library import LEVELS, LIBRARY, ON_MESSAGE, ON_PROGRESS, Listener, text_of

ASK_AGAIN = 0.05  # seconds: beginning a run takes an earlier interrupt back


class Caller:
    """Works for one project. `progress(time)` and `message(level, text)` are called where they are given."""

    def __init__(self, project):
        self.project = project
        self.progress = None
        self.message = None
        self.interrupts = None
        self.tells = queue.SimpleQueue()
        self.answers = queue.SimpleQueue()
        tells, answers = self.tells, self.answers

        def tell(*what):
            tells.put(what)
            answers.get()

        self.on_message = ON_MESSAGE(lambda _, level, text: tell("message", LEVELS[level], text_of(text)))
        self.on_progress = ON_PROGRESS(lambda _, time: tell("progress", time))

    def listen(self, progress, message):
        """From now on these are called; None: nobody is."""
        self.progress, self.message = progress, message
        listener = Listener(None, self.on_message if message else ON_MESSAGE(),
                            self.on_progress if progress else ON_PROGRESS())
        LIBRARY.koine_listen(self.project, ctypes.byref(listener))

    def call(self, function):
        """Calls the function in a thread of its own, and gives what it gave.

        Ctrl-C and an exception of a callback interrupt the run in order; they are raised when it has come to rest.
        """
        raised, gives = [], []
        while not self.answers.empty():
            self.answers.get()

        def work():
            try:
                gives.append(function())
            finally:
                self.tells.put(None)

        with Interrupts(self.project) as self.interrupts:
            thread = threading.Thread(target=work, name="koine", daemon=True)
            thread.start()
            is_done = False
            while not is_done:
                try:
                    is_done = self.hear(raised)
                except BaseException as error:  # a handler of signals that is not ours
                    raised.append(error)
                    self.answers.put(None)
            thread.join()
        if raised:
            raise raised[0]
        return gives[0]

    def hear(self, raised):
        """Waits for the next thing that is told and passes it on. True: the work is done."""
        try:
            told = self.tells.get(timeout=ASK_AGAIN)
        except queue.Empty:
            if raised or self.interrupts.signals:
                LIBRARY.koine_interrupt(self.project)
            return False
        if told is None:
            return True
        try:
            if not raised:
                self.interrupts.is_passed_on = True
                getattr(self, told[0])(*told[1:])
                self.interrupts.is_passed_on = False
        except BaseException as error:
            self.interrupts.is_passed_on = False
            raised.append(error)
            LIBRARY.koine_interrupt(self.project)
        finally:
            self.answers.put(None)
        return False


class Interrupts:
    """While it is entered, Ctrl-C interrupts the run; when it is left, Python's own handler is called, which raises.

    So no exception comes while the library works. Other threads hear of no signals; nothing is changed for them, nor
    where SIGINT is ignored.
    """

    def __init__(self, project):
        self.project = project
        self.signals = []  # the arguments of those that came
        self.before = None  # the handler that was there; None: left alone
        self.is_passed_on = False  # a callback is called, which Ctrl-C ends as any Python

    def __enter__(self):
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self.before = signal.signal(signal.SIGINT, self.handle)
        return self

    def __exit__(self, *_):
        if self.before is None:
            return
        signal.signal(signal.SIGINT, self.before)
        if self.signals:
            self.before(*self.signals[0])

    def handle(self, number, frame):
        """The handler of the signal."""
        if self.is_passed_on and self.before:
            self.is_passed_on = False
            self.before(number, frame)
        else:
            self.signals.append((number, frame))
            LIBRARY.koine_interrupt(self.project)

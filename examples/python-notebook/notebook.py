"""A cup of tea in Python: cells of a notebook (# %%), for editors that know them, or as a script: python3 notebook.py"""
# %% A model, a run, a column
from pathlib import Path

import koine

HERE = Path(__file__).resolve().parent
cup = koine.Model(HERE / "cup.exp.yaml")
result = cup.run()
print(f"after half an hour: {result['T'][-1]:.2f} degrees")

# %% The same with other parameters: compiled once, run often
study = {}
for tau in (300, 600, 1200):
    cup.set(tau=tau)
    study[tau] = cup.run()
    print(f"tau = {tau}: {study[tau]['T'][-1]:.2f} degrees")

# %% Measured: 60 degrees after 10 minutes. Which tau is that? (-600/log(40/70) = 1072.2)
low, high = 300.0, 3000.0
cup.give(stop=600)
while high - low > 0.01:
    tau = (low + high)/2
    cup.set(tau=tau)
    if cup.run()["T"][-1] < 60:
        low = tau
    else:
        high = tau
print(f"tau = {tau:.1f}")

# %% Step by step: cold milk goes in after five minutes, or at the end
cup.give(stop=600)


def with_milk(when):
    """The temperature after ten minutes, a tenth of milk of 5 degrees added at that time."""
    cup.begin()
    cup.step(when)
    cup.set(T=0.9*cup["T"] + 0.1*5)
    while cup.step(cup.time + 60):
        pass
    return cup.end()


early, late = with_milk(300), with_milk(599)
print(f"milk early: {early['T'][-1]:.2f} degrees, late: {late['T'][-1]:.2f} degrees")

# %% How far are they apart?
for deviation in early.compare(late):
    print(f"{deviation.name} differs by {deviation.deviation:.2f} at {deviation.time:g} s")

# %% A picture, where matplotlib is installed
try:
    axes = early.plot("T")
    late.plot("T", axes=axes)
    axes.figure.savefig("milk.png")
    print("milk.png is drawn")
except ImportError as error:
    print(error)

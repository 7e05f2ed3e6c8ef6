"""A process that makes random calls, and says before each what it is about to do.

    python -m tests.fuzz.child SEED FIRST STOP TIER BUDGET [OPERATOR ...]

BUDGET: the processor seconds after which it makes no further call.

Prints one line of JSON per difference and per stage, so that its parent knows where it died.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import time
import warnings
from typing import Any

SPARE = 3 << 30
"""Bytes of address space that calls may ask for: what is too large is refused by the system."""
PATIENCE = 60
"""Seconds of processor time after which a call hangs: compiling takes some."""
ASLEEP = 600
"""Seconds after which it does so without working."""
PARENT = os.fdopen(os.dup(1), "w")
"""Where the parent reads. What libraries print goes to where errors go: MKL says on standard output
which parameter was wrong."""


def say(**facts: Any) -> None:
    """Write one line for the parent."""
    PARENT.write(json.dumps(facts) + "\n")
    PARENT.flush()


def limit_memory() -> None:
    """Allow some more address space than is in use."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE, used + SPARE))


def main(seed: int, first: int, stop: int, tier: str, budget: float, names: list[str]) -> None:
    """Make the calls [first, stop)."""
    import torch

    import torchgen_out
    from tests.fuzz import answers, random_calls

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torchgen_out.set_num_threads(1)
    random_calls.operators()
    limit_memory()
    for number in range(first, stop):
        if time.process_time() > budget:
            break
        call = random_calls.draw(seed, number, random_calls.TIERS[tier], names)
        name = call.operator.name
        turn = number // (len(names) or len(random_calls.operators()))
        found = {}
        for stage, library in (("theirs", torch), ("ours", torchgen_out)):
            say(number=number, stage=stage, operator=name, turn=turn)
            faulthandler.dump_traceback_later(ASLEEP, exit=True)
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            found[stage] = answers.answer(library, call, stage == "ours")
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
        for kind, what in answers.differences(call, found["ours"], found["theirs"]):
            say(turn=turn, operator=name, kind=kind, what=what, call=str(call))
    say(number=stop, stage="end")


if __name__ == "__main__":
    os.dup2(2, 1)
    arguments = sys.argv[1:]
    main(*map(int, arguments[:3]), arguments[3], float(arguments[4]), arguments[5:])

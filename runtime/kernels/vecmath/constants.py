"""Constants of the formula language that every type shares."""

import math

pi = math.pi
inf = math.inf
nan = math.nan

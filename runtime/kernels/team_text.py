"""The compiled side of joining a team: another library's threads make the calls of some blocks.

OpenMP's threads wait awake for milliseconds after the work of a library - PyTorch, scikit-learn -,
each on a processor that our worker would need. Whoever wakes the worker waits 20 us for it; the
thread that spins there is ready at once. So while a worker sleeps, the thread that has such a team
hands the calls to it.

A team's words lie in a block of their own, in which `take`, the function that its threads call,
finds its argument, too. They are a caller's to write, of which there is one at a time.
"""

from __future__ import annotations

TEAM = 0
"""Of the caller's block, which has no state: the address of the team's block, or 0."""

PARALLEL, MOST, NUMBER, COUNT = 0, 8, 16, 24
"""Addresses of the library's functions: GOMP_parallel; omp_get_max_threads; and within a team
omp_get_thread_num and omp_get_num_threads."""
TAKE, OTHER, OWNER, FILE, PROCESSORS = 32, 40, 48, 56, 80
"""The address of `take`; the block of the team that is tried after this; the thread whose team it
is; the name of the file about the system's load, and how many processors there are."""
BLOCKS, PARTS, OWN, LAST = 88, 96, 104, 112
"""The calls that are made; when the caller had made its own, and when the last were done."""
REST, DOUBT, BACK, LEAVE, STAY = 192, 200, 208, 216, 224
"""For how long the team was let alone last, as its threads came late; whether to ask the system
before it is joined again, since that happened soon after another time; until when it is let alone;
when it is left for our workers, in case that they can stay awake again; and after how long."""

LATE = 1_000_000
"""Nanoseconds for which a caller that is done waits for others that have as much to do: so long
only if they do not run."""
FIRST_REST, LAST_REST, SOON = 10_000_000, 640_000_000, 100_000_000
"""Nanoseconds for which such a team is let alone, doubled while it is late again SOON, or while no
processor is idle."""
LINGER = 2_000_000
"""Nanoseconds for which a team surely waits awake: short calls are no reason to wake it."""
TRIAL = 10_000_000
"""Nanoseconds for which it is left: longer than its threads wait awake, which is 3.4 to 7.9 ms."""
FIRST_STAY, LAST_STAY = 100_000_000, 3_200_000_000
"""Nanoseconds after which that is tried, doubled each time that the workers went back to sleep."""

NAMES = """
    TEAM PARALLEL MOST NUMBER COUNT TAKE OTHER OWNER FILE PROCESSORS BLOCKS PARTS OWN LAST
    REST DOUBT BACK LEAVE STAY LATE FIRST_REST LAST_REST SOON LINGER TRIAL FIRST_STAY LAST_STAY
"""

INTRINSIC = '''\
@intrinsic
def call_in_team(typingctx, parallel, function, argument):
    """GOMP_parallel: have each thread of the caller's team call a function; as many as it has."""

    def emit(context, builder, signature, args):
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [I64, I64, number, number])
        own = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(own, [args[1], args[2], number(0), number(0)])
        return args[0]

    return types.int64(types.int64, types.int64, types.int64), emit


own_thread = types.ExternalFunction("pthread_self", types.int64())
'''

TEXT = '''\
@entry
def take(team):
    """Make the calls of one of the team's threads: each has its own, whose memory is near it."""
    own, step = call(read(team + NUMBER), 0), call(read(team + COUNT), 0)
    blocks = read(team + BLOCKS)
    for part in range(own, read(team + PARTS), step):
        do(read(blocks + 8 * part))
    if own == 0:
        exchange(team + OWN, now(read(blocks)))
    return True


@inner
def let_alone(block, team, at):
    """Leave the team for a while; another library's is tried meanwhile."""
    is_again = at - read(team + BACK) < SOON
    rest = max(min(2 * read(team + REST), LAST_REST), FIRST_REST) if is_again else FIRST_REST
    exchange(team + REST, rest)
    exchange(team + BACK, at + rest)
    exchange(team + DOUBT, is_again)
    exchange(block + TEAM, read(team + OTHER))


@inner
def is_let_alone(block, team, at):
    """Whether the team's threads would be late, or our workers are tried."""
    if at < read(team + BACK):
        return True
    if read(team + DOUBT) != 0:
        # Is a processor idle? The library's own threads may have it: so it is tried now and then.
        others = read(team + PROCESSORS) - (1 if read(team + REST) < LAST_REST else 0)
        if somebody_waits(block, read(team + FILE), others):
            let_alone(block, team, at)
            return True
        exchange(team + DOUBT, 0)
    return False


@inner
def team_for(block, parts, wakes):
    """The team that is to make some calls, as a worker sleeps; 0 if none is."""
    team = read(block + TEAM)
    if team == 0 or read(team + OWNER) != own_thread():
        return 0
    at = now(block)
    idle = at - read(team + LAST)
    if is_let_alone(block, team, at) or (idle > LINGER and not wakes):
        return 0
    if call(read(team + MOST), 0) < parts:
        return 0
    if idle > SPIN:  # our workers were awake, or nobody was
        exchange(team + STAY, FIRST_STAY)
        exchange(team + LEAVE, at + FIRST_STAY)
    elif at >= read(team + LEAVE):
        exchange(team + STAY, min(2 * read(team + STAY), LAST_STAY))
        exchange(team + BACK, at + TRIAL)
        exchange(team + LEAVE, at + TRIAL + read(team + STAY))
        return 0
    return team


@inner
def join(team, blocks, parts):
    """Make the calls of some blocks with the team."""
    begun = now(blocks[0])
    exchange(team + BLOCKS, blocks.ctypes.data)
    exchange(team + PARTS, parts)
    call_in_team(read(team + PARALLEL), read(team + TAKE), team + WORDS)
    done, ended = read(team + OWN), now(blocks[0])
    exchange(team + LAST, ended)
    if ended - done > done - begun + LATE:
        let_alone(blocks[0], team, ended)
'''

"""Writes a page for each operator, from its entry and from what the generator derived.

    python pages.py [--times benchmark.md]

pages/NAME.md has the schema, the source, the statements as they are written, those of the gradients
as `python -m codegen explain` prints them, and the row of benchmark.py's table.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENTRY = re.compile(r"^- func: (?P<name>\w+)(?P<rest>.*?)(?=^- func: |\Z)", re.DOTALL | re.MULTILINE)
MOST_LINES = 12
"""Lines of one derived statement that a page shows; `explain` shows all."""
PICTURES = {
    "soft_dtw": """\
        j ->            r[i, j] needs three neighbours, so the elements of an
      0 1 2 3           antidiagonal (equal numbers) depend on those before alone.
    0 0-1-2-3           The text says only what each needs; the order follows.
    1 1-2-3-4
    2 2-3-4-5
""",
    "window_scores": """\
        s ->            out[t, w] = <q[t], k[t - w]>
      # . . . .
    t # # . . .         a band of the whole matrix of scores, and no more of it
    | # # # . .         is computed or stored: window = 3
    v . # # # .
      . . # # #
""",
    "local_correlation": """\
    b  . . . x-2 x-1  x  x+1 x+2 . .        radius = 2: five scores for each pixel
             |___|____|____|___|
    a  . . . . . . .  x  . . . . . .
""",
    "deformable_sample": """\
    a0,b0 ------- a0,b1     the point (py, px) lies between four pixels; each
      |   . p       |       has a share (1 - |py - a|)(1 - |px - b|), and none
    a1,b0 ------- a1,b1     of them need be in the image
""",
    "selective_scan": """\
    u[t] --delta*b--> (+) --> h[t] --c--> out[t]
                       ^        |
                       +- exp(delta*a) <- h[t - 1]
""",
}
"""Where one explains more than the statements do."""


def main() -> None:
    """Write all pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=Path, default=HERE / "benchmark.md")
    given = parser.parse_args()
    entries = {each["name"]: each[0] for each in ENTRY.finditer(_text("research_ops.yaml"))}
    gradients = _gradients(list(entries))
    times = given.times.read_text() if given.times.exists() else ""
    folder = HERE / "pages"
    folder.mkdir(exist_ok=True)
    for name, entry in entries.items():
        page = _page(name, entry, gradients.get(name, ""), times)
        (folder / f"{name}.md").write_text(page)


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _page(name: str, entry: str, gradients: str, times: str) -> str:
    schema = re.search(r"^- func: (.*)$", entry, re.MULTILINE)
    assert schema is not None
    statements = indented(entry, "index") or re.search(r"composite: (.*)", entry)[1]  # type: ignore[index]
    parts = [f"# {name}", f"```\n{schema[1]}\n```", indented(entry, "doc")]
    if name in PICTURES:
        parts.append(f"```\n{PICTURES[name].rstrip()}\n```")
    parts += ["## Statements", f"```\n{statements}\n```"]
    if gradients:
        parts += ["## Gradients, as the generator derived them", f"```\n{gradients}\n```"]
    rows = [line for line in times.splitlines() if line.startswith(f"| {name} |")]
    if rows:
        head = [line for line in times.splitlines() if line.startswith(("| operator", "| ---"))]
        note = "Times in turns with PyTorch's, as [benchmark.py](../benchmark.py) takes them:"
        parts += ["## Timing", note, "\n".join([*head, *rows])]
    return "\n\n".join(parts) + "\n"


def indented(entry: str, key: str) -> str:
    """The block under a key of an entry, without its indentation."""
    found = re.search(rf"^  {key}: \|\n((?:    .*\n|\n)*)", entry, re.MULTILINE)
    return "\n".join(line[4:] for line in found[1].rstrip().splitlines()) if found else ""


def _gradients(names: list[str]) -> dict[str, str]:
    """The statements of each operator's gradients."""
    options = ["--functions", "research_ops.yaml", "--derivatives", "research_derivatives.yaml"]
    command = [sys.executable, "-m", "codegen", "explain", *names, *options]
    command += ["--out", "build/research_ops"]
    environment = {"PYTHONPATH": str(HERE.parents[1]), "PATH": os.environ.get("PATH", "")}
    ran = subprocess.run(
        command, cwd=HERE, env=environment, check=True, capture_output=True, text=True
    )
    found, name = {}, ""
    for part in ran.stdout.split("\n\n"):
        first, *lines = part.splitlines()
        schema = re.match(r"(\w+)\(", first)
        if schema and schema[1] in names:
            name = schema[1]
        if first.startswith("Gradients, derived from them"):
            found[name] = "\n".join(_wrapped(line.removeprefix("  ")) for line in lines)
    return found


def _wrapped(statement: str) -> str:
    """A statement in lines; one that is longer than a page is cut, and says so."""
    lines = textwrap.wrap(statement, 96, subsequent_indent="    ", break_long_words=False)
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "    ..."])


if __name__ == "__main__":
    main()

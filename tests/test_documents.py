"""The documents name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOMES = (ROOT, ROOT / "runtime", ROOT / "runtime/library", ROOT / "torchgen_out")
"""Where a path in a document may begin."""
MADE = ("demo_output/", "my_ops/", "my_parts/", "benchmarks/results/cuda.md")
"""What a reader's own commands make."""
_PATH = re.compile(r"`((?:[\w.]+/)+[\w.]*)`")


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_files_named_in_documents_exist(document: Path) -> None:
    named = set(_PATH.findall(document.read_text(encoding="utf-8")))
    paths = [path for path in named if not path.startswith(MADE) and "F" not in path.split("/")]
    missing = [path for path in paths if not any((home / path).exists() for home in HOMES)]
    assert sorted(missing) == []

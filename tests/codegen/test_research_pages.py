"""Each operator of examples/research_ops has a page, with its statements as they are now."""

from __future__ import annotations

import re

from tests.research_package import RESEARCH, module_of


def test_pages_have_the_statements_of_the_entries() -> None:
    """`python pages.py` in the folder writes them."""
    pages = module_of("pages")
    entries = list(pages.ENTRY.finditer((RESEARCH / "research_ops.yaml").read_text()))
    assert len(entries) > 20
    readme = (RESEARCH / "README.md").read_text()
    for entry in entries:
        page = (RESEARCH / "pages" / f"{entry['name']}.md").read_text()
        assert pages.indented(entry[0], "index") in page
        assert pages.indented(entry[0], "doc") in page
        assert re.search(rf"\[{entry['name']}\]", readme) or entry["name"].endswith("_in_order")

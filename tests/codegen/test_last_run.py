"""After an edit only what it can have changed is read and emitted, and all is as a whole run's."""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import last_run, making, manifest, write
from codegen.emit import functions, index_kernels, kernels, operators
from codegen.errors import CodegenError
from codegen.project import LIBRARY, Project

ENTRY = """\
- func: {name}(Tensor x, Tensor y{further}) -> Tensor
  variants: function
  dtypes: floating
  {kind}: "{body}"
  samples: {{x: [-1, 1], y: [-1, 1]}}
  doc: |
    {doc}

"""
DERIVATIVE = "- name: {name}\n  x: auto\n  y: auto\n{also}\n"

INDEX = "out[i] = sum(j: x[i] * y[j])"
ENTRIES: dict[str, dict[str, str]] = {
    "wave": {"kind": "pointwise", "body": "x * x + y"},
    "tide": {"kind": "pointwise", "body": "wave(wave(x, y), y)"},
    "alone": {"kind": "pointwise", "body": "x - y"},
    "rows": {"kind": "index", "body": INDEX},
    "columns": {"kind": "index", "body": "out[i] = sum(j: x[j] + y[i])"},
    "follow": {
        "kind": "index",
        "body": "out[i] = x[i] * y[i]\\nz[i] = z[i] + x[i]",
        "further": ", Tensor(a!) z",
        "also": "  z: non_differentiable\n",
    },
    "both": {"kind": "composite", "body": "tide(x, y) + alone(x, y)"},
}


class Generating:
    """A project in a folder, and of which operators each run made texts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.entries = {name: dict(entry) for name, entry in ENTRIES.items()}
        self.head = ""
        self.underived = {"both"}
        self._functions, self._derivatives = folder / "functions.yaml", folder / "derivatives.yaml"
        self.project = Project(self._functions, self._derivatives, folder / "out")
        self.made: set[str] = set()
        for module, name in (
            (functions, "_item"),
            (operators, "_item"),
            (index_kernels, "program_text"),
            (kernels, "_with_all_parameters"),
        ):
            monkeypatch.setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, make: Callable[..., object]) -> Callable[..., object]:
        def counted(*args: object, **given: object) -> object:
            self.made |= {name for each in args if isinstance(name := _name(each), str)}
            return make(*args, **given)

        return counted

    def save(self) -> None:
        """Write both files."""
        texts = []
        for name, entry in self.entries.items():
            known = {"further": "", "doc": "A function."}
            text = ENTRY.format(name=name, **(known | entry))
            texts.append(text.replace("  dtypes: floating\n", "") if name == "both" else text)
        self._functions.write_text(self.head + "".join(texts))
        names = [name for name in self.entries if name not in self.underived]
        also = {name: self.entries[name].get("also", "") for name in names}
        texts = [DERIVATIVE.format(name=name, also=also[name]) for name in names]
        self._derivatives.write_text("".join(texts))

    def run(self) -> set[str]:
        """The operators of which an edit makes texts; they are those of a whole run."""
        self.save()
        self.made.clear()
        files = making.make_again(self.project).files
        made = set(self.made)
        assert making.make(self.project).files == files
        return made

    def run_whole(self) -> None:
        """Make everything, and keep it."""
        self.save()
        made = making.make(self.project)
        write.write(self.project.out, made.files)
        last_run.keep(self.project, made.reading, made.texts)

    @property
    def place(self) -> Path:
        """The file that is kept."""
        return self.project.out / manifest.CACHE / last_run.NAME


def _name(each: object) -> object:
    return getattr(each, "name", None)


@pytest.fixture
def generating(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generating:
    found = Generating(monkeypatch, tmp_path)
    found.run_whole()
    return found


def adjoints(name: str) -> set[str]:
    """The operators that are derived of an index operator."""
    return {f"_{name}_backward", f"_{name}_backward_backward"}


def test_nothing_is_made_of_entries_that_moved(generating: Generating) -> None:
    assert generating.run() == set()
    generating.entries["wave"]["doc"] = "A function.\n\n    It is described."
    assert generating.run() == {"wave", "tide"}  # whose text has the word
    generating.entries = {"added": {"kind": "pointwise", "body": "y - x"}, **ENTRIES}
    assert generating.run() == {"added"}


def test_formulas_take_in_others(generating: Generating) -> None:
    generating.entries["wave"]["body"] = "x * x - y"
    assert generating.run() == {"wave", "tide"}
    generating.entries["alone"]["body"] = "x + y"
    assert generating.run() == {"wave", "tide", "alone"}  # since the last whole run


def test_who_mentions_a_name_is_read_again_if_it_is_another(generating: Generating) -> None:
    generating.entries["alone"]["further"] = ", Scalar z=1"
    generating.entries["alone"]["body"] = "x - y * z"
    assert generating.run() == {"alone", "both"}


def test_adjoints_follow_their_operator(generating: Generating) -> None:
    generating.entries["rows"]["body"] = "out[i] = sum(j: x[i] - y[j])"
    assert generating.run() == {"rows"} | adjoints("rows")
    generating.underived.add("rows")  # is an error: it has floating operands
    with pytest.raises(CodegenError, match="E4"):
        generating.run()


def test_what_makes_new_values_follows_its_operator(generating: Generating) -> None:
    generating.entries["follow"]["body"] = "out[i] = x[i] - y[i]\\nz[i] = y[i]"
    assert generating.run() == {"follow", "_follow_values"} | adjoints("follow_values")
    generating.entries["follow"]["further"] = ", Tensor z"
    generating.entries["follow"]["body"] = "out[i] = x[i] - y[i] * z[i]"
    assert generating.run() == {"follow"} | adjoints("follow")


def test_what_is_gone_is_gone(generating: Generating) -> None:
    del generating.entries["columns"]
    assert generating.run() == set()
    del generating.entries["alone"]
    with pytest.raises(CodegenError, match=r"functions\.yaml:\d+:\d+: error\[E425\]: both"):
        generating.run()


def test_a_new_order_is_read_as_a_whole(generating: Generating) -> None:
    generating.entries = dict(reversed(ENTRIES.items()))
    with pytest.raises(CodegenError, match="wave"):  # it is below what calls it
        generating.run()


def test_a_mistake_is_told_at_its_place(generating: Generating) -> None:
    generating.head = "# a line\n# and another\n"
    generating.entries["alone"]["body"] = "x - z"
    with pytest.raises(CodegenError) as told:
        generating.run()
    line = generating.project.functions.read_text().split("\n").index('  pointwise: "x - z"') + 1
    assert f"functions.yaml:{line}:" in str(told.value)


def test_the_files_are_those_that_are_written(generating: Generating) -> None:
    write.write(generating.project.out, making.make_again(generating.project).files)
    assert generating.place.is_file()  # in the new folder, too
    generating.entries["alone"]["body"] = "y - x"
    generating.save()
    changes = write.write(generating.project.out, making.make_again(generating.project).files)
    assert "kernels/pointwise.py" in changes.written
    assert "kernels/index/rows.py" in changes.unchanged and generating.place.is_file()


class Harmful:
    """What would run a command when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("exit 7",)


def test_damage_is_not_believed(generating: Generating, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generating.place.read_bytes()
    head, _, content = whole.partition(b"\n")
    ran: list[str] = []
    monkeypatch.setattr(os, "system", ran.append)
    for damaged in (
        *(whole[: len(whole) * i // 7] for i in range(7)),
        head + b"\n" + pickle.dumps(Harmful()),
        head + b"\n" + pickle.dumps([1, 2]),
        b"[]\n" + content,
        json.dumps({"generator": "another"}).encode() + b"\n" + content,
    ):
        generating.place.write_bytes(damaged)
        generating.made.clear()
        made = making.make_again(generating.project)
        assert generating.made >= ENTRIES.keys() and made.reading
    assert not ran


def _edited(text: str, pattern: str, by: str) -> str:
    changed, count = re.subn(pattern, by, text, count=1, flags=re.MULTILINE)
    assert count == 1, pattern
    return changed


ADDED = """\
- func: shiny(Tensor self, Scalar beta=1) -> Tensor
  variants: function, method, inplace, out
  dtypes: floating
  promotion: int_to_float
  pointwise: "self * tanh(beta * self)"
  samples: {self: [-3, 3]}
  doc: Shine.

"""


def test_the_library_after_many_edits_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path / "functions.yaml", tmp_path / "derivatives.yaml", tmp_path / "out")
    assert LIBRARY.derivatives and project.derivatives
    functions, derivatives = LIBRARY.functions.read_text(), LIBRARY.derivatives.read_text()
    project.functions.write_text(functions)
    project.derivatives.write_text(derivatives)
    made = making.make(project)
    project.out.mkdir()
    last_run.keep(project, made.reading, made.texts)
    functions = _edited(functions, r"^  pointwise: self \* other$", "  pointwise: other * self * 1")
    functions = _edited(functions, r"^- func: addcmul\b", ADDED + r"\g<0>")  # and all moves down
    functions = _edited(functions, r"(func: nll_loss_forward\(.*\n(?:  .*\n)*?)  doc: \|\n",
                        r"\g<1>  doc: |\n    A word more.\n")  # fmt: skip
    functions = _edited(functions, r"(func: dist\(.*), Scalar p=2\)", r"\g<1>, Scalar p=1)")
    derivatives = _edited(
        derivatives, r"^- name: addcmul\b", "- name: shiny\n  self: auto\n\n\\g<0>"
    )
    project.functions.write_text(functions)
    project.derivatives.write_text(derivatives)
    found = last_run.again(project)
    assert found is not None and {"mul.Tensor", "shiny", "dist"} <= (found[0].again or set())
    again = {file.path: file.text for file in making.make_again(project).files}
    assert again == {file.path: file.text for file in making.make(project).files}

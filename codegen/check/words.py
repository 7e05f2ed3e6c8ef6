"""Rules about closed vocabularies: every word of an entry is a known one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ..errors import did_you_mean
from ..model import vocabulary
from ..model.operator import Composite, Dispatch, Index, Operator
from .rules import Context, Problem, operator_rule


def _unknown(
    operator: Operator, key: str, what: str, words: Collection[str], known: Collection[str]
) -> Iterator[Problem]:
    for word in words:
        if word in known:
            continue
        hint = did_you_mean(word, known)
        if hint is None and len(known) <= 12:
            hint = "known: " + ", ".join(known)
        where = operator.places.word(word, key)
        message = f"{operator.name}: unknown {what} '{word}'"
        yield Problem(where, message, hint, width=len(word))


@operator_rule("E301")
def variants_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """A variant is function, method, inplace, out or copy."""
    return _unknown(operator, "variants", "variant", operator.variants, vocabulary.VARIANTS)


@operator_rule("E302")
def python_module_is_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """python_module is one of the library's namespaces."""
    words = (operator.python_module,)
    return _unknown(operator, "python_module", "module", words, vocabulary.PYTHON_MODULES)


@operator_rule("E303")
def dunders_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """`operators` are special methods of Python."""
    return _unknown(operator, "operators", "operator", operator.dunders, vocabulary.DUNDERS)


@operator_rule("E304")
def dtype_set_is_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """`dtypes` names one of the dtype sets."""
    word = operator.dtypes
    sets = [name for name, members in vocabulary.DTYPE_SETS.items() if word in members]
    for problem in _unknown(operator, "dtypes", "dtype set", (word,), vocabulary.DTYPE_SETS):
        yield replace(problem, hint=f"{word} is in: {', '.join(sets)}") if sets else problem


@operator_rule("E305")
def promotion_is_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """`promotion` names a rule; in parentheses stand arguments that hold tensors or Scalars."""
    promotion = operator.promotion
    known = vocabulary.PROMOTIONS
    yield from _unknown(operator, "promotion", "promotion rule", (promotion.rule,), known)
    names = [a.name for a in operator.arguments if a.type.holds_tensors or "Scalar" in a.type.names]
    yield from _unknown(operator, "promotion", "argument", promotion.arguments or (), names)


@operator_rule("E306")
def tags_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """A tag is one of the documented ones."""
    return _unknown(operator, "tags", "tag", operator.tags, vocabulary.TAGS)


@operator_rule("E307")
def backends_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """`dispatch` and `faster` map backends to kernels."""
    if isinstance(operator.kind, Dispatch):
        words = [backend for backend, _ in operator.kind.backends]
        yield from _unknown(operator, "dispatch", "backend", words, vocabulary.BACKENDS)
    if isinstance(operator.kind, Index):
        words = [backend for backend, _ in operator.kind.faster]
        yield from _unknown(operator, "faster", "backend", words, vocabulary.TEXT_BACKENDS)


@operator_rule("E331")
def layouts_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """`layouts` maps layouts to composites, of an entry whose calls are looked up by their keys."""
    words = [layout for layout, _ in operator.layouts]
    yield from _unknown(operator, "layouts", "layout", words, vocabulary.LAYOUTS)
    if words and isinstance(operator.kind, Composite):
        message = f"{operator.name}: a composite is made of operators that know the layout"
        where = operator.places.key("layouts")
        yield Problem(where, message, "delete 'layouts'", width=len("layouts"))


@operator_rule("E332")
def structures_are_known(operator: Operator, context: Context) -> Iterator[Problem]:
    """`vmap` is a structure or a composite, of an entry whose calls are looked up by their keys."""
    if isinstance(operator.vmap, str):
        yield from _unknown(operator, "vmap", "structure", [operator.vmap], vocabulary.VMAP)
    if operator.vmap and isinstance(operator.kind, Composite):
        message = f"{operator.name}: a composite is made of operators that have their own rules"
        yield Problem(operator.places.key("vmap"), message, "delete 'vmap'", width=len("vmap"))


@operator_rule("E308")
def aliases_are_names(operator: Operator, context: Context) -> Iterator[Problem]:
    """An alias is a Python name, perhaps in another module: `special.expit`."""
    for alias, (module, name) in zip(operator.aliases, operator.public_aliases, strict=True):
        where = operator.places.word(alias, "aliases")
        if not name.isidentifier():
            message = f"{operator.name}: alias '{alias}' is no name"
            yield Problem(where, message, "separate aliases by commas", width=len(alias))
        elif module not in vocabulary.PYTHON_MODULES:
            message = f"{operator.name}: unknown module '{module}'"
            hint = did_you_mean(module, vocabulary.PYTHON_MODULES)
            yield Problem(where, message, hint, width=len(alias))


@operator_rule("E313")
def aliasing_names_arguments(operator: Operator, context: Context) -> Iterator[Problem]:
    """`aliasing` and `memory_format` name tensor arguments."""
    if isinstance(operator.kind, Dispatch | Index):
        names = [argument.name for argument in operator.differentiable_arguments]
        for key in ("aliasing", "memory_format"):
            words = getattr(operator.kind, key, ())
            yield from _unknown(operator, key, "tensor argument", words, names)

"""`torch.hub`: models from a folder's `hubconf.py`, and files kept after their first download.

Repositories on GitHub are not fetched: their code would run here unseen. A clone of one is a
folder, which `source="local"` loads.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib import request
from urllib.parse import urlparse

import torchgen_out as torch
from torchgen_out._runtime import errors

__all__ = [
    "HASH_REGEX",
    "_get_torch_home",
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "load_url",
    "set_dir",
    "tqdm",
    "urlparse",
]  # fmt: skip

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
try:
    from tqdm import tqdm
except ImportError:

    class tqdm:  # type: ignore[no-redef]  # one of the two is there
        """Shows nothing, where the package that shows progress is not installed."""

        def __init__(self, iterable: Any = (), **options: Any) -> None:
            self._iterable = iterable

        def __iter__(self) -> Iterator[Any]:
            return iter(self._iterable)

        def __enter__(self) -> tqdm:
            return self

        def __exit__(self, *raised: object) -> None:
            self.close()

        def update(self, n: int = 1) -> None:
            """Show nothing."""

        def close(self) -> None:
            """Show nothing."""


_CHUNK = 128 * 1024
_folder: str | None = None


def get_dir() -> str:
    """Return the folder of downloads: `set_dir`'s, or $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME") or os.path.join(cache, "torch"))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloads."""
    global _folder
    _folder = os.path.expanduser(d)


@contextmanager
def _importable(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _hubconf(repo: str | os.PathLike[str], source: str, function: str) -> ModuleType:
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise errors.not_provided(
            f'torch.hub.{function} with source="github"',
            f'clone {repo} and call torch.hub.{function}(folder, ..., source="local")',
        )
    folder = os.path.abspath(os.fspath(repo))
    path = os.path.join(folder, "hubconf.py")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path}: a folder that torch.hub loads has a hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _importable(folder):
        spec.loader.exec_module(module)
    missing = [
        name
        for name in getattr(module, "dependencies", ())
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: ModuleType, model: str) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def list(
    github: str | os.PathLike[str],
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
    source: str | None = None,
) -> builtins.list[str]:
    """Return the names of the models of a folder's `hubconf.py`."""
    module = _hubconf(github, source or _source_of(github), "list")
    return [
        name for name, each in vars(module).items() if callable(each) and not name.startswith("_")
    ]


def help(
    github: str | os.PathLike[str],
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    source: str | None = None,
) -> str | None:
    """Return what is written about a model of a folder's `hubconf.py`."""
    entry = _entry(_hubconf(github, source or _source_of(github), "help"), model)
    written: str | None = entry.__doc__
    return written


def _source_of(repo: str | os.PathLike[str]) -> str:
    return "local" if os.path.isdir(repo) else "github"


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Return what a function of the folder's `hubconf.py` makes: `source` must be "local".

    **Raises** NotImplementedError for a repository on GitHub, FileNotFoundError for a folder
    without a `hubconf.py`.
    """
    entry = _entry(_hubconf(repo_or_dir, source.lower(), "load"), model)
    with _importable(os.path.abspath(os.fspath(repo_or_dir))):
        return entry(*args, **kwargs)


def download_url_to_file(
    url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what a URL gives to a file, at once or not at all.

    `hash_prefix`: how its SHA-256 must begin. **Raises** RuntimeError if it does not.
    """
    path = Path(dst).expanduser()
    digest = hashlib.sha256()
    opened = request.Request(url, headers={"User-Agent": "torchgen.hub"})
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as file:
        try:
            with request.urlopen(opened) as response:
                while chunk := response.read(_CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
            file.close()
            if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")'
                )
            shutil.move(file.name, path)
        finally:
            Path(file.name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load a file of weights that a URL gives; what was downloaded before is not fetched again.

    `check_hash`: the name ends in `-` and the beginning of the file's SHA-256.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else os.fspath(model_dir)
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    return torch.load(path, map_location=map_location, weights_only=weights_only)


load_url = load_state_dict_from_url

"""A wheel of packs: files that `pip install` puts where the library looks for them."""

from __future__ import annotations

import base64
import hashlib
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

from torchgen_out._runtime.kernels.machine.installed import FOLDER

METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Compiled kernels for torchgen-out
Requires-Python: >=3.10
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: torchgen-out
Root-Is-Purelib: true
Tag: {tag}
"""


def write(name: str, version: str, packs: Sequence[Path], folder: Path) -> Path:
    """Write a wheel of packs for this system into a folder, and return its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    about = f"{stem}.dist-info"
    files = {f"{FOLDER}/{path.name}": path.read_bytes() for path in packs}
    files[f"{about}/METADATA"] = METADATA.format(name=name, version=version).encode()
    files[f"{about}/WHEEL"] = WHEEL.format(tag=tag).encode()
    rows = [f"{place},sha256={_hash(content)},{len(content)}" for place, content in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""]).encode()
    wheel = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            information = zipfile.ZipInfo(place)  # of no time: equal packs make equal wheels
            information.external_attr = 0o644 << 16
            archive.writestr(information, content)
    return wheel


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

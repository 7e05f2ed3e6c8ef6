"""Digests, by which code is known. `hashlib` brings OpenSSL along, so it is loaded with the first:
a process that calls no kernel does without those 3 ms."""

from __future__ import annotations

SHA1_BYTES = 20


def sha1(content: bytes) -> str:
    """As hexadecimal digits."""
    import hashlib

    return hashlib.sha1(content).hexdigest()


def sha256(text: str) -> str:
    """As hexadecimal digits."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def blake2b(content: bytes | memoryview, nbytes: int) -> bytes:
    """Of so many bytes."""
    import hashlib

    return hashlib.blake2b(content, digest_size=nbytes).digest()

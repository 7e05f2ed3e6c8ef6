"""Compiled objects linked to images: one run of bytes that works wherever it is placed.

LLVM leaves an object file (ELF) whose sections refer to each other and to functions elsewhere. Here
the sections are laid behind each other and their references to each other are worked out; what lies
elsewhere gets a slot, a word that the loader fills with its address. All that remains to be done to
an image in memory is to fill its slots, and to add its own address to the words that hold places
within it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple


class Image(NamedTuple):
    """Position-independent machine code with its constants.

    entries: where its functions begin. slots: places of words that take addresses of other
    functions, by name. absolute: places of words that hold a place in the image, to which its
    address is added.
    """

    code: bytes
    entries: dict[str, int]
    slots: tuple[tuple[int, str], ...]
    absolute: tuple[int, ...]


class Unlinkable(Exception):
    """An object holds what an image cannot."""


ALLOCATED, WRITABLE = 2, 1  # flags of a section
NO_BITS, SYMBOLS, RELOCATIONS = 8, 2, 4  # kinds of sections
UNDEFINED = 0  # the section of a symbol that is elsewhere
X86_64, AARCH64 = 62, 183  # machines
DROPPED = (".eh_frame", ".note", ".comment", ".llvm")
"""Sections that nothing in kernels looks at: no error is thrown through one."""


class _Section(NamedTuple):
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    target: int
    alignment: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


class _Relocation(NamedTuple):
    place: int
    kind: int
    symbol: _Symbol
    addend: int


def link(content: bytes, entries: Sequence[str]) -> Image:
    """Make an image of an object file. entries: the functions that are called.

    Raises: Unlinkable for another format or machine, unknown relocations, or memory to write to.
    """
    if content[:6] != b"\x7fELF\x02\x01":
        raise Unlinkable("no 64-bit ELF object")
    (machine,) = struct.unpack_from("<H", content, 18)
    linker = {X86_64: _LinkerX86, AARCH64: _LinkerArm}.get(machine)
    if linker is None:
        raise Unlinkable(f"objects for machine {machine} are not known")
    return linker(content).image(entries)


class _Linker:
    """What the machines share. Places count from the beginning of the image, which is a page's."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.sections = list(self._read_sections())
        self.symbols: list[_Symbol] = []
        self.places: dict[int, int] = {}  # where a section begins in the image
        self.slots: dict[str, int] = {}
        self.stubs: dict[str, int] = {}
        self.absolute: list[int] = []
        self.code = bytearray()

    def image(self, entries: Sequence[str]) -> Image:
        """Lay out, resolve, and seal."""
        for number, section in enumerate(self.sections):
            if section.kind == SYMBOLS:
                self.symbols = list(self._read_symbols(section))
            if section.flags & ALLOCATED and not section.name.startswith(DROPPED):
                self._lay(number, section)
        relocations = list(self._relocations())
        for each in relocations:
            if each.symbol.section == UNDEFINED and each.symbol.name:
                self._make_room(each.symbol.name)
        for each in relocations:
            self._apply(each)
        known = {each.name: each for each in self.symbols if each.section != UNDEFINED}
        starts = {name: self._place_of(known[name]) for name in entries}
        slots = tuple((place, name) for name, place in self.slots.items())
        return Image(bytes(self.code), starts, slots, tuple(self.absolute))

    def _lay(self, number: int, section: _Section) -> None:
        if section.flags & WRITABLE and section.size and ".data.rel.ro" not in section.name:
            raise Unlinkable(f"its section {section.name} is written to")
        self._align(max(section.alignment, 16))
        self.places[number] = len(self.code)
        end = section.offset + section.size
        is_zero = section.kind == NO_BITS
        self.code += bytes(section.size) if is_zero else self.content[section.offset : end]

    def _make_room(self, name: str) -> None:
        """A slot for what lies elsewhere, and code that jumps there."""
        if name in self.slots:
            return
        self._align(8)
        self.slots[name] = len(self.code)
        self.code += bytes(8)
        self._align(4)
        self.stubs[name] = len(self.code)
        self.code += self._stub(self.stubs[name], self.slots[name])

    def _align(self, multiple: int) -> None:
        self.code += bytes(-len(self.code) % multiple)

    def _place_of(self, symbol: _Symbol) -> int:
        start = self.places.get(symbol.section)
        if start is None:
            raise Unlinkable(f"{symbol.name or 'a section'} is nowhere in the object")
        return start + symbol.value

    def _put(self, form: str, place: int, value: int) -> None:
        try:
            struct.pack_into(form, self.code, place, value)
        except struct.error:
            raise Unlinkable("a reference is too far") from None

    def _put_address(self, each: _Relocation) -> None:
        """A whole address: of what lies elsewhere, or of a place in the image."""
        if each.symbol.section == UNDEFINED:
            raise Unlinkable(f"a table holds the address of {each.symbol.name}")
        self._put("<q", each.place, self._place_of(each.symbol) + each.addend)
        self.absolute.append(each.place)

    def _target(self, each: _Relocation) -> int:
        """Where a reference within the code leads: for what lies elsewhere to its stub."""
        if each.symbol.section == UNDEFINED:
            return self.stubs[each.symbol.name] + each.addend
        return self._place_of(each.symbol) + each.addend

    def _slot(self, each: _Relocation) -> int:
        """The slot that holds an address; what lies in the object has none yet."""
        name = each.symbol.name
        if each.symbol.section == UNDEFINED:
            return self.slots[name]
        own = f"{name}@{each.symbol.section}:{each.symbol.value}"
        if own not in self.stubs:
            self._align(8)
            self.stubs[own] = len(self.code)
            self.code += struct.pack("<q", self._place_of(each.symbol))
            self.absolute.append(self.stubs[own])
        return self.stubs[own]

    def _apply(self, relocation: _Relocation) -> None:
        raise NotImplementedError

    def _stub(self, place: int, slot: int) -> bytes:
        raise NotImplementedError

    # Reading the object.

    def _read_sections(self) -> Iterator[_Section]:
        (table,) = struct.unpack_from("<Q", self.content, 40)
        count, names = struct.unpack_from("<HH", self.content, 60)
        rows = [
            struct.unpack_from("<IIQQQQIIQQ", self.content, table + 64 * i) for i in range(count)
        ]
        for name, kind, flags, _, offset, size, at, target, alignment, _ in rows:
            text = self._text(rows[names][4] + name)
            yield _Section(text, kind, flags, offset, size, at, target, alignment)

    def _read_symbols(self, table: _Section) -> Iterator[_Symbol]:
        names = self.sections[table.link].offset
        for at in range(table.offset, table.offset + table.size, 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.content, at)
            yield _Symbol(self._text(names + name), section, value)

    def _relocations(self) -> Iterator[_Relocation]:
        for section in self.sections:
            if section.kind != RELOCATIONS or section.target not in self.places:
                continue
            start = self.places[section.target]
            for at in range(section.offset, section.offset + section.size, 24):
                place, about, addend = struct.unpack_from("<QQq", self.content, at)
                symbol = self.symbols[about >> 32]
                yield _Relocation(start + place, about & 0xFFFFFFFF, symbol, addend)

    def _text(self, start: int) -> str:
        return self.content[start : self.content.index(b"\0", start)].decode()


class _LinkerX86(_Linker):
    """x86-64: all references are 32-bit distances from the instruction."""

    ADDRESS, DISTANCE, CALL = 1, 2, 4
    FROM_SLOT = (9, 41, 42)
    FAR = 24  # a 64-bit distance

    def _apply(self, relocation: _Relocation) -> None:
        each = relocation
        if each.kind == self.ADDRESS:
            self._put_address(each)
        elif each.kind in (self.DISTANCE, self.CALL):
            self._put("<i", each.place, self._target(each) - each.place)
        elif each.kind in self.FROM_SLOT:
            self._put("<i", each.place, self._slot(each) + each.addend - each.place)
        elif each.kind == self.FAR:
            self._put("<q", each.place, self._target(each) - each.place)
        else:
            raise Unlinkable(f"relocation {each.kind} is not known")

    def _stub(self, place: int, slot: int) -> bytes:
        return b"\xff\x25" + struct.pack("<i", slot - place - 6)  # jmp *slot(%rip)


class _LinkerArm(_Linker):
    """AArch64: pages and places in them, which hold as the image begins at a page."""

    ADDRESS, DISTANCE, FAR = 257, 261, 260
    PAGE, PAGE_OF_SLOT, FROM_SLOT = 275, 311, 312
    CALLS = (282, 283)
    IN_PAGE: ClassVar[dict[int, int]] = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
    """Relocations of the last 12 bits of an address, and the shift of the instruction."""

    def _apply(self, relocation: _Relocation) -> None:
        each = relocation
        if each.kind == self.ADDRESS:
            self._put_address(each)
        elif each.kind == self.DISTANCE:
            self._put("<i", each.place, self._target(each) - each.place)
        elif each.kind == self.FAR:
            self._put("<q", each.place, self._target(each) - each.place)
        elif each.kind in self.CALLS:
            distance = self._target(each) - each.place
            if not -(1 << 27) <= distance < 1 << 27:
                raise Unlinkable("a call is too far")
            self._or(each.place, distance >> 2 & 0x3FFFFFF)
        elif each.kind == self.PAGE:
            self._or(each.place, self._page(self._target(each), each.place))
        elif each.kind == self.PAGE_OF_SLOT:
            self._or(each.place, self._page(self._slot(each), each.place))
        elif each.kind == self.FROM_SLOT:
            self._or(each.place, (self._slot(each) & 0xFFF) >> 3 << 10)
        elif each.kind in self.IN_PAGE:
            shift = self.IN_PAGE[each.kind]
            self._or(each.place, (self._target(each) & 0xFFF) >> shift << 10)
        else:
            raise Unlinkable(f"relocation {each.kind} is not known")

    def _or(self, place: int, bits: int) -> None:
        (word,) = struct.unpack_from("<I", self.code, place)
        self._put("<I", place, word | bits)

    @staticmethod
    def _page(target: int, place: int) -> int:
        """The bits of an instruction that makes the address of a page."""
        pages = (target >> 12) - (place >> 12)
        return (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5

    def _stub(self, place: int, slot: int) -> bytes:
        page = 0x90000010 | self._page(slot, place)  # adrp x16, slot
        read = 0xF9400210 | (slot & 0xFFF) >> 3 << 10  # ldr x16, [x16, slot]
        return struct.pack("<III", page, read, 0xD61F0200)  # br x16

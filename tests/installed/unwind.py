#!/usr/bin/python3
"""Whether an exception finds its way through every function of a linked program: its tables of unwinding, as they lie in
the file (Linux Standard Base, "Exception Frames": .eh_frame and .eh_frame_hdr).

Each part of a function has an entry in .eh_frame (an FDE), and the unwinder looks for it in the sorted table of
.eh_frame_hdr. Two entries at one address hide each other: of such a pair a linker may keep the one of length 0, and
whatever the other function throws then ends the program. So no two entries may begin at one address, none may lie within
another, and the table must have exactly one row for each.

usage: unwind.py PROGRAM...
"""
import struct
import sys


class Wrong(Exception):
    pass


class Elf:
    """The sections of a 64-bit little-endian ELF file, and the names of its functions where it is not stripped."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise Wrong(f"{path} is no 64-bit little-endian ELF file")
        place, = struct.unpack_from("<Q", self.bytes, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 0x3A)
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, place + i * size) for i in range(count)]
        self.sections = {}
        for name, kind, _, address, offset, length, link, _, _, _ in rows:
            begin = rows[names][4] + name
            title = self.bytes[begin:self.bytes.index(b"\0", begin)].decode()
            self.sections[title] = (kind, address, offset, length, rows[link] if link < count else None)

    def section(self, name):
        """Its address and its bytes."""
        if name not in self.sections:
            raise Wrong(f"there is no section {name}")
        _, address, offset, length, _ = self.sections[name]
        return address, self.bytes[offset:offset + length]

    def functions(self):
        """Address -> names."""
        found = {}
        if ".symtab" not in self.sections:
            return found
        _, _, offset, length, (_, _, _, _, names, _, _, _, _, _) = self.sections[".symtab"]
        for place in range(offset, offset + length, 24):
            name, info, _, _, address, size = struct.unpack_from("<IBBHQQ", self.bytes, place)
            if info & 15 == 2:
                begin = names + name
                title = self.bytes[begin:self.bytes.index(b"\0", begin)].decode()
                found.setdefault(address, []).append(f"{title} ({size} bytes)")
        return found


class Reader:
    def __init__(self, data, address, place=0):
        self.data, self.address, self.place = data, address, place

    def take(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.place)
        self.place += struct.calcsize("<" + form)
        return value

    def leb(self):
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def pointer(self, encoding, base=0):
        """A value as DW_EH_PE says it: its form in the lower bits, what it is counted from in the upper ones."""
        here = self.address + self.place
        forms = {0x00: "Q", 0x02: "H", 0x03: "I", 0x04: "Q", 0x0A: "h", 0x0B: "i", 0x0C: "q"}
        if encoding & 0x0F not in forms:
            raise Wrong(f"a pointer has the encoding {encoding:#x}, which is not read here")
        value = self.take(forms[encoding & 0x0F])
        counted_from = {0x00: 0, 0x10: here, 0x30: base}.get(encoding & 0x70)
        if counted_from is None:
            raise Wrong(f"a pointer has the encoding {encoding:#x}, which is not read here")
        return (value + counted_from) % 2**64


def encoding_of_pointers(data, address, place):
    """What a CIE says of the pointers of its FDEs."""
    cie = Reader(data, address, place)
    if cie.take("I") == 0xFFFFFFFF:
        cie.take("Q")
    cie.take("I")
    version = cie.take("B")
    end = data.index(b"\0", cie.place)
    augmentation = data[cie.place:end].decode()
    cie.place = end + 1
    cie.leb()
    cie.leb()
    if version == 1:
        cie.take("B")
    else:
        cie.leb()
    if not augmentation.startswith("z"):
        return 0
    cie.leb()
    for letter in augmentation[1:]:
        if letter == "R":
            return cie.take("B")
        if letter == "P":
            cie.pointer(cie.take("B") & 0x7F)
        elif letter == "L":
            cie.take("B")
    return 0


def entries(elf):
    """The FDEs of .eh_frame: where the part of a function begins, its length, and the address of the FDE."""
    address, data = elf.section(".eh_frame")
    encodings = {}
    found = []
    place = 0
    while place + 4 <= len(data):
        reader = Reader(data, address, place)
        length = reader.take("I")
        if length == 0:  # the end of what one file brought
            place += 4
            continue
        if length == 0xFFFFFFFF:
            length = reader.take("Q")
        begin = reader.place
        cie = reader.take("I")
        if cie != 0:
            at = begin - cie
            if at not in encodings:
                encodings[at] = encoding_of_pointers(data, address, at)
            start = reader.pointer(encodings[at])
            found.append((start, reader.pointer(encodings[at] & 0x0F), address + place))
        place = begin + length
    return found


def table(elf):
    """The rows of .eh_frame_hdr: where the part of a function begins, and the address of its FDE."""
    address, data = elf.section(".eh_frame_hdr")
    reader = Reader(data, address)
    version, of_frame, of_count, of_rows = (reader.take("B") for _ in range(4))
    if version != 1:
        raise Wrong(f".eh_frame_hdr has version {version}, and not 1")
    reader.pointer(of_frame, address)
    count = reader.pointer(of_count, address)
    return [(reader.pointer(of_rows, address), reader.pointer(of_rows, address)) for _ in range(count)]


def complaints(path):
    """What is wrong with the tables of a program, in sentences; and how many entries it has."""
    elf = Elf(path)
    functions = elf.functions()

    def called(start):
        return f"{start:#x}" + "".join(f", {name}" for name in functions.get(start, []))

    found = sorted(entries(elf))
    wrong = []
    for (start, length, _), (after, of_after, _) in zip(found, found[1:]):
        if start == after:
            wrong.append(f"two entries begin at {called(start)}: their lengths are {length} and {of_after}")
        elif start + length > after:
            wrong.append(f"the entry at {called(after)} lies within that at {called(start)}")
    rows = table(elf)
    if sorted(rows) != rows:
        wrong.append(".eh_frame_hdr is not sorted")
    missing = {(start, at) for start, _, at in found} - set(rows)
    for start, at in sorted(missing):
        length = next(size for begin, size, place in found if place == at)
        wrong.append(f".eh_frame_hdr has no row for the entry of {length} bytes at {called(start)}")
    if len(rows) != len(found) - len(missing):
        wrong.append(f".eh_frame_hdr has {len(rows)} rows for {len(found)} entries")
    return wrong, len(found)


def main():
    failed = False
    for path in sys.argv[1:]:
        wrong, count = complaints(path)
        for sentence in wrong:
            print(f"{path}: {sentence}")
        print(f"{path}: {count} entries of the table of unwinding, {len(wrong)} faults")
        failed |= bool(wrong) or count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

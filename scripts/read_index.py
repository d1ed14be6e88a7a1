#!/usr/bin/env python3
"""Reads an index file: a second reader, written from format-spec.md alone, with the standard library.

    read_index.py docs.idx          prints all that is in it

Text blocks packed with zstd (codec 1) cannot be read with the standard library. Checks the checksums, the content hash
and the order of everything on the way.
"""
import hashlib
import struct
import sys
import zlib

NONE = 0xFFFFFFFF
MAGIC = bytes.fromhex("89444958 0D0A1A0A")
TAGS = ("META", "DOCS", "RECS", "LENS", "HEAP", "TBLK", "TEXT", "TERM", "POST", "EXPN", "LINK", "ACRO")
RECORD_FIELDS = 7
DOCUMENT_FIELDS = 2
EXPANSIONS = ("synonyms", "acronym", "long form")
COMMON_INPUTS = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG"


class Damaged(Exception):
    """The file is not what the specification says."""


def check(condition, what):
    if not condition:
        raise Damaged(what)


# ---- Chapter 2: header and region table ------------------------------------------------------------------


def read_regions(data):
    """(content hash, {tag: bytes})"""
    check(data[:8] == MAGIC, "magic")
    version, analyzer, length, count, table_checksum = struct.unpack_from("<IIQII", data, 8)
    check(version == 1, f"format version {version}")
    check(analyzer == 1, f"analyzer version {analyzer}")
    check(length == len(data), "file length")
    check(zlib.crc32(data[:124]) == struct.unpack_from("<I", data, 124)[0], "header checksum")
    check(data[112:124] == bytes(12), "reserved bytes")
    table = data[128 : 128 + 32 * count]
    check(zlib.crc32(table) == table_checksum, "region table checksum")
    content_hash = data[32:64]
    check(hashlib.blake2b(data[128:], digest_size=32).digest() == content_hash, "content hash")
    check(count <= 64, "number of regions")
    number, shards = struct.unpack_from("<II", data, 104)
    check(1 <= number <= shards or number == shards == 0, "shard number")
    regions, end = {}, 128 + 32 * count
    for entry in struct.iter_unpack("<4sIQQII", table):
        tag, flags, offset, size, checksum, reserved = entry
        check(flags in (0, 1) and reserved == 0 and offset == end, f"region {tag}")
        end = offset + size
        check(tag.decode("latin-1") in TAGS or not flags, f"unknown required region {tag}")
        check(tag.decode("latin-1") not in regions, f"region {tag} twice")
        regions[tag.decode("latin-1")] = data[offset:end]
        check(zlib.crc32(data[offset:end]) == checksum, f"checksum of {tag}")
    check(end == len(data), "bytes after the last region")
    return content_hash, regions


# ---- Chapter 3: varints ----------------------------------------------------------------------------------


class Bytes:
    """Takes values from the front of bytes."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, length):
        piece = self.data[self.at : self.at + length]
        check(len(piece) == length, "bytes cut short")
        self.at += length
        return piece

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                check(value < 1 << 64 and (byte or not shift), "a varint in its shortest form")
                return value
            shift += 7

    def numbers(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))


# ---- Chapters 4 to 7: META, tables, strings, text ----------------------------------------------------------


def read_table(region, layout):
    place, count = struct.unpack("<qQ", region[-16:])
    size = struct.calcsize("<" + layout)
    check(place == -count * size and len(region) == count * size + 16, "a table's length")
    return list(struct.iter_unpack("<" + layout, region[:-16]))


def percent(data):
    out = []
    for char in data.decode("utf-8", "surrogateescape"):
        code = ord(char)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(f"%{code - 0xDC00:02X}")
        elif char in "% []#~" or char.isspace() or code < 0x20 or 0x7F <= code < 0xA0:
            out.extend(f"%{byte:02X}" for byte in char.encode())
        else:
            out.append(char)
    return "".join(out)


def quoted(text):
    """As a string of the programming language that the golden file was written with."""
    escapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(char, char) for char in text) + '"'


class Index:
    def __init__(self, data):
        content_hash, self.regions = read_regions(data)
        self.content_hash = content_hash.hex()
        heap = self.heap = self.regions["HEAP"]
        meta = struct.unpack("<IIIIQQ" + "QI" * 6 + "IIIIIiIBB", self.regions["META"])
        self.documents_count, self.records_count, self.sections_count = meta[:3]
        self.terms_count = meta[5]
        self.lengths_totals = [meta[6 + 2 * kind : 8 + 2 * kind] for kind in range(6)]
        title, description, prefix, configuration, synonyms = meta[18:23]
        self.languages = meta[24]
        check(self.languages < 1 << 18, "languages")
        self.title = heap[:title].decode()
        self.description = heap[title : title + description].decode()
        before = title + description + prefix + configuration
        self.synonyms = heap[before : before + synonyms].decode()
        self.documents = read_table(self.regions["DOCS"], "QQ32sIIIII")
        self.records = read_table(self.regions["RECS"], "QIIIIIIIIIB")
        self.lengths = read_table(self.regions["LENS"], "III")
        self.blocks = read_table(self.regions["TBLK"], "QIIIB")
        check(len(self.documents) == self.documents_count, "number of documents")
        check(len(self.records) == len(self.lengths) == self.records_count, "number of records")

    def document_strings(self, number):
        heap = Bytes(self.heap, self.documents[number][0])
        lengths = [heap.varint() for _ in range(6)]
        path, *texts = [heap.take(length) for length in lengths]
        return [path, *(text.decode() for text in texts)]

    def record_strings(self, number):
        heap = Bytes(self.heap, self.records[number][0])
        numbers = [heap.varint() for _ in range(4)]
        lengths = [heap.varint() for _ in range(3)]
        return [*numbers, *(heap.take(length).decode() for length in lengths)]

    def text(self, number):
        block, start, length, checksum = self.records[number][6:10]
        offset, packed, unpacked, block_checksum, codec = self.blocks[block]
        data = self.regions["TEXT"][offset : offset + packed]
        check(zlib.crc32(data) == block_checksum, "checksum of a text block")
        check(codec == 0, "a text block is packed with zstd, which the standard library cannot unpack")
        check(packed == unpacked, "length of a text block")
        text = data[start : start + length]
        check(zlib.crc32(text) == checksum, "checksum of a text")
        return text.decode()

    def terms(self):
        """(term, section frequency, record postings, document postings) in order."""
        postings, end = self.regions["POST"], 0
        for term, place in walk(self.regions["TERM"]):
            check(place == end, "entries of terms without a gap")
            entry = Bytes(postings, place)
            frequency, record_count, record_bytes, document_count, document_bytes = (
                entry.varint() for _ in range(5)
            )
            records = read_list(entry.take(record_bytes), record_count, RECORD_FIELDS)
            documents = read_list(entry.take(document_bytes), document_count, DOCUMENT_FIELDS)
            end = entry.at
            yield term.decode(), frequency, records, documents
        check(end == len(postings), "entries of terms to the region's end")


# ---- Chapter 8: the term dictionary ------------------------------------------------------------------------


def read_node(data, address):
    """(final output or None, [(input, output, target)])"""
    if address == 0:
        return 0, []
    state, at = data[address], address
    kind, low = state >> 6, state & 63

    def back(length):
        nonlocal at
        at -= length
        return data[at : at + length]

    def number(length):
        return int.from_bytes(back(length), "little")

    if kind >= 2:
        byte = COMMON_INPUTS[low - 1] if low else back(1)[0]
        if kind == 3:
            return None, [(byte, 0, at - 1)]
        sizes = back(1)[0]
        distance = number(sizes >> 4)
        output = number(sizes & 15)
        return None, [(byte, output, at - distance if distance else 0)]
    count = low
    if not count:
        count = back(1)[0]
        count = 256 if count == 1 else count
    # A final node without transitions but with an output has a zero here too.
    sizes = back(1)[0]
    if count > 32:
        back(256)
    inputs = [back(1)[0] for _ in range(count)]
    distances = [number(sizes >> 4) for _ in range(count)]
    outputs = [number(sizes & 15) for _ in range(count)]
    final = number(sizes & 15) if kind == 1 else None
    targets = [at - distance if distance else 0 for distance in distances]
    return final, list(zip(inputs, outputs, targets))


def walk(data):
    """(key, output) in byte order."""
    version, _ = struct.unpack_from("<QQ", data)
    check(version == 3, "version of the transducer")
    count, root, _ = struct.unpack("<QQI", data[-20:])
    stack, seen, previous = [(b"", 0, root)], 0, None
    while stack:
        key, output, address = stack.pop()
        final, transitions = read_node(data, address)
        if final is not None:
            check(previous is None or previous < key, "keys in order")
            previous, seen = key, seen + 1
            yield key, output + final
        for byte, more, target in reversed(transitions):
            stack.append((key + bytes([byte]), output + more, target))
    check(seen == count, "number of keys")


# ---- Chapter 9: posting lists ------------------------------------------------------------------------------


def read_short(data, fields, previous):
    number = data.varint() + (0 if previous is None else previous + 1)
    mask = data.take(1)[0]
    frequencies = [0] * fields
    for field in range(fields):
        if mask & (1 << field):
            frequencies[field] = data.varint() if mask & 0x80 else 1
    return number, frequencies


def unpack(packed, width):
    if width == 0:
        return [0] * 128
    words = struct.unpack(f"<{4 * width}I", packed)
    lanes = []
    for lane in range(4):
        stream = 0
        for place, word in enumerate(words[lane::4]):
            stream |= word << (32 * place)
        lanes.append([(stream >> (width * i)) & ((1 << width) - 1) for i in range(32)])
    return [lanes[i % 4][i // 4] for i in range(128)]


def read_list(data, count, fields):
    postings, previous = [], None
    if count < 128:
        rest = Bytes(data)
        for _ in range(count):
            postings.append(read_short(rest, fields, previous))
            previous = postings[-1][0]
        check(rest.at == len(data), "length of a posting list")
        return postings
    blocks = -(-count // 128)
    directory = Bytes(data)
    entries = [directory.numbers("IQI" + "H" * fields) for _ in range(blocks)]
    start = directory.at
    rest = Bytes(data, start)
    for last, place, _, *bounds in entries:
        check(rest.at == start + place, "place of a posting block")
        block = []
        if count - len(postings) >= 128:
            widths = rest.take(fields + 1)
            gaps, *columns = [unpack(rest.take(16 * width), width) for width in widths]
            for row, gap in enumerate(gaps):
                previous = gap + (0 if previous is None else previous + 1)
                block.append((previous, [column[row] for column in columns]))
        else:
            for _ in range(count - len(postings)):
                block.append(read_short(rest, fields, previous))
                previous = block[-1][0]
        check(block[-1][0] == last, "last number of a posting block")
        largest = [max(frequencies[field] for _, frequencies in block) for field in range(fields)]
        check([min(value, 65535) for value in largest] == bounds, "bounds of a posting block")
        postings += block
    check(rest.at == len(data), "length of a posting list")
    return postings


# ---- Chapter 12: words that stand for others ---------------------------------------------------------------


def read_expansions(region):
    """(kind, key, lists of terms) in order"""
    data = Bytes(region)

    def term():
        length = data.varint()
        check(length > 0, "an empty term")
        return data.take(length).decode()

    def some(read):
        count = data.varint()
        check(1 <= count <= 256, "how much an entry holds")
        return [read() for _ in range(count)]

    places = data.numbers("I" * data.numbers("I")[0])
    start, previous = data.at, None
    for place in places:
        check(data.at == start + place, "place of an entry")
        kind, key = data.take(1)[0], term()
        check(kind < len(EXPANSIONS), "kind of an entry")
        check(previous is None or previous < (kind, key.encode()), "entries in order")
        previous = kind, key.encode()
        yield kind, key, some(lambda: some(term))
    check(data.at == len(region), "length of the words that stand for others")


# ---- All of it, and chapters 10 and 13 ---------------------------------------------------------------------------------------------


def dump(index):
    yield (
        f"index 1 documents {index.documents_count} records {index.records_count} sections "
        f"{index.sections_count} terms {index.terms_count} hash {index.content_hash}"
    )
    yield f"title {quoted(index.title)} description {quoted(index.description)} languages {index.languages:#x}"
    yield f"synonyms {quoted(index.synonyms)}"
    paths = []
    for number, (_, size, _, first, count, *_) in enumerate(index.documents):
        path, title, description, tags, url, language = index.document_strings(number)
        check(not paths or paths[-1] < path, "order of the documents")
        paths.append(path)
        yield (
            f"document {number} {percent(path)} title {quoted(title)} description {quoted(description)} tags "
            f"{quoted(tags)} url {quoted(url)} language {quoted(language)} records {first}+{count} bytes {size}"
        )
    for number, record in enumerate(index.records):
        _, document, parent, subtree, first, last, *_, level = record
        part, parts, head, tail, heading, anchor, aliases = index.record_strings(number)
        identity = percent(paths[document])
        identity += "#" + percent(anchor.encode()) if anchor else ""
        identity += f"~{part}" if part > 1 else ""
        parent = "-" if parent == NONE else parent
        lengths = " ".join(map(str, index.lengths[number]))
        yield (
            f"record {number} {identity} level {level} lines {first}-{last} part {part}/{parts} repeated "
            f"{head}+{tail} parent {parent} subtree {subtree} lengths {lengths} heading {quoted(heading)} "
            f"aliases {quoted(aliases.replace(chr(10), ' '))}"
        )
        yield f"text {quoted(index.text(number))}"
    known = set()
    for term, frequency, records, documents in index.terms():
        if frequency:
            known.add(term)
        line = f"term {term} {frequency}"
        for name, postings in (("records", records), ("documents", documents)):
            listed = [f"{number}:{','.join(map(str, frequencies))}" for number, frequencies in postings]
            line += " ".join([f" {name}", *listed])
        yield line

    is_shard = "LINK" in index.regions
    check(is_shard == ("ACRO" in index.regions) != ("EXPN" in index.regions), "regions of a shard")
    if not is_shard:
        for kind, key, lists in read_expansions(index.regions["EXPN"]):
            check(all(term in known for terms in lists for term in terms), "terms of sections")
            yield f"{EXPANSIONS[kind]} {key}: " + " | ".join(" ".join(terms) for terms in lists)
    else:
        acronyms, previous = Bytes(index.regions["ACRO"]), None
        for _ in range(acronyms.varint()):
            letters, form = (acronyms.take(acronyms.varint()).decode() for _ in range(2))
            check(previous is None or previous < (letters, form), "acronyms in order")
            previous = letters, form
            yield f"found {quoted(letters)} {quoted(form)} {acronyms.varint()}"
        check(acronyms.at == len(acronyms.data), "length of the acronyms")
        links = Bytes(index.regions["LINK"])
        for _ in range(links.varint()):
            record = links.varint()
            path, fragment, text = (links.take(links.varint()).decode("utf-8", "replace") for _ in range(3))
            yield f"link {record} {quoted(path)} {quoted(fragment)} {quoted(text)}"
        check(links.at == len(links.data), "length of the links")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], "rb") as file:
            index = Index(file.read())
        for line in dump(index):
            print(line)
    except (Damaged, OSError, struct.error, IndexError, KeyError, UnicodeError) as error:
        print(f"read_index: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

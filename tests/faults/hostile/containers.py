"""Damages the program's own binary values: a container (core/io/container.h) whose CBOR is wrong and whose digest is right.
Its libraries, zstd and xxHash, are asked through ctypes; without them only bytes are damaged.
"""

import ctypes
import ctypes.util
import struct

import damage

MAGIC = b"\x89STRATO\n"


def library(name):
    found = ctypes.util.find_library(name)
    return ctypes.CDLL(found) if found else None


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXH, ZSTD = library("xxhash"), library("zstd")
if XXH:
    XXH.XXH3_128bits.restype = Hash
    XXH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
if ZSTD:
    for function in (ZSTD.ZSTD_compress, ZSTD.ZSTD_decompress):
        function.restype = ctypes.c_size_t
    ZSTD.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def digest(content):
    result = XXH.XXH3_128bits(content, len(content))
    return struct.pack("<QQ", result.high, result.low)


def digest_text(content):
    result = XXH.XXH3_128bits(content, len(content))
    return f"{result.high:016x}{result.low:016x}"


def compressed(content):
    room = ctypes.create_string_buffer(len(content) + len(content) // 128 + 1024)
    size = ZSTD.ZSTD_compress(room, len(room), content, len(content), 3)
    return room.raw[:size]


def decompressed(content, size):
    room = ctypes.create_string_buffer(max(size, 1))
    size = ZSTD.ZSTD_decompress(room, size, content, len(content))
    return room.raw[:size]


# ---- CBOR


class Bytes(bytes):
    """A byte string: packed numbers."""


def head(kind, number):
    for width, code, form in ((24, None, None), (1 << 8, 24, ">B"), (1 << 16, 25, ">H"), (1 << 32, 26, ">I"),
                              (1 << 64, 27, ">Q")):
        if number < width:
            return bytes([kind << 5 | number]) if code is None else bytes([kind << 5 | code]) + struct.pack(form, number)
    return bytes([kind << 5 | 27]) + b"\xff" * 8


def encoded(value):
    if isinstance(value, damage.Raw):
        return value.text
    if isinstance(value, Bytes):
        return head(2, len(value)) + value
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, damage.Members):
        result = head(5, len(value)) + b"".join(encoded(key) + encoded(each) for key, each in value)
    else:
        result = head(4, len(value)) + b"".join(map(encoded, value))
    if len(result) > damage.LARGEST:
        raise damage.TooLarge
    return result


def decoded(content, at=0):
    """(value, where it ends); only what the program writes."""
    kind, low = content[at] >> 5, content[at] & 31
    at += 1
    if kind == 7:
        if low in (20, 21, 22):
            return {20: False, 21: True, 22: None}[low], at
        form, width = {25: (">e", 2), 26: (">f", 4), 27: (">d", 8)}[low]
        return struct.unpack_from(form, content, at)[0], at + width
    number = low
    if low >= 24:
        form, width = {24: (">B", 1), 25: (">H", 2), 26: (">I", 4), 27: (">Q", 8)}[low]
        number = struct.unpack_from(form, content, at)[0]
        at += width
    if kind < 2:
        return (number if kind == 0 else -1 - number), at
    if kind == 2:
        return Bytes(content[at : at + number]), at + number
    if kind == 3:
        return content[at : at + number].decode(), at + number
    if kind == 4:
        items = []
        for _ in range(number):
            item, at = decoded(content, at)
            items.append(item)
        return items, at
    members = damage.Members()
    for _ in range(number):
        key, at = decoded(content, at)
        value, at = decoded(content, at)
        members.append((key, value))
    return members, at


DEEP = damage.DEEP
NO_CBOR = [b"\x81" * DEEP, b"\x9f" * DEEP, b"\xa1\x61a" * DEEP, b"\x5f" * DEEP, b"\x7f" * DEEP, b"\xc0" * DEEP,
           b"\xd9\xff\xff" * DEEP, b"\x5f" * 1_000_000,
           b"\x9b" + b"\xff" * 8, b"\xbb" + b"\xff" * 8, b"\x5b" + b"\xff" * 8, b"\x7b" + b"\x7f" + b"\xff" * 7,
           b"\x9a\x7f\xff\xff\xff", b"\x63\xff\xfe\xfd",
           b"\xf9\x7e\x00", b"\xf9\x7c\x00", b"\xf7", b"\x1b" + b"\xff" * 8, b"\x3b" + b"\xff" * 8, b"\xa2\x61a\x01\x61a\x02",
           b"\x80", b"\xa0", b"\x60", b"\x40"]


def changed_bytes(random, value):
    """Packed numbers, of which some are giant, or with some more or fewer."""
    what = random.randrange(5)
    if what == 0 or not value:
        return Bytes(value[: len(value) // 8 * 4] + random.choice([b"", b"\0", b"\xff" * 8, value * 3]))
    width = random.choice([4, 8])
    result = bytearray(value)
    for _ in range(random.choice([1, 1, 3])):
        at = random.randrange(len(value)) // width * width
        number = random.choice([*damage.GIANT, 0, 1, -1, -1, -2, -(2**63), -(2**31)]) % (1 << (8 * width))
        result[at : at + width] = number.to_bytes(width, "little")[: max(0, len(value) - at)]
    return Bytes(result)


def changed(random, root):
    all_places = damage.places(root)
    packed = [place for place in all_places if isinstance(damage.value_at(place), Bytes)]
    if packed and random.random() < 0.5:
        place = random.choice(packed)
        damage.put(place, changed_bytes(random, damage.value_at(place)))
        return root
    place = random.choice(all_places)
    holder, i = place
    value = damage.value_at(place)
    what = random.randrange(8)
    if what == 0:
        del holder[i]
    elif what == 1:
        holder[i:i] = [holder[i]] * damage.times(random, [1, 100], len(encoded(value)))
    elif what == 2:
        damage.put(place, damage.value_at(random.choice(all_places)))
    elif what == 3 and isinstance(value, int) and not isinstance(value, bool):
        damage.put(place, random.choice([*damage.GIANT, -1, 0, -(2**63)]))
    elif what == 4 and isinstance(value, str):
        damage.put(place, random.choice(["", "x" * 100_000, "\u202e" + value]))
    elif what == 5 and isinstance(value, str):
        damage.put(place, damage.Raw(head(3, 2) + b"\xff\xfe"))
    else:
        damage.put(place, damage.Raw(random.choice(NO_CBOR)))
    return root


def parts(content):
    """(what is in front of the sizes, codec, CBOR)"""
    codec = content[9]
    name_size = struct.unpack_from("<I", content, 14)[0]
    at = 18 + name_size
    size, stored = struct.unpack_from("<QQ", content, at)
    value = content[at + 16 : at + 16 + stored]
    return content[:at], codec, decompressed(value, size) if codec == 1 else value


def forged(front, codec, cbor, size=None):
    stored = compressed(cbor) if codec == 1 else cbor
    content = front[:9] + bytes([codec]) + front[10:] + struct.pack("<QQ", len(cbor) if size is None else size,
            len(stored)) + stored
    return content + digest(content)


def of_container(random, content):
    if not (XXH and ZSTD) or not content.startswith(MAGIC) or random.random() < 0.1:
        return damage.of_bytes(random, content)
    front, _, cbor = parts(content)
    codec = random.choice([0, 0, 0, 1])
    what = random.random()
    if what < 0.05:
        return forged(front, codec, cbor, random.choice(damage.GIANT))
    if what < 0.1:
        return forged(front, codec, random.choice(NO_CBOR))
    if what < 0.2:
        return forged(front, codec, damage.of_bytes(random, cbor))
    try:
        root, _ = decoded(cbor)
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            root = changed(random, root)
        return forged(front, codec, encoded(root))
    except (IndexError, AttributeError, KeyError, struct.error, UnicodeDecodeError, RecursionError, damage.TooLarge):
        return forged(front, codec, damage.of_bytes(random, cbor))

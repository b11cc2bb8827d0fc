"""Damages content: bytes, texts, and JSON by its structure. Everything is drawn from one generator of random numbers, so
that the same seed makes the same files.
"""

import json
import struct

DEEP = 100_000  # levels that no reader may follow by calling itself
GIANT = [2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
NO_UTF8 = [b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x28\x8c\x28", b"\x80"]


MOST, LARGEST = 4 << 20, 16 << 20  # bytes of what is there many times; of a file


def times(random, choices, size):
    return min(random.choice(choices), max(1, MOST // max(size, 1)))


# ---- bytes, whatever they are


def cut(random, content):
    return content[: random.randrange(len(content) + 1)]


def flipped(random, content):
    result = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 8, 64]) if result else 0):
        result[random.randrange(len(result))] ^= 1 << random.randrange(8)
    return bytes(result)


def overwritten(random, content):
    """A number of 1 to 8 bytes becomes one that is giant or negative."""
    width = random.choice([1, 2, 4, 8])
    number = random.choice([*GIANT, 0, -1]) % (1 << (8 * width))
    at = random.randrange(max(1, len(content) - width + 1))
    return content[:at] + number.to_bytes(width, random.choice(["little", "big"])) + content[at + width :]


def piece(random, content):
    begin = random.randrange(len(content) + 1)
    return begin, min(len(content), begin + random.choice([1, 4, 16, 64, 1024]))


def left_out(random, content):
    begin, end = piece(random, content)
    return content[:begin] + content[end:]


def repeated(random, content):
    begin, end = piece(random, content)
    return content[:end] + content[begin:end] * random.choice([1, 2, 100]) + content[end:]


def inserted(random, content):
    at = random.randrange(len(content) + 1)
    what = random.choice([*NO_UTF8, b"\0", b"\r\n", b"\x1b[31m", random.randbytes(16), b"A" * 100_000])
    return content[:at] + what + content[at:]


def noise(random, content):
    return random.choice([b"", b"\0", b"\n", random.randbytes(64), random.randbytes(4096), b"\0" * 65536])


BYTES = [cut, flipped, flipped, overwritten, overwritten, left_out, repeated, inserted, noise]


def of_bytes(random, content):
    return random.choice(BYTES)(random, content)


# ---- lines of words: tables, scripts

WORDS = ["-1", "0", "00", "1e999", "-1e308", "nan", "NaN", "inf", "-inf", "", "0x10", "9" * 400, *map(str, GIANT),
         "-9223372036854775808",
         "1.5", "A" * 100_000, "é", "\u202e", "../../etc/passwd", "$(date)", "${X[@]}", "'", '"', "(", ")", "\\", ",,,,", "|",
         "#"]


def of_text(random, content):
    if random.random() < 0.3:
        return of_bytes(random, content)
    lines = content.decode("utf-8", "replace").split("\n")
    at = random.randrange(len(lines))
    what = random.randrange(6)
    if what == 0:
        lines.insert(random.randrange(len(lines) + 1), lines[at])
    elif what == 1:
        del lines[at]
    elif what == 2:
        lines[at:at] = [lines[at]] * times(random, [2, 1000], len(lines[at]))
    elif what == 3:
        other = random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        separator = random.choice([",", " ", "\t", "="])
        words = lines[at].split(separator)
        words[random.randrange(len(words))] = random.choice(WORDS)
        if what == 5:
            words *= times(random, [2, 1000], sum(map(len, words)))
        lines[at] = separator.join(words)
    return "\n".join(lines).encode("utf-8", "replace")


# ---- JSON


class Raw:
    """Written as it is, valid or not."""

    def __init__(self, text):
        self.text = text


class Members(list):
    """An object as pairs: a key may be there twice."""


def parsed(text):
    return json.loads(text, object_pairs_hook=Members)


class TooLarge(ValueError):
    """What is there many times may be changed in all of its places."""


def written(value):
    parts, room = [], LARGEST

    def add(text):
        nonlocal room
        room -= len(text)
        if room < 0:
            raise TooLarge
        parts.append(text)

    def walk(value):
        if isinstance(value, Raw):
            add(value.text)
        elif isinstance(value, Members):
            for i, (key, each) in enumerate(value):
                add("{" if i == 0 else ",")
                walk(key)
                add(":")
                walk(each)
            add("}" if value else "{}")
        elif isinstance(value, list):
            for i, each in enumerate(value):
                add("[" if i == 0 else ",")
                walk(each)
            add("]" if value else "[]")
        else:
            add(json.dumps(value, ensure_ascii=False))

    walk(value)
    return "".join(parts)


def places(value, found=None):
    """Every place of a value: (what holds it, index)."""
    found = [] if found is None else found
    if isinstance(value, Members):
        for i, (_, each) in enumerate(value):
            found.append((value, i))
            places(each, found)
    elif isinstance(value, list):
        for i, each in enumerate(value):
            found.append((value, i))
            places(each, found)
    return found


def value_at(place):
    holder, i = place
    return holder[i][1] if isinstance(holder, Members) else holder[i]


def put(place, value):
    holder, i = place
    holder[i] = (holder[i][0], value) if isinstance(holder, Members) else value


DEEP_TEXTS = ["[" * DEEP, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP,
              '[{"a":' * (DEEP // 2) + "[]" + "}]" * (DEEP // 2),
              "[" * 900 + "]" * 900]
NUMBERS = ["-1", "0", "-0.0", "1e308", "-1e308", "1e999", "-1e999", "5e-324", "0.1", "1.5", "NaN", "Infinity", "-Infinity",
           "9" * 400,
           "1" + "0" * 400 + ".5", *map(str, GIANT), "-9223372036854775808", "-9223372036854775809", "1000000", "1048576",
           "65536"]
OTHERS = ["null", "true", "[]", "{}", '""', '"\\u0000"', '"\\ud800"', '"' + "x" * 1_000_000 + '"',
          "[" + "0," * 100_000 + "0]",
          "[" + "{}," * 10_000 + "{}]", '"../../../etc/passwd"', '"/dev/zero"', '"*"', '"\\u202e\\u001b[31m"',
          "{" + ",".join(f'"k{i}":{i}' for i in range(20_000)) + "}"]


def foreign(random, value):
    """Another value in the place of this one: of its type more often than not."""
    if isinstance(value, bool) or value is None or random.random() < 0.2:
        return Raw(random.choice(NUMBERS + OTHERS + DEEP_TEXTS))
    if isinstance(value, int) and random.random() < 0.5:
        return value * random.choice([-1, 2, 1000, 1_000_000, 10**12]) + random.choice([-1, 0, 1])
    if isinstance(value, (int, float)):
        return Raw(random.choice(NUMBERS))
    if isinstance(value, str):
        return random.choice([Raw('"' + "x" * 1_000_000 + '"'), "", value + value, value[: len(value) // 2], value.upper(),
                              "\u202e" + value, "a\nb"])
    return Raw(random.choice(OTHERS + DEEP_TEXTS))


def change(random, root):
    """Changes one place of a document."""
    all_places = places(root)
    if not all_places:
        return Raw(random.choice(OTHERS + DEEP_TEXTS + NUMBERS))
    place = random.choice(all_places)
    holder, i = place
    what = random.randrange(12)
    if what == 0:
        del holder[i]
    elif what == 1 and isinstance(holder, Members):
        holder.insert(random.randrange(len(holder) + 1), holder[i])  # the key is there twice
    elif what <= 2:
        holder[i:i] = [holder[i]] * times(random, [1, 2, 100, 3000], len(written(value_at(place))))
    elif what == 3:
        put(place, value_at(random.choice(all_places)))
    elif what == 4 and isinstance(holder, Members):
        holder[i] = (random.choice(["", "x", holder[i][0].upper(), "x" * 100_000, "format"]), holder[i][1])
    elif what == 5:
        texts = [value_at(each) for each in all_places if isinstance(value_at(each), str)]
        put(place, random.choice(texts) if texts else "")
    elif what == 6:
        put(place, [value_at(place)])
    else:
        put(place, foreign(random, value_at(place)))
    return root


def of_json(random, content):
    what = random.random()
    if what < 0.1:
        return of_bytes(random, content)
    if what < 0.15:
        return of_text(random, content)
    if what < 0.2:
        return random.choice(OTHERS + DEEP_TEXTS + NUMBERS).encode("utf-8")
    try:
        root = parsed(content.decode("utf-8"))
        for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
            root = change(random, root)
        result = written(root).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError, AttributeError):  # what was changed first is no document any more
        return of_bytes(random, content)
    return result if random.random() > 0.03 else result.replace(b'"', random.choice(NO_UTF8) + b'"', 3)


# ---- files with a header of text behind its length: .safetensors, .npy


def of_safetensors(random, content):
    if random.random() < 0.25 or len(content) < 8:
        return of_bytes(random, content)
    size = struct.unpack_from("<Q", content)[0]
    header = of_json(random, content[8 : 8 + size])
    length = len(header) if random.random() < 0.9 else random.choice(GIANT)
    return struct.pack("<Q", length % 2**64) + header + content[8 + size :]


def of_npy(random, content):
    if random.random() < 0.3 or len(content) < 10:
        return of_bytes(random, content)
    size = struct.unpack_from("<H", content, 8)[0]
    header = content[10 : 10 + size].decode("latin-1")
    begin, end = header.find("("), header.find(")")
    shapes = ["", "1", "-1,", "0,", ",".join(["1"] * 20_000), "9223372036854775807, 2,", "4294967296, 4294967296, 1,",
              "0, 9223372036854775807,", "9" * 30]
    types = ["'>f4'", "'|O'", "[('a', '<f4')]", "'<c8'", "'<f4", "'|b1'", "'<i8'", "''"]
    if random.random() < 0.6:
        header = header[: begin + 1] + random.choice(shapes) + header[end:]
    else:
        header = header.replace("'<f4'", random.choice(types)).replace("False", random.choice(["True", "False", "0", "None"]))
    text = header.encode("latin-1")[: 2**16 - 1]
    return content[:8] + struct.pack("<H", len(text)) + text + content[10 + size :]

"""Damages ONNX files by their structure, and makes some from nothing: control flow, functions, circles."""

import damage

# The messages of ONNX: field -> the message in it.
MESSAGES = {
    "Model": {7: "Graph", 8: "Opset", 14: "Pair", 25: "Function"},
    "Graph": {1: "Node", 5: "Tensor", 11: "Info", 12: "Info", 13: "Info"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph"},
    "Tensor": {13: "Pair"},
    "Info": {2: "Type"},
    "Type": {1: "TensorType"},
    "TensorType": {2: "Shape"},
    "Shape": {1: "Dim"},
    "Function": {7: "Node", 9: "Opset"},
    "Opset": {},
    "Pair": {},
    "Dim": {},
}


class Field:
    def __init__(self, number, kind, content):
        self.number, self.kind, self.content = number, kind, content  # content: number, bytes or fields


def varint(number):
    number %= 1 << 64
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def read_varint(content, at):
    number = shift = 0
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def parsed(content, message, messages=MESSAGES):
    """`messages`: those of a format, field -> the message in it."""
    fields, at = [], 0
    while at < len(content):
        tag, at = read_varint(content, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = read_varint(content, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = read_varint(content, at)
            value = content[at : at + size]
            at += size
            if kind == 2 and number in messages[message]:
                value = parsed(value, messages[message][number], messages)
        fields.append(Field(number, kind, value))
    return fields


def written(fields):
    out = bytearray()
    for field in fields:
        content = written(field.content) if isinstance(field.content, list) else field.content
        out += varint(field.number << 3 | field.kind)
        if field.kind == 0:
            out += varint(content)
        else:
            out += (varint(len(content)) if field.kind == 2 else b"") + content
        if len(out) > damage.LARGEST:
            raise damage.TooLarge
    return bytes(out)


def places(fields, found=None):
    found = [] if found is None else found
    for i, field in enumerate(fields):
        found.append((fields, i))
        if isinstance(field.content, list):
            places(field.content, found)
    return found


# ---- what is made from nothing


def text(number, value):
    return Field(number, 2, value.encode() if isinstance(value, str) else value)


def message(number, *fields):
    return Field(number, 2, list(fields))


def attribute(name, *fields):
    return message(5, text(1, name), *fields)


def node(kind, inputs, outputs, *attributes, domain=""):
    named = [text(1, name) for name in inputs] + [text(2, name) for name in outputs]
    return message(1, *named, text(3, outputs[0] if outputs else "n"), text(4, kind), *([text(7, domain)] if domain else []),
                   *attributes)


def info(number, name, dims=(4, 8), element=1):
    shape = [message(1, Field(1, 0, dim) if isinstance(dim, int) else text(2, dim)) for dim in dims]
    return message(number, text(1, name), message(2, message(1, Field(1, 0, element), message(2, *shape))))


def integers(name, values, dims=None):
    extents = [Field(1, 0, dim) for dim in (dims if dims is not None else [len(values)])]
    raw = b"".join((value % 2**64).to_bytes(8, "little") for value in values)
    return [*extents, Field(2, 0, 7), text(8, name), text(9, raw)]


def outside(name, dims, location, offset, length, element=1):
    """A tensor in a file beside the model's."""
    pair = lambda key, value: message(13, text(1, key), text(2, str(value)))
    return [*[Field(1, 0, dim) for dim in dims], Field(2, 0, element), text(8, name), pair("location", location),
            pair("offset", offset), pair("length", length), Field(14, 0, 1)]


def graph(*fields):
    return list(fields)


def model(graph_fields, functions=()):
    return [Field(1, 0, 8), Field(7, 2, graph_fields), message(8, text(1, ""), Field(2, 0, 17)),
            message(8, text(1, "f"), Field(2, 0, 1)),
            *[Field(25, 2, function) for function in functions]]


def function(name, nodes):
    return [text(1, name), text(4, "a"), text(5, "c"), *[Field(7, 2, each.content) for each in nodes],
            message(9, Field(2, 0, 17)), text(10, "f")]


def body(inputs, outputs, *nodes):
    return [*nodes, *[message(11, text(1, name)) for name in inputs], *[message(12, text(1, name)) for name in outputs]]


def with_input(*nodes, output="y", dims=("batch", 8), constants=()):
    return graph(*nodes, *[Field(5, 2, each) for each in constants], info(11, "x", dims), info(12, output, dims))


def nested_ifs(depth):
    """Each branch holds the next If."""
    inner = plain = body([], ["y"], node("Relu", ["x"], ["y"]))
    for _ in range(depth):
        inner = body([], ["y"], node("If", ["c"], ["y"], attribute("then_branch", Field(6, 2, inner)),
                                     attribute("else_branch", Field(6, 2, plain))))
    return model(with_input(*inner[:1], constants=[[Field(2, 0, 9), text(8, "c"), text(9, b"\1")]]))


def deep_bytes(levels):
    """A graph in an attribute in a node in a graph, written from the inside: no list of fields is so deep."""
    heads, size = [], 0
    for level in range(3 * levels):
        heads.append(varint((6, 5, 1)[level % 3] << 3 | 2) + varint(size))
        size += len(heads[-1])
    return b"\x08\x08" + varint(7 << 3 | 2) + varint(size) + b"".join(reversed(heads))


def loop(rounds, dims=("batch", 8)):
    inner = body(["i", "go", "h"], ["go", "k", "s"], node("Add", ["h", "x"], ["k"]), node("Mul", ["k", "x"], ["s"]))
    return model(with_input(node("Loop", ["n", "", "x"], ["y", "all"], attribute("body", Field(6, 2, inner))),
                            constants=[integers("n", [rounds], [])], dims=dims))


def scan(extent):
    inner = body(["h", "s"], ["k", "o"], node("Add", ["h", "s"], ["k"]), node("Relu", ["k"], ["o"]))
    at = attribute("num_scan_inputs", Field(3, 0, 1))
    return model(graph(node("Scan", ["h0", "x"], ["y", "all"], at, attribute("body", Field(6, 2, inner))),
                       info(11, "x", (extent, 8)), info(11, "h0", (8,)), info(12, "y", (8,))))


def functions(count, circle, twice):
    made = []
    for level in range(count):
        following = f"f{level + 1}" if level + 1 < count else ("f0" if circle else "Relu")
        domain = "f" if following != "Relu" else ""
        nodes = [node(following, ["a"], ["b"], domain=domain),
                 node(following if twice else "Relu", ["b"], ["c"], domain=domain if twice else "")]
        made.append(function(f"f{level}", nodes))
    return model(with_input(node("f0", ["x"], ["y"], domain="f")), made)


def from_nothing():
    """Small models with what the samples have not; name -> bytes."""
    c = [integers("big", [2**40, 2**20]), integers("s", [-1, 2**62]), integers("two", [2], [])]
    made = {
        "ifs": nested_ifs(3),
        "ifs_deep": nested_ifs(40),
        "loop": loop(3),
        "loop_long": loop(19_000),
        "scan": scan(5),
        "scan_long": scan(20_000),
        "functions": functions(3, False, False),
        "functions_circle": functions(3, True, False),
        "functions_twice": functions(40, False, True),
        "functions_deep": functions(3000, False, False),
        "circle": model(with_input(node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"]))),
        "itself": model(with_input(node("Relu", ["y"], ["y"]))),
        "expand": model(with_input(node("Expand", ["x", "big"], ["y"]), constants=c)),
        "constant": model(with_input(node("ConstantOfShape", ["big"], ["a"]), node("Add", ["x", "a"], ["y"]), constants=c)),
        "reshape": model(with_input(node("Reshape", ["x", "s"], ["y"]), constants=c)),
        "tile": model(with_input(node("Tile", ["x", "big"], ["y"]), constants=c)),
        "range": model(with_input(node("Range", ["two", "last", "two"], ["a"]), node("Add", ["x", "a"], ["y"]),
                                  constants=[*c, integers("last", [2**50], [])])),
        "one_hot": model(with_input(node("OneHot", ["x", "last", "two"], ["y"]),
                                    constants=[*c, integers("last", [2**62], [])])),
        "wide": model(with_input(node("Concat", ["x"] * 5000, ["y"], attribute("axis", Field(3, 0, 0))))),
        "chain": model(with_input(*[node("Relu", ["x" if i == 0 else f"t{i}"], [f"t{i + 1}"]) for i in range(3000)],
                                  output="t3000")),
        "stored": model(with_input(node("MatMul", ["x", "w"], ["y"]), constants=[outside("w", [8, 8], "weights.bin", 16, 256)])),
        "stored_constant": model(with_input(node("Reshape", ["x", "s2"], ["y"]), constants=[outside("s2", [2], "weights.bin", 0, 16, 7)])),
        "sequence": model(with_input(node("SplitToSequence", ["x"], ["l"]),
                                     node("ConcatFromSequence", ["l"], ["y"], attribute("axis", Field(3, 0, 0))),
                                     dims=("batch", 65_536))),
        "lstm": model(graph(node("LSTM", ["x", "w", "r"], ["y"], attribute("hidden_size", Field(3, 0, 8))),
                            info(11, "x", (10, "batch", 8)), info(11, "w", (1, 32, 8)),
                            info(11, "r", (1, 32, 8)), info(12, "y", (10, 1, "batch", 8)))),
        "conv": model(graph(node("Conv", ["x", "w"], ["y"], attribute("kernel_shape", Field(8, 0, 3), Field(8, 0, 3)),
                                 attribute("pads", *[Field(8, 0, 1)] * 4)),
                            info(11, "x", ("batch", 3, 8, 8)), info(11, "w", (4, 3, 3, 3)),
                            info(12, "y", ("batch", 4, 8, 8)))),
    }
    result = {name: written(fields) for name, fields in made.items()}
    for levels in (20, 1000, 100_000):
        result[f"deep_{levels}"] = deep_bytes(levels)
    return result


# ---- damage

OPS = ["If", "Loop", "Scan", "SequenceMap", "Reshape", "Expand", "Tile", "ConstantOfShape", "Range", "Gather", "Concat",
       "Split", "Slice", "Pad", "Resize", "OneHot",
       "MatMul", "Gemm", "Conv", "LSTM", "Einsum", "Transpose", "Softmax", "TopK", "NonZero", "Identity", "SequenceAt",
       "SplitToSequence", "Attention", "LayerNormalization"]


# Of a tensor that is stored in another file: where, and from what byte on.
PLACES = [b"../weights.bin", b"/etc/passwd", b"/dev/zero", b"weights.bin/x", b".", b"none.bin", b"-1", b"1e3", b"9" * 30,
          b"9223372036854775807", b"4294967296", b"0x10", b" 16", b"257"]


def changed(random, root):
    all_places = places(root)
    if not all_places:
        return root
    fields, i = random.choice(all_places)
    field = fields[i]
    what = random.randrange(10)
    if what == 0:
        del fields[i]
    elif what == 1:
        fields[i:i] = [field] * random.choice([1, 2, 50, 2000 if not isinstance(field.content, list) else 10])
    elif what == 2:
        fields.insert(random.randrange(len(fields) + 1), fields.pop(i))
    elif what == 3:
        field.number = random.choice([field.number + 1, field.number - 1, random.randrange(1, 30), 2**28])
        field.number = max(field.number, 1)
    elif what == 4:
        other_fields, j = random.choice(all_places)
        fields[i] = Field(field.number, other_fields[j].kind, other_fields[j].content)
        if isinstance(fields[i].content, list) and len(written([fields[i]])) > 1 << 20:
            fields[i].content = b""
    elif isinstance(field.content, int):
        field.content = random.choice([*damage.GIANT, 0, 1, 2, -1, -2, -(2**63), 17, 65_536, 1_000_000, field.content * 1000,
                                       -field.content])
    elif isinstance(field.content, list):
        field.kind, field.content = 2, random.choice([b"", b"\xff" * 8, damage.of_bytes(random, written(field.content))])
    else:
        names = [f.content for each, k in all_places for f in [each[k]]
                 if isinstance(f.content, bytes) and f.kind == 2 and len(f.content) < 64]
        choices = [b"", b"\xff\xfe", b"x" * 100_000, damage.of_bytes(random, field.content),
                   random.choice(names) if names else b"", random.choice(OPS).encode(),
                   random.choice(OPS).encode()]
        if field.kind == 2:
            field.content = random.choice(choices)
        else:
            field.content = random.randbytes(len(field.content))
    return root


def of_onnx(random, content):
    if random.random() < 0.15:
        return damage.of_bytes(random, content)
    try:
        root = parsed(content, "Model")
        for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
            root = changed(random, root)
        result = written(root)
    except (IndexError, RecursionError, damage.TooLarge):
        return damage.of_bytes(random, content)
    return result

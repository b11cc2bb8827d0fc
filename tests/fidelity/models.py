"""Small models for the fidelity proof, written as ONNX files without the onnx package: their steps take a fraction of
a second to a few seconds on the networks that tests/fidelity/run shapes."""

import array
import math
import random

FLOAT = 1


def varint(value):
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(result + bytes([value]))


def field(number, value):
    """A field of a protocol buffer message: an integer, a text, or bytes (of a message, too)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name, shape):
    dims = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


class Model:
    """Grows node by node; every method gives the name of its output."""

    def __init__(self, *input_shape):
        self.nodes, self.weights, self.count = [], [], 0
        self.input = value_info("input", ["batch", *input_shape])

    def weight(self, *shape):
        self.count += 1
        name, elements = f"w{self.count}", 1
        for extent in shape:
            elements *= extent
        dims = b"".join(field(1, extent) for extent in shape)
        # Not zeros: how long pooling takes depends on what it compares.
        numbers, scale = random.Random(self.count), 1 / math.sqrt(elements / max(shape))
        values = array.array("f", (numbers.uniform(-scale, scale) for _ in range(elements)))
        self.weights.append(dims + field(2, FLOAT) + field(8, name) + field(9, values.tobytes()))
        return name

    def node(self, kind, inputs, **attributes):
        self.count += 1
        name = f"{kind.lower()}{self.count}"
        text = b"".join(field(1, i) for i in inputs) + field(2, name) + field(3, name) + field(4, kind)
        for key, value in attributes.items():
            listed = isinstance(value, list)
            numbers = b"".join(field(8, v) for v in value) if listed else field(3, value)
            text += field(5, field(1, key) + numbers + field(20, 7 if listed else 2))
        self.nodes.append(text)
        return name

    def linear(self, x, inputs, outputs):
        return self.node("Gemm", [x, self.weight(inputs, outputs), self.weight(outputs)])

    def conv(self, x, inputs, outputs):
        x = self.node("Conv", [x, self.weight(outputs, inputs, 3, 3), self.weight(outputs)],
                      kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        return self.relu(x)

    def relu(self, x):
        return self.node("Relu", [x])

    def pool(self, x):
        return self.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])

    def write(self, path, logits, classes):
        self.nodes.append(field(1, logits) + field(2, "logits") + field(3, "out") + field(4, "Identity"))
        graph = b"".join(field(1, n) for n in self.nodes) + field(2, path.stem)
        graph += b"".join(field(5, w) for w in self.weights)
        graph += field(11, self.input) + field(12, value_info("logits", ["batch", classes]))
        path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))
        return path


def wide(path):
    """Few large layers: 0.7 MB of parameters."""
    model = Model(256)
    x = "input"
    for inputs, outputs in ((256, 320), (320, 256)):
        x = model.relu(model.linear(x, inputs, outputs))
    return model.write(path, model.linear(x, 256, 10), 10)


def deep(path):
    """Twelve equal layers: 0.5 MB of parameters in many small gradients."""
    model = Model(96)
    x = "input"
    for _ in range(12):
        x = model.relu(model.linear(x, 96, 96))
    return model.write(path, model.linear(x, 96, 10), 10)


def convolutional(path):
    """More activations than parameters."""
    model = Model(3, 16, 16)
    x = model.pool(model.conv("input", 3, 16))
    x = model.pool(model.conv(model.conv(x, 16, 32), 32, 32))
    x = model.node("Flatten", [x], axis=1)
    return model.write(path, model.linear(x, 32 * 16, 10), 10)


def branching(path):
    """Three ways from the first layer to the last one."""
    model = Model(128)
    first = model.relu(model.linear("input", 128, 160))
    ends = []
    for length in (1, 2, 3):
        x = first
        for _ in range(length):
            x = model.relu(model.linear(x, 160, 160))
        ends.append(x)
    x = model.node("Add", [model.node("Add", ends[:2]), ends[2]])
    return model.write(path, model.linear(x, 160, 10), 10)


WRITERS = {"wide": wide, "deep": deep, "convolutional": convolutional, "branching": branching}

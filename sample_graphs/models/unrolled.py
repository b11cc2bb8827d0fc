"""Recurrent networks with their LSTM layers unrolled: every time step of every layer is a dozen nodes,
as in frameworks that have no op for a whole layer. Such a graph can be placed step by step.
"""

import recurrent

GATES = ("i", "g", "f", "o")


class Writer(recurrent.Writer):
    def __init__(self, layers, hidden, vocabulary, steps):
        super().__init__()
        self.layers, self.hidden, self.vocabulary, self.steps = layers, hidden, vocabulary, steps

    def split(self, name, x, axis, parts):
        self.add(name, "Split", x, axis=axis)
        outputs = [f"{name}.{part}" for part in parts]
        self.nodes[-1].output[:] = outputs
        return outputs

    def steps_of(self, name, x):
        """[batch, steps, hidden] -> steps times [batch, hidden]"""
        parts = self.split(f"{name}.split", x, 1, range(self.steps))
        return [self.add(f"{name}.{t}", "Squeeze", part, "one") for t, part in enumerate(parts)]

    def by_steps(self, name, xs, width):
        """steps times [batch, width] -> [batch, steps, width]"""
        self.integers(f"{name}.shape", 0, self.steps, width)
        joined = self.add(f"{name}.join", "Concat", *xs, axis=1)
        return self.add(name, "Reshape", joined, f"{name}.shape")


class Cell:
    """One LSTM layer: its weights, which all steps share, and its state."""

    def __init__(self, writer, name, inputs):
        hidden = writer.hidden
        self.writer, self.name, self.state = writer, name, None
        self.of_input = writer.weight(f"{name}.W", inputs, 4 * hidden)
        self.of_state = writer.weight(f"{name}.R", hidden, 4 * hidden)
        self.bias = writer.weight(f"{name}.b", 4 * hidden)

    def __call__(self, step, x):
        def add(suffix, kind, *inputs):
            return self.writer.add(f"{self.name}.{step}.{suffix}", kind, *inputs)

        sums = add("Wx", "MatMul", x, self.of_input)
        if self.state:  # the first step begins with zeros
            sums = add("sum", "Add", sums, add("Rh", "MatMul", self.state[0], self.of_state))
        sums = add("bias", "Add", sums, self.bias)
        parts = self.writer.split(f"{self.name}.{step}.split", sums, 1, GATES)
        i, f, o = (add(gate, "Sigmoid", parts[GATES.index(gate)]) for gate in "ifo")
        cell = add("ig", "Mul", i, add("g", "Tanh", parts[1]))
        if self.state:
            cell = add("c", "Add", add("fc", "Mul", f, self.state[1]), cell)
        self.state = add("h", "Mul", o, add("tanh", "Tanh", cell)), cell
        return self.state[0]


def nmt_unrolled():
    """4 + 4 layers of 2048 (Celeritas, 6.2.1)."""
    return nmt("nmt_unrolled", 4, 2048)


def gnmt(layers):
    """`layers` + `layers` layers of 1024, as Wu et al. (2016) have them (GDP, 6.3.4)."""
    return nmt(f"gnmt_{layers}l", layers, 1024)


def rnnlm(layers):
    """The language model of Zaremba et al. (2014) with a hidden size of 2048 (GDP, 6.3.3)."""
    writer = Writer(layers, 2048, 10_000, steps=35)
    xs = embedded(writer, "embedding", "input_ids")
    for layer in range(1, layers + 1):
        cell = Cell(writer, f"lstm.{layer}", writer.hidden)
        xs = [writer.dropout(f"drop.{layer}.{t}", cell(t, x)) for t, x in enumerate(xs)]
    result = writer.by_steps("result", xs, writer.hidden)
    writer.linear("softmax", result, writer.hidden, writer.vocabulary)
    sizes = [writer.steps, writer.vocabulary]
    return writer.model(f"rnnlm_{layers}l", {"input_ids": writer.steps}, "logits", sizes)


def nmt(name, layers, hidden):
    """Attention after the first layer of the decoder."""
    writer = Writer(layers, hidden, 32_000, steps=30)  # a usual sentence of WMT, in subwords
    memory = encoder(writer)
    keys = writer.linear("attention.key", memory, hidden, hidden, bias=False)
    writer.integers("second", 1)
    writer.integers("last", 2)
    xs = embedded(writer, "decoder", "target_ids")
    cells = [Cell(writer, "decoder.1", hidden)]
    cells += [Cell(writer, f"decoder.{layer}", 2 * hidden) for layer in range(2, layers + 1)]
    query = writer.weight("attention.query.weight", hidden, hidden)
    energy = writer.weight("attention.v", hidden, 1)
    results = []
    for t, x in enumerate(xs):
        x = cells[0](t, x)
        context = attention(writer, f"attention.{t}", x, query, keys, energy, memory)
        for layer, cell in enumerate(cells[1:], 2):
            both = writer.add(f"decoder.{layer}.{t}.join", "Concat", x, context, axis=1)
            y = cell(t, both)
            x = y if layer == 2 else writer.add(f"decoder.{layer}.{t}.residual", "Add", y, x)
        results.append(x)
    result = writer.by_steps("decoder", results, hidden)
    writer.linear("softmax", result, hidden, writer.vocabulary, bias=False)
    ids = {"source_ids": writer.steps, "target_ids": writer.steps}
    return writer.model(name, ids, "logits", [writer.steps, writer.vocabulary])


def embedded(writer, name, ids):
    table = writer.weight(f"{name}.table", writer.vocabulary, writer.hidden)
    found = writer.dropout(f"{name}.drop", writer.add(f"{name}.embedding", "Gather", table, ids))
    return writer.steps_of(f"{name}.x", found)


def encoder(writer):
    hidden = writer.hidden
    xs = embedded(writer, "encoder", "source_ids")
    forward, backward = Cell(writer, "encoder.1f", hidden), Cell(writer, "encoder.1b", hidden)
    there = [forward(t, x) for t, x in enumerate(xs)]
    back = [backward(t, x) for t, x in reversed(list(enumerate(xs)))][::-1]
    xs = [
        writer.add(f"encoder.1.{t}.join", "Concat", *pair, axis=1)
        for t, pair in enumerate(zip(there, back))
    ]
    for layer in range(2, writer.layers + 1):
        cell = Cell(writer, f"encoder.{layer}", 2 * hidden if layer == 2 else hidden)
        ys = [cell(t, x) for t, x in enumerate(xs)]
        if layer > 2:
            ys = [
                writer.add(f"encoder.{layer}.{t}.residual", "Add", y, x)
                for t, (y, x) in enumerate(zip(ys, xs))
            ]
        xs = ys
    return writer.by_steps("encoder", xs, hidden)


def attention(writer, name, x, query, keys, energy, memory):
    """Additive attention of one target step to every source step: [batch, hidden]."""
    queries = writer.add(f"{name}.query", "MatMul", x, query)
    queries = writer.add(f"{name}.each", "Unsqueeze", queries, "second")
    sums = writer.add(f"{name}.tanh", "Tanh", writer.add(f"{name}.sum", "Add", keys, queries))
    scores = writer.add(f"{name}.score", "MatMul", sums, energy)
    scores = writer.add(f"{name}.scores", "Squeeze", scores, "last")
    weights = writer.add(f"{name}.softmax", "Softmax", scores, axis=1)
    weights = writer.add(f"{name}.weights", "Unsqueeze", weights, "second")
    context = writer.add(f"{name}.mix", "MatMul", weights, memory)
    return writer.add(f"{name}.context", "Squeeze", context, "second")

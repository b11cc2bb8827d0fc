"""Recurrent networks, written as ONNX directly: one LSTM node for all steps of a layer."""

import onnx
from onnx import TensorProto, helper

import onnx_file


class Writer:
    """Nodes and weights in the order in which they are added; every node gives one tensor."""

    def __init__(self):
        self.nodes, self.weights, self.constants = [], [], []
        self.offset = 0

    def weight(self, name, *shape):
        value = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        tensor = onnx_file.external_tensor(value, self.offset)
        self.offset += onnx_file.tensor_bytes(tensor)
        self.weights.append(tensor)
        return name

    def integers(self, name, *values):
        self.constants.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def add(self, name, kind, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [f"{name}.out"], name, **attributes))
        return f"{name}.out"

    def embedding(self, name, ids, vocabulary, hidden):
        """[batch, steps] -> [steps, batch, hidden]"""
        turned = self.add(f"{name}.turn", "Transpose", ids, perm=[1, 0])
        return self.add(name, "Gather", self.weight(f"{name}.table", vocabulary, hidden), turned)

    def linear(self, name, x, inputs, outputs, bias=True):
        y = self.add(name, "MatMul", x, self.weight(f"{name}.weight", inputs, outputs))
        if not bias:
            return y
        return self.add(f"{name}.add", "Add", y, self.weight(f"{name}.bias", outputs))

    def dropout(self, name, x):
        return self.add(name, "Dropout", x, "dropout.ratio", "dropout.training")

    def lstm(self, name, x, inputs, hidden, both_ways=False):
        """[steps, batch, inputs] -> [steps, batch, hidden], or 2 * hidden both ways"""
        ways = 2 if both_ways else 1
        y = self.add(
            name, "LSTM", x,
            self.weight(f"{name}.W", ways, 4 * hidden, inputs),
            self.weight(f"{name}.R", ways, 4 * hidden, hidden),
            self.weight(f"{name}.B", ways, 8 * hidden),
            hidden_size=hidden,
            direction="bidirectional" if both_ways else "forward",
        )  # fmt: skip
        if not both_ways:
            return self.add(f"{name}.squeeze", "Squeeze", y, "one")
        turned = self.add(f"{name}.turn", "Transpose", y, perm=[0, 2, 1, 3])
        return self.add(f"{name}.join", "Reshape", turned, "join")

    def model(self, name, inputs, logits, sizes):
        """inputs: name -> steps. Ids are [batch, steps]; logits are [batch, *sizes]."""
        self.nodes[-1].output[0] = logits
        self.constants += [
            helper.make_tensor("dropout.ratio", TensorProto.FLOAT, [], [0.2]),
            helper.make_tensor("dropout.training", TensorProto.BOOL, [], [True]),
        ]
        self.integers("one", 1)
        ids = [
            helper.make_tensor_value_info(key, TensorProto.INT64, ["batch", steps])
            for key, steps in inputs.items()
        ]
        result = helper.make_tensor_value_info(logits, TensorProto.FLOAT, ["batch", *sizes])
        graph = helper.make_graph(
            self.nodes, name, ids, [result], [*self.weights, *self.constants]
        )
        opset = [helper.make_opsetid("", onnx_file.OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=8)


def rnnlm():
    """The language model of Zaremba et al. (2014), 2 layers, with a hidden size of 2048 (GDP, 6.3.3)."""
    hidden, vocabulary, steps = 2048, 10_000, 35
    writer = Writer()
    x = writer.dropout("drop.0", writer.embedding("embedding", "input_ids", vocabulary, hidden))
    for layer in (1, 2):
        x = writer.dropout(f"drop.{layer}", writer.lstm(f"lstm.{layer}", x, hidden, hidden))
    x = writer.add("by_sentence", "Transpose", x, perm=[1, 0, 2])
    writer.linear("softmax", x, hidden, vocabulary)
    return writer.model("rnnlm", {"input_ids": steps}, "logits", [steps, vocabulary])


def lm1b():
    """The language model of Jozefowicz et al. (2016), one LSTM of 2048 projected to 512, which learns from
    the scores of a few candidates a sentence instead of the whole vocabulary's: both tables are
    looked up in.
    """
    hidden, width, vocabulary, steps, candidates = 2048, 512, 793_470, 20, 64
    writer = Writer()
    x = writer.dropout("drop.0", writer.embedding("embedding", "input_ids", vocabulary, width))
    x = writer.dropout("drop.1", writer.lstm("lstm", x, width, hidden))
    x = writer.add("by_sentence", "Transpose", x, perm=[1, 0, 2])
    x = writer.linear("projection", x, hidden, width, bias=False)
    table = writer.weight("softmax.table", vocabulary, width)
    found = writer.add("softmax.candidates", "Gather", table, "candidate_ids")
    turned = writer.add("softmax.turn", "Transpose", found, perm=[0, 2, 1])
    writer.add("softmax", "MatMul", x, turned)
    ids = {"input_ids": steps, "candidate_ids": candidates}
    return writer.model("lm1b", ids, "logits", [steps, candidates])


def gnmt():
    """GNMT (Wu et al., 2016) with 4 + 4 layers; attention after the first layer of the decoder."""
    hidden, vocabulary = 1024, 32_000
    steps = 30  # a usual sentence of WMT English-German, in subwords
    writer = Writer()
    writer.integers("join", 0, 0, 2 * hidden)
    memory = encoder(writer, hidden, vocabulary)
    x = writer.embedding("decoder.embedding", "target_ids", vocabulary, hidden)
    x = writer.lstm("decoder.1", writer.dropout("decoder.drop.0", x), hidden, hidden)
    context = attention(writer, x, memory, hidden)
    for layer in (2, 3, 4):
        both = writer.add(f"decoder.join.{layer}", "Concat", x, context, axis=2)
        both = writer.dropout(f"decoder.drop.{layer}", both)
        y = writer.lstm(f"decoder.{layer}", both, 2 * hidden, hidden)
        x = y if layer == 2 else writer.add(f"decoder.residual.{layer}", "Add", y, x)
    x = writer.add("by_sentence", "Transpose", x, perm=[1, 0, 2])
    writer.linear("softmax", x, hidden, vocabulary, bias=False)
    ids = {"source_ids": steps, "target_ids": steps}
    return writer.model("gnmt", ids, "logits", [steps, vocabulary])


def encoder(writer, hidden, vocabulary):
    x = writer.embedding("encoder.embedding", "source_ids", vocabulary, hidden)
    x = writer.lstm("encoder.1", writer.dropout("encoder.drop.0", x), hidden, hidden, True)
    x = writer.lstm("encoder.2", writer.dropout("encoder.drop.1", x), 2 * hidden, hidden)
    for layer in (3, 4):
        y = writer.lstm(f"encoder.{layer}", writer.dropout(f"encoder.drop.{layer}", x), hidden, hidden)
        x = writer.add(f"encoder.residual.{layer}", "Add", y, x)
    return x


def attention(writer, query, memory, hidden):
    """Additive attention of every target step to every source step: [target, batch, hidden]."""
    writer.integers("first", 1)
    writer.integers("second", 2)
    writer.integers("last", 3)
    by_sentence = writer.add("attention.memory", "Transpose", memory, perm=[1, 0, 2])
    queries = writer.add("attention.queries", "Transpose", query, perm=[1, 0, 2])
    queries = writer.linear("attention.query", queries, hidden, hidden, bias=False)
    keys = writer.linear("attention.key", by_sentence, hidden, hidden, bias=False)
    queries = writer.add("attention.each_query", "Unsqueeze", queries, "second")
    keys = writer.add("attention.each_key", "Unsqueeze", keys, "first")
    energy = writer.add("attention.tanh", "Tanh", writer.add("attention.sum", "Add", queries, keys))
    scores = writer.add("attention.score", "MatMul", energy, writer.weight("attention.v", hidden, 1))
    scores = writer.add("attention.scores", "Squeeze", scores, "last")
    weights = writer.add("attention.softmax", "Softmax", scores, axis=2)
    context = writer.add("attention.context", "MatMul", weights, by_sentence)
    return writer.add("attention.turn", "Transpose", context, perm=[1, 0, 2])

"""Trains the model of this folder as the plan says: one process a device.

    torchrun --nproc_per_node N train.py --steps 3

graph.json    the training graph: tensors and ops; gradients and updates are ops like others
rank-R.json   what rank R does in a step: instructions that read and write values (tensors or pieces
              of them), on a compute and two communication streams, in one order over all ranks; what
              it keeps in the memory of its host is copied there, and back

Parameters and inputs are functions of the seed, the tensor's name and the sample, so every rank makes
its part of the same numbers. A loss is divided by the count of the global batch: losses and gradients
of the ranks add up. Of this folder, nothing but this file is executed.
"""
import argparse
import base64
import datetime
import json
import math
import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F

aten = torch.ops.aten

DTYPES = {name: getattr(torch, name) for name in (
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")}


# ---- the graph


class Tensor:
    def __init__(self, row):
        self.name = row["name"]
        self.dtype = DTYPES[row["type"]]
        self.role = row["role"]
        self.shape = row["shape"]
        self.batch_axis = row.get("batch_axis", -1)  # -1: does not carry the samples
        self.blocks = row.get("blocks", 1)           # runs of samples along that axis
        self.initial = row.get("initial")
        self.data = base64.b64decode(row["data"]) if "data" in row else None

    def elements(self):
        """Of a constant whose elements are in the graph; else None."""
        if self.data is None:
            return None
        flat = torch.frombuffer(bytearray(self.data), dtype=self.dtype) if self.data else torch.empty(0)
        return flat.to(self.dtype).reshape(self.shape)


class Op:
    def __init__(self, row):
        self.name = row["name"]
        self.type = row["type"]
        self.inputs = row["inputs"]  # tensors; -1: omitted
        self.outputs = row["outputs"]
        self.attributes = row.get("attributes", {})
        self.forward = row.get("forward", -1)


class Graph:
    def __init__(self, content):
        self.batch = content["batch"]
        self.training = content["training"]
        self.tensors = [Tensor(row) for row in content["tensors"]]
        self.ops = [Op(row) for row in content["ops"]]
        # Members of collectives, the same order on all ranks; those on two streams are there twice.
        self.groups = content["groups"]
        self.parameters = content["parameters"]  # [tensor, [[rank, value, piece], ...]]


SAMPLES = -1  # the axis of a piece that counts samples, whichever axis of the tensor has them
SUMMED = 64   # from here on an axis is a letter that the tensor's op sums over


class Piece:
    """How much of its tensor a value holds: of each axis that is named, a range; of the others all. A
    range of a letter cuts nothing off but makes it a partial sum, as do samples that the tensor does
    not carry."""

    def __init__(self, ranges=()):
        self.ranges = {axis: (begin, end) for axis, begin, end in ranges}

    def samples(self, batch):
        return self.ranges.get(SAMPLES, (0, batch))

    def of_samples(self):
        """The same samples, of every other axis all."""
        return Piece([axis, *ends] for axis, ends in self.ranges.items() if axis == SAMPLES)

    def slices(self):
        return [(axis, *ends) for axis, ends in self.ranges.items() if SAMPLES < axis < SUMMED]


WHOLE = Piece()


def shape_of(tensor, piece, batch):
    shape = list(tensor.shape)
    for axis, begin, end in piece.slices():
        shape[axis] = end - begin
    if tensor.batch_axis >= 0:
        first, last = piece.samples(batch)
        shape[tensor.batch_axis] = shape[tensor.batch_axis] // batch * (last - first)
    return shape


def place(value, tensor, have, want, batch):
    """Where the piece `want` lies in a value that holds the piece `have`: a view, in which the axis that
    carries the samples is three: runs of samples, samples, and what each has of a run."""
    for axis, begin, end in want.slices():
        first, _ = have.ranges.get(axis, (0, 0))
        value = value.narrow(axis, begin - first, end - begin)
    if tensor.batch_axis < 0:
        return value
    (first, last), (begin, end) = have.samples(batch), want.samples(batch)
    run = tensor.shape[tensor.batch_axis] // (tensor.blocks * batch)
    value = value.unflatten(tensor.batch_axis, (tensor.blocks, last - first, run))
    return value.narrow(tensor.batch_axis + 1, begin - first, end - begin)


def cut(value, tensor, have, want, batch):
    """The piece `want` of a value that holds the piece `have`; in its memory where that can be."""
    return place(value, tensor, have, want, batch).reshape(shape_of(tensor, want, batch))


def joined(parts, pieces, tensor, want, batch):
    """The piece `want`, of these pieces of it."""
    made = parts[0].new_empty(shape_of(tensor, want, batch))
    for part, piece in zip(parts, pieces):
        there = place(made, tensor, want, piece, batch)
        there.copy_(part.reshape(there.shape))
    return made


# ---- numbers that depend on the seed, a name, the sample and the place only

MASK = (1 << 64) - 1


def signed(number):
    number &= MASK
    return number - (1 << 64) if number >> 63 else number


def shifted(bits, count):
    """Right, filled with zeros."""
    return (bits >> count) & ((1 << (64 - count)) - 1)


def mixed(bits):
    """splitmix64 of each element (Steele, Lea, Flood 2014); 64-bit products wrap."""
    bits = bits + signed(0x9E3779B97F4A7C15)
    bits = (bits ^ shifted(bits, 30)) * signed(0xBF58476D1CE4E5B9)
    bits = (bits ^ shifted(bits, 27)) * signed(0x94D049BB133111EB)
    return bits ^ shifted(bits, 31)


def hashed(text):  # FNV-1a
    number = 0xCBF29CE484222325
    for byte in text.encode():
        number = ((number ^ byte) * 0x100000001B3) & MASK
    return number


def noise(tensor, batch, name, seed, first, samples, salt=0):
    """53 random bits for each element of these samples (of a tensor without samples: of all)."""
    key = mixed(mixed(torch.tensor([signed(seed ^ hashed(name))])) + salt)
    if tensor.batch_axis < 0:
        first, samples, blocks, run = 0, 1, 1, math.prod(tensor.shape)
    else:
        outer = math.prod(tensor.shape[:tensor.batch_axis])
        inner = math.prod(tensor.shape[tensor.batch_axis + 1:])
        blocks = outer * tensor.blocks
        run = tensor.shape[tensor.batch_axis] // (tensor.blocks * batch) * inner
    starts = mixed(key + torch.arange(first, first + samples))
    blocks = torch.arange(blocks) * run
    places = blocks[:, None, None] + starts[None, :, None] + torch.arange(run)[None, None, :]
    return shifted(mixed(places), 11).flatten()


def in_type(values, dtype):
    """Half precision is cut, not rounded."""
    if dtype == torch.bfloat16:
        return (values.float().view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)
    if dtype == torch.float16:
        short = (values.float().view(torch.int32) & ~0x1FFF).view(torch.float32)
        return torch.where(short.abs() < 2.0 ** -14, torch.zeros_like(short), short).half()
    return values.to(dtype)


def stored(folder):
    """The .npy files of a folder with an index.json, by the names of their tensors."""
    rows = json.loads((pathlib.Path(folder) / "index.json").read_text())
    return {row["name"]: pathlib.Path(folder) / row["file"]
            for row in rows["tensors" if "tensors" in rows else "inputs"]}


def array(file, dtype):
    """A view of the file: what is not looked at is not read."""
    import numpy
    numbers = numpy.load(file, mmap_mode="c", allow_pickle=False)
    if dtype == torch.bfloat16:  # stored as its 16 bits
        return torch.from_numpy(numbers.view(numpy.int16)).view(dtype)
    return torch.from_numpy(numbers)


def batch_of(samples, tensor, piece, batch, step):
    """The piece's samples of the step's batch; after the last sample comes the first."""
    if tensor.batch_axis < 0:
        return cut(samples, tensor, WHOLE, piece, batch)
    held = piece.of_samples()
    chosen = (torch.arange(*piece.samples(batch)) + (step - 1) * batch) % len(samples)
    outer = math.prod(tensor.shape[:tensor.batch_axis])
    part = samples[chosen].reshape(len(chosen), outer, tensor.blocks, -1)
    part = part.permute(1, 2, 0, 3).reshape(shape_of(tensor, held, batch))
    return cut(part, tensor, held, piece, batch)


def initial_value(tensor, piece, batch, seed):
    if piece.slices():
        held = piece.of_samples()
        return cut(initial_value(tensor, held, batch, seed), tensor, held, piece, batch)
    kind, low, high = tensor.initial
    if kind == "data":
        return cut(tensor.elements(), tensor, WHOLE, piece, batch)
    shape = shape_of(tensor, piece, batch)
    if kind == "fill":
        return in_type(torch.full(shape, low, dtype=torch.float64), tensor.dtype)
    first, last = piece.samples(batch)
    unit = noise(tensor, batch, tensor.name, seed, first, last - first).double() * 2.0 ** -53
    if kind == "uniform":
        values = low + (high - low) * unit
    else:  # integers below `high`
        values = (unit * high).long().clamp_max(int(high) - 1)
    return in_type(values, tensor.dtype).reshape(shape)


# ---- ops: from an op to a function of its inputs


class Site:
    """An op where it is computed: a piece of its first output; an update, of its parameter."""

    def __init__(self, run, op, piece=WHOLE, shapes=()):
        self.run, self.graph, self.op, self.piece = run, run.graph, op, piece
        self.shapes = shapes  # of the outputs, here

    def of_forward(self):
        if self.op.forward < 0:
            return self
        return Site(self.run, self.graph.ops[self.op.forward], self.piece, self.shapes)

    def get(self, key, fallback=None):
        return self.op.attributes.get(key, fallback)

    def input(self, slot):
        return self.graph.tensors[self.op.inputs[slot]]

    def output(self, slot=0):
        return self.graph.tensors[self.op.outputs[slot]]

    def has_input(self, slot):
        return slot < len(self.op.inputs) and self.op.inputs[slot] >= 0

    def axis(self, fallback, shape):
        axis = self.get("axis", fallback)
        return axis + len(shape) if axis < 0 else axis

    def list(self, key, slot):
        """Integers that are an attribute, or a constant input."""
        if self.get(key) is not None:
            return self.get(key)
        if not self.has_input(slot) or self.input(slot).data is None:
            return None
        return self.input(slot).elements().flatten().tolist()

    def setting(self, key, slot, fallback):
        """A number that is an attribute, or a constant input."""
        values = self.list(key, slot)
        if values is None:
            return fallback
        return values[0] if isinstance(values, list) else values


def widened(x):
    """What has 16 bits in 32; anything else as it is."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


# Every row of these tables is: op type -> function from a Site to a function of the op's inputs.

OPS = {}


def ops(*types):
    def add(make):
        for each in types:
            OPS[each] = make
        return make
    return add


def same(function):
    """For ops that are one function, whatever their attributes."""
    return lambda site: function


def summed(function):
    """A gradient of an operand that may have been broadcast."""
    return lambda site: lambda *x: function(*x).sum_to_size(site.shapes[0])


OPS.update({
    "Abs": same(torch.abs), "AbsGrad": same(lambda dy, x: dy * x.sign()),
    "Ceil": same(torch.ceil), "Floor": same(torch.floor), "Round": same(torch.round),
    "Sign": same(torch.sign), "Not": same(torch.logical_not), "Neg": same(torch.neg),
    "NegGrad": same(lambda dy, *_: -dy),
    "Cos": same(torch.cos), "CosGrad": same(lambda dy, x: -(dy * x.sin())),
    "Sin": same(torch.sin), "SinGrad": same(lambda dy, x: dy * x.cos()),
    "Erf": same(torch.erf),
    "ErfGrad": same(lambda dy, x: (-x.square()).exp() * (2 / math.sqrt(math.pi)) * dy),
    "Exp": same(torch.exp), "ExpGrad": same(lambda dy, y: dy * y),
    "Log": same(torch.log), "LogGrad": same(lambda dy, x: dy / x),
    "Sqrt": same(torch.sqrt), "SqrtGrad": same(lambda dy, y: dy / (y * 2)),
    "Reciprocal": same(torch.reciprocal), "ReciprocalGrad": same(lambda dy, y: -(dy * y * y)),
    "Relu": same(torch.relu), "ReluGrad": same(lambda dy, y: aten.threshold_backward(dy, y, 0)),
    "Sigmoid": same(torch.sigmoid), "SigmoidGrad": same(lambda dy, y: dy * (1 - y) * y),
    "Tanh": same(torch.tanh), "TanhGrad": same(lambda dy, y: dy * (1 - y * y)),
    "Silu": same(F.silu), "SiluGrad": same(lambda dy, x: aten.silu_backward(dy, x)),
    "Swish": same(F.silu), "SwishGrad": same(lambda dy, x: aten.silu_backward(dy, x)),
    "HardSwish": same(F.hardswish), "HardSwishGrad": same(lambda dy, x: aten.hardswish_backward(dy, x)),
    "Softplus": same(F.softplus), "SoftplusGrad": same(lambda dy, x: dy * x.sigmoid()),
    # Two operands.
    "Add": same(torch.add), "Sub": same(torch.sub), "Mul": same(torch.mul), "Pow": same(torch.pow),
    "And": same(torch.logical_and), "Or": same(torch.logical_or), "Equal": same(torch.eq),
    "Greater": same(torch.gt), "GreaterOrEqual": same(torch.ge),
    "Less": same(torch.lt), "LessOrEqual": same(torch.le),
    "AddGrad": summed(lambda dy, *_: dy), "AddNGrad": summed(lambda dy, *_: dy),
    "SumGrad": summed(lambda dy, *_: dy), "SubGradA": summed(lambda dy, *_: dy),
    "ModGradA": summed(lambda dy, *_: dy), "SubGradB": summed(lambda dy, *_: -dy),
    "MulGradA": summed(lambda dy, b: dy * b), "MulGradB": summed(lambda dy, a: dy * a),
    "DivGradA": summed(lambda dy, b: dy / b),
    "DivGradB": summed(lambda dy, a, b: -(dy * a / b.square())),
    "PowGradA": summed(lambda dy, a, b: dy * b * a.pow(b - 1)),
    "PowGradB": summed(lambda dy, a, b, y: dy * y * a.log()),
    "MaxGrad": summed(lambda dy, x, y: x.eq(y) * dy), "MinGrad": summed(lambda dy, x, y: x.eq(y) * dy),
    "Where": same(torch.where), "WhereGradA": summed(lambda dy, c: c * dy),
    "WhereGradB": summed(lambda dy, c: c.logical_not() * dy),
    # Any number.
    "AddN": same(lambda *x: sum(x[1:], x[0])), "Sum": same(lambda *x: sum(x[1:], x[0])),
    "Mean": same(lambda *x: sum(x[1:], x[0]) / len(x)),
})


@ops("Max", "Min")
def extreme(site):
    choose = torch.maximum if site.op.type == "Max" else torch.minimum

    def fold(first, *others):
        for other in others:
            first = choose(first, other)
        return first
    return fold


@ops("MeanGrad")
def mean_grad(site):
    count = len(site.of_forward().op.inputs)
    return lambda dy: tuple((dy / count).sum_to_size(shape) for shape in site.shapes)


@ops("Div")
def div(site):
    whole = not site.output().dtype.is_floating_point
    return lambda a, b: torch.div(a, b, rounding_mode="trunc" if whole else None)


@ops("Mod")
def mod(site):
    return torch.fmod if site.get("fmod", 0) else torch.remainder


@ops("Gelu", "FastGelu", "GeluGrad", "FastGeluGrad")
def gelu(site):
    form = "tanh" if site.op.type.startswith("Fast") else site.get("approximate", "none")
    if site.op.type.endswith("Grad"):
        return lambda dy, x: aten.gelu_backward(dy, x, approximate=form)
    return lambda x: F.gelu(x, approximate=form)


@ops("QuickGelu", "QuickGeluGrad")
def quick_gelu(site):
    alpha = site.get("alpha", 1.702)
    if site.op.type == "QuickGelu":
        return lambda x: x * torch.sigmoid(x * alpha)
    return lambda dy, x: aten.silu_backward(dy, x * alpha)


@ops("LeakyRelu", "LeakyReluGrad")
def leaky_relu(site):
    alpha = site.get("alpha", 0.01)
    if site.op.type == "LeakyRelu":
        return lambda x: F.leaky_relu(x, alpha)
    return lambda dy, y: torch.where(y > 0, dy, dy * alpha)


@ops("Elu", "EluGrad")
def elu(site):
    alpha = site.get("alpha", 1.0)
    if site.op.type == "Elu":
        return lambda x: F.elu(x, alpha)
    return lambda dy, y: torch.where(y > 0, dy, dy * (y + alpha))


@ops("HardSigmoid", "HardSigmoidGrad")
def hard_sigmoid(site):
    alpha, beta = site.get("alpha", 0.2), site.get("beta", 0.5)
    if site.op.type == "HardSigmoid":
        return lambda x: (x * alpha + beta).clamp(0, 1)
    return lambda dy, x: dy * ((x * alpha + beta > 0) & (x * alpha + beta < 1)) * alpha


@ops("Clip", "ClipGrad")
def clip(site):
    forward = site.of_forward()
    low = forward.setting("min", 1, -math.inf)
    high = forward.setting("max", 2, math.inf)
    if site.op.type == "Clip":
        return lambda x, *_: x.clamp(low, high)
    return lambda dy, x: ((x >= low) & (x <= high)) * dy


@ops("Cast", "CastGrad")
def cast(site):
    return lambda x, *_: x.to(site.output().dtype)


@ops("Dropout")
def dropout(site):
    ratio = site.setting("ratio", 1, 0.5)
    if not site.graph.training:
        return lambda x, *_: (x, torch.ones_like(x, dtype=torch.bool))
    tensor, batch, piece = site.input(0), site.graph.batch, site.piece
    first, last = piece.samples(batch)
    drawn = piece.of_samples()

    def drop(x, *_):
        bits = noise(tensor, batch, site.op.name, site.run.seed, first, last - first, site.run.step)
        keeps = (bits >= int(ratio * 2.0 ** 53)).reshape(shape_of(tensor, drawn, batch))
        keeps = cut(keeps, tensor, drawn, piece, batch).to(x.device)
        return x * keeps * (1 / (1 - ratio)), keeps
    return drop


@ops("DropoutGrad")
def dropout_grad(site):
    ratio = site.of_forward().setting("ratio", 1, 0.5)
    return lambda dy, keeps: dy * keeps * (1 / (1 - ratio))


# Products.


def turned(matrix, turn):
    return matrix.transpose(-1, -2) if turn and matrix.dim() >= 2 else matrix


@ops("MatMul", "FusedMatMul", "MatMulGradA", "FusedMatMulGradA", "MatMulGradB", "FusedMatMulGradB")
def matmul(site):
    forward = site.of_forward()
    turn_a, turn_b = forward.get("transA", 0), forward.get("transB", 0)
    alpha = forward.get("alpha", 1.0)
    row, column = len(forward.input(0).shape) == 1, len(forward.input(1).shape) == 1
    to = site.shapes[0]

    def of_a(a):
        return a.unsqueeze(0) if row else turned(a, turn_a)

    def of_b(b):
        return b.unsqueeze(-1) if column else turned(b, turn_b)

    def of_y(dy):
        dy = dy.unsqueeze(-1) if column else dy
        return dy.unsqueeze(-2) if row else dy

    def grad_a(dy, b):
        gradient = of_y(dy) @ of_b(b).transpose(-1, -2)
        gradient = turned(gradient, turn_a and not row) * alpha
        return gradient.sum_to_size([1, *to] if row else to).reshape(to)

    def grad_b(dy, a):
        dy, a = of_y(dy), of_a(a)
        if len(to) <= 2:  # one matrix for all: one product over all rows
            dy, a = dy.reshape(-1, dy.shape[-1]), a.reshape(-1, a.shape[-1])
        gradient = turned(a.transpose(-1, -2) @ dy, turn_b and not column) * alpha
        return gradient.sum_to_size([*to, 1] if column else to).reshape(to)

    if site.op.type.endswith("GradA"):
        return grad_a
    if site.op.type.endswith("GradB"):
        return grad_b
    return lambda a, b: ((of_a(a) @ of_b(b)) * alpha).reshape(to)


@ops("Gemm", "GemmGradInput", "GemmGradWeight", "GemmGradBias")
def gemm(site):
    forward = site.of_forward()
    turn_a, turn_b = forward.get("transA", 0), forward.get("transB", 0)
    alpha, beta = forward.get("alpha", 1.0), forward.get("beta", 1.0)

    def product(a, b, c=None):
        a, b = turned(a, turn_a), turned(b, turn_b)
        return (a @ b) * alpha if c is None else torch.addmm(c, a, b, beta=beta, alpha=alpha)

    def grad_input(dy, b):
        b = turned(b, not turn_b)
        return (b.t() @ dy.t() if turn_a else dy @ b) * alpha

    def grad_weight(dy, a):
        a = turned(a, not turn_a)
        return (dy.t() @ a.t() if turn_b else a @ dy) * alpha

    return {"Gemm": product, "GemmGradInput": grad_input, "GemmGradWeight": grad_weight,
            "GemmGradBias": lambda dy, *_: (dy * beta).sum_to_size(site.shapes[0])}[site.op.type]


# Sliding windows: ONNX's uneven padding is done before, even padding by the library.


class Window:
    def __init__(self, forward, kernel):
        rank = len(kernel)
        pads = forward.get("pads") or [0] * (2 * rank)
        self.kernel = list(kernel)
        self.stride = (list(forward.get("strides") or []) + [1] * rank)[:rank]
        self.dilation = (list(forward.get("dilations") or []) + [1] * rank)[:rank]
        self.begin, self.end = [], []
        automatic = forward.get("auto_pad", "NOTSET")
        backward = forward.op.type == "ConvTranspose"
        for i in range(rank):
            into, out = forward.input(0).shape[i + 2], forward.output().shape[i + 2]
            large, small = (out, into) if backward else (into, out)
            reach = self.dilation[i] * (self.kernel[i] - 1) + 1
            first = last = 0
            if automatic.startswith("SAME"):
                total = max((small - 1) * self.stride[i] + reach - large, 0)
                first = total - total // 2 if automatic == "SAME_LOWER" else total // 2
                last = total - first
            elif automatic == "NOTSET":
                first, last = pads[i], pads[i + rank]
            if forward.get("ceil_mode", 0):  # the last window is rounded up
                last = max(last, (out - 1) * self.stride[i] + reach - into - first)
            self.begin.append(first)
            self.end.append(last)
        self.even = self.begin == self.end

    def pads(self, sign=1):  # of the last axis first
        return [sign * pad for both in zip(self.begin[::-1], self.end[::-1]) for pad in both]

    def padding(self):
        return self.begin if self.even else [0] * len(self.begin)

    def padded(self, x, value=0.0):
        return x if self.even else F.pad(x, self.pads(), value=value)

    def cropped(self, x):
        return x if self.even else F.pad(x, self.pads(-1))

    def padded_shape(self, shape):
        if self.even:
            return shape
        more = [a + b for a, b in zip(self.begin, self.end)]
        return [*shape[:2], *(extent + pad for extent, pad in zip(shape[2:], more))]


@ops("Conv", "ConvGradInput", "ConvGradWeight", "ConvTranspose", "ConvTransposeGradInput",
     "ConvTransposeGradWeight")
def convolution(site):
    forward = site.of_forward()
    transposed = forward.op.type == "ConvTranspose"
    window = Window(forward, forward.input(1).shape[2:])
    extra = (list(forward.get("output_padding") or []) + [0] * len(window.kernel))[:len(window.kernel)]

    def how(x, y_shape, w):  # groups: those of the channels that are here
        groups = (y_shape if transposed else x.shape)[1] // w.shape[1]
        return window.stride, window.padding(), window.dilation, transposed, extra, groups

    def gradient(dy, x, w, wanted):
        return aten.convolution_backward(dy, x, w, None, *how(x, dy.shape, w), wanted)

    def convolve(x, w, b=None):
        return torch.convolution(window.padded(x), w, b, *how(x, site.shapes[0], w))

    def grad_input(dy, w):
        x = dy.new_empty(window.padded_shape(site.shapes[0]))  # its shape is read
        return window.cropped(gradient(dy, x, w, [True, False, False])[0])

    def grad_weight(dy, x):
        w = dy.new_empty(site.shapes[0])
        return gradient(dy, window.padded(x), w, [False, True, False])[1]

    if site.op.type.endswith("GradInput"):
        return grad_input
    if site.op.type.endswith("GradWeight"):
        return grad_weight
    return convolve


@ops("ConvGradBias", "ConvTransposeGradBias")
def convolution_grad_bias(site):
    return lambda dy, *_: dy.sum([0, *range(2, dy.dim())])


@ops("MaxPool", "MaxPoolGrad", "AveragePool", "AveragePoolGrad")
def pool(site):
    forward = site.of_forward()
    window = Window(forward, forward.get("kernel_shape"))
    # The library's limit on its own padding.
    window.even = not forward.get("ceil_mode", 0) and all(
        a == b and 2 * a <= k for a, b, k in zip(window.begin, window.end, window.kernel))
    with_pads = bool(forward.get("count_include_pad", 0))
    kernel, stride, padding = window.kernel, window.stride, window.padding()

    def largest(x):
        return aten.max_pool2d_with_indices(x, kernel, stride, padding, window.dilation, False)

    def max_grad(dy, x, *_):
        x = window.padded(x, -math.inf)
        return window.cropped(aten.max_pool2d_with_indices_backward(
            dy, x, kernel, stride, padding, window.dilation, False, largest(x)[1]))

    def counts(shape, like):  # elements of each window that count
        ones = torch.ones([1, 1, *shape[2:]], dtype=like.dtype, device=like.device)
        ones = F.pad(ones, window.pads(), value=1.0 if with_pads else 0.0)
        return F.avg_pool2d(ones, kernel, stride)

    def average(x):
        if window.even:
            return F.avg_pool2d(x, kernel, stride, padding, False, with_pads)
        return F.avg_pool2d(window.padded(x), kernel, stride) / counts(x.shape, x)

    def average_grad(dy, *_):
        shape = site.shapes[0]
        x = dy.new_empty(window.padded_shape(shape))  # its shape is read
        if window.even:
            return aten.avg_pool2d_backward(dy, x, kernel, stride, padding, False, with_pads, None)
        share = dy / counts(shape, dy)
        return window.cropped(aten.avg_pool2d_backward(share, x, kernel, stride, [0, 0], False, True, None))

    return {"MaxPool": lambda x: largest(window.padded(x, -math.inf))[0], "MaxPoolGrad": max_grad,
            "AveragePool": average, "AveragePoolGrad": average_grad}[site.op.type]


OPS.update({
    "GlobalAveragePool": same(lambda x: x.mean(list(range(2, x.dim())), keepdim=True)),
    "GlobalAveragePoolGrad": lambda site: lambda dy, *_: (
        dy / math.prod(site.shapes[0][2:])).expand(site.shapes[0]),
    "GlobalMaxPool": same(lambda x: x.amax(list(range(2, x.dim())), keepdim=True)),
    "GlobalMaxPoolGrad": same(lambda dy, x, y: x.eq(y) * dy),
})


# Elements elsewhere: views, copies, lookups; reductions.


@ops("Flatten", "FlattenGrad", "Identity", "NoOp", "Reshape", "ReshapeGrad", "Squeeze", "SqueezeGrad",
     "Unsqueeze", "UnsqueezeGrad")
def view(site):
    return lambda x, *_: x.view(site.shapes[0])


@ops("Transpose", "TransposeGrad")
def transpose(site):
    forward = site.of_forward()
    rank = len(forward.input(0).shape)
    order = list(forward.get("perm") or range(rank - 1, -1, -1))
    if site.op.type.endswith("Grad"):
        order = [order.index(i) for i in range(rank)]
    return lambda x, *_: x.permute(order)


@ops("Expand")
def expand(site):
    return lambda x, *_: x.expand(site.shapes[0])


@ops("ExpandGrad")
def expand_grad(site):
    return lambda dy, *_: dy.sum_to_size(site.shapes[0])


@ops("Tile")
def tile(site):
    repeats = site.list("repeats", 1)
    return lambda x, *_: x.repeat(repeats)


@ops("Concat")
def concat(site):
    axis = site.axis(0, site.output().shape)
    return lambda *x: torch.cat(x, axis)


@ops("ConcatGrad")
def concat_grad(site):
    forward = site.of_forward()
    axis = forward.axis(0, forward.output().shape)
    lengths = [forward.input(i).shape[axis] for i in range(len(forward.op.inputs))]
    return lambda dy: tuple(dy.narrow(axis, sum(lengths[:i]), lengths[i]) for i in site.get("wrt"))


@ops("Split")
def split(site):
    axis = site.axis(0, site.input(0).shape)
    return lambda x, *_: torch.split(x, [shape[axis] for shape in site.shapes], axis)


@ops("SplitGrad")
def split_grad(site):
    forward = site.of_forward()
    axis = forward.axis(0, forward.input(0).shape)
    return lambda *dy: torch.cat(dy, axis)


@ops("Slice", "SliceGrad")
def slices(site):
    forward = site.of_forward()
    starts, ends = forward.list("starts", 1), forward.list("ends", 2)
    axes = forward.list("axes", 3) or list(range(len(starts)))
    steps = forward.list("steps", 4) or [1] * len(starts)
    where = [slice(None)] * len(forward.input(0).shape)
    for axis, start, end, step in zip(axes, starts, ends, steps):
        where[axis] = slice(start, end, step)
    where = tuple(where)

    def grad(dy, *_):
        gradient = dy.new_zeros(site.shapes[0])
        gradient[where] = dy
        return gradient
    return grad if site.op.type.endswith("Grad") else lambda x, *_: x[where]


@ops("Pad", "PadGrad")
def pad(site):
    forward = site.of_forward()
    pads, rank = forward.list("pads", 1), len(forward.input(0).shape)
    sign = -1 if site.op.type.endswith("Grad") else 1
    value = site.setting("value", 2, 0.0) if sign > 0 else 0.0
    flat = [sign * pads[i + side] for i in range(rank - 1, -1, -1) for side in (0, rank)]
    return lambda x, *_: F.pad(x, flat, value=float(value))


class Lookup:
    """A piece may have some of the rows of the table: what it has not is zero."""

    def __init__(self, site):
        forward = site.of_forward()
        self.axis = forward.axis(0, forward.input(0).shape)
        self.extent = forward.input(0).shape[self.axis]  # of the whole table
        self.wraps = forward.input(1).role != "input"  # negative ones count from the back
        ranges = site.piece.ranges
        if site.op is not forward.op:
            ranges = {axis: ends for axis, ends in ranges.items() if axis == self.axis}
        else:  # the letter that is summed over
            ranges = {axis: ends for axis, ends in ranges.items() if axis >= SUMMED}
        self.is_part = bool(ranges)
        self.first, last = next(iter(ranges.values()), (0, self.extent))
        self.rows = last - self.first

    def flat(self, indices):
        """Of each index its row; those that are not here have one behind the last."""
        indices = indices.flatten().long()
        if self.wraps:
            indices = torch.where(indices < 0, indices + self.extent, indices)
        if not self.is_part:
            return indices
        indices = indices - self.first
        return torch.where((indices >= 0) & (indices < self.rows), indices,
                           torch.full_like(indices, self.rows))


@ops("Gather")
def gather(site):
    table = Lookup(site)

    def find(x, indices):
        if table.is_part:
            x = torch.cat([x, torch.zeros_like(x[:1])])
        return x.index_select(table.axis, table.flat(indices)).view(site.shapes[0])
    return find


@ops("GatherGrad")
def gather_grad(site):
    table = Lookup(site)
    to = site.shapes[0]

    def grad(dy, indices, *_):
        indices = table.flat(indices)
        if table.axis == 0:
            rows = dy.reshape(indices.numel(), -1)
            count = table.rows + table.is_part  # the last takes all others'
            return aten.embedding_dense_backward(rows, indices, count, -1, False)[:table.rows].reshape(to)
        shape = [*to[:table.axis], indices.numel(), *to[table.axis + 1:]]
        return dy.new_zeros(to).index_add(table.axis, indices, dy.reshape(shape))
    return grad


@ops("GatherElements")
def gather_elements(site):
    axis = site.axis(0, site.input(0).shape)
    return lambda x, indices: x.gather(axis, indices.long())


@ops("GatherElementsGrad")
def gather_elements_grad(site):
    forward = site.of_forward()
    axis = forward.axis(0, forward.input(0).shape)
    return lambda dy, indices, *_: dy.new_zeros(site.shapes[0]).scatter_add_(axis, indices.long(), dy)


def reduced_axes(forward):
    rank = len(forward.input(0).shape)
    axes = forward.list("axes", 1) or []
    if not axes and not forward.get("noop_with_empty_axes", 0):
        axes = range(rank)
    return sorted({axis + rank if axis < 0 else axis for axis in axes})


@ops("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin")
def reduction(site):
    axes, keep = reduced_axes(site), bool(site.get("keepdims", 1))
    reduce = {"ReduceSum": torch.sum, "ReduceMean": torch.mean, "ReduceMax": torch.amax,
              "ReduceMin": torch.amin}[site.op.type]
    return lambda x, *_: reduce(x, axes, keepdim=keep) if axes else x


def with_axes(value, axes, shape):
    """A reduced tensor with its axes back, each of extent one."""
    return value.reshape([1 if i in axes else extent for i, extent in enumerate(shape)])


@ops("ReduceSumGrad", "ReduceMeanGrad")
def reduction_grad(site):
    forward = site.of_forward()
    axes = reduced_axes(forward)
    mean = forward.op.type == "ReduceMean"
    count = math.prod(forward.input(0).shape[axis] for axis in axes) if mean else 1
    to = site.shapes[0]
    return lambda dy, *_: (with_axes(dy, axes, to) / count).expand(to)


@ops("ReduceMaxGrad", "ReduceMinGrad")
def extreme_grad(site):
    axes = reduced_axes(site.of_forward())
    return lambda dy, x, y: x.eq(with_axes(y, axes, x.shape)) * with_axes(dy, axes, x.shape)


@ops("ArgMax", "ArgMin")
def place_of_extreme(site):
    find = torch.argmax if site.op.type == "ArgMax" else torch.argmin
    axis, keep = site.axis(0, site.input(0).shape), bool(site.get("keepdims", 1))
    return lambda x: find(x, axis, keepdim=keep)


# Normalisations, softmax, losses. Gradients find the statistics again.


def wanted_of(site):
    return [i in site.get("wrt") for i in range(3)]


def chosen(gradients, wanted):
    return tuple(gradient for gradient, want in zip(gradients, wanted) if want)


@ops("BatchNormalization")
def batch_norm(site):
    training, epsilon = site.graph.training, site.get("epsilon", 1e-5)

    def normalize(x, scale, shift, mean=None, variance=None):
        if training:  # with the statistics of the samples at hand
            mean = variance = None
        return aten.native_batch_norm(x, scale, shift, mean, variance, training, 0.1, epsilon)[0]
    return normalize


@ops("BatchNormalizationGrad")
def batch_norm_grad(site):
    wanted, epsilon = wanted_of(site), site.get("epsilon", 1e-5)

    def grad(dy, x, scale, *_):
        axes = [0, *range(2, x.dim())]
        variance, mean = torch.var_mean(x, axes, unbiased=False)
        inverse = (variance + epsilon).rsqrt()
        return chosen(aten.native_batch_norm_backward(dy, x, scale, None, None, mean, inverse, True,
                                                      epsilon, wanted), wanted)
    return grad


def layer_shape(forward):
    first = forward.axis(-1, forward.input(0).shape)
    return first, forward.input(0).shape[first:], forward.get("epsilon", 1e-5)


@ops("LayerNormalization")
def layer_norm(site):
    _, shape, epsilon = layer_shape(site)
    return lambda x, scale, shift=None: aten.native_layer_norm(x, shape, scale, shift, epsilon)


@ops("LayerNormalizationGrad")
def layer_norm_grad(site):
    first, shape, epsilon = layer_shape(site.of_forward())
    wanted = wanted_of(site)

    def grad(dy, x, scale, *_):
        variance, mean = torch.var_mean(x, list(range(first, x.dim())), unbiased=False, keepdim=True)
        inverse = (variance + epsilon).rsqrt()
        return chosen(aten.native_layer_norm_backward(dy, x, shape, mean, inverse, scale,
                                                      torch.zeros_like(scale), wanted), wanted)
    return grad


@ops("RMSNormalization", "SimplifiedLayerNormalization")
def rms_norm(site):
    first, _, epsilon = layer_shape(site)

    def normalize(x, scale, *_):
        wide = widened(x)
        inverse = (wide.square().mean(list(range(first, x.dim())), keepdim=True) + epsilon).rsqrt()
        return (wide * inverse * scale).to(x.dtype), inverse.to(x.dtype)
    return normalize


@ops("RMSNormalizationGrad", "SimplifiedLayerNormalizationGrad")
def rms_norm_grad(site):
    first, _, epsilon = layer_shape(site.of_forward())
    wanted = wanted_of(site)

    def grad(dy, x, scale, *_):
        axes, dtype = list(range(first, x.dim())), x.dtype
        dy, x = widened(dy), widened(x)
        inverse = (x.square().mean(axes, keepdim=True) + epsilon).rsqrt()
        unit, slope = x * inverse, dy * scale
        gradients = ((slope - unit * (slope * unit).mean(axes, keepdim=True)) * inverse,
                     (dy * unit).sum_to_size(scale.shape))
        return chosen([each.to(dtype) for each in gradients], wanted)
    return grad


# Attention of ONNX by heads that may share keys and values, and the rotation of positions.


def by_heads(x, heads):
    """[batch, heads, positions, size], of that or of [batch, positions, heads x size]."""
    return x if x.dim() == 4 else x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def in_place_of(x, rank):
    return x if rank == 4 else x.transpose(1, 2).flatten(2)


class Heads:
    """Queries beside all keys, in 32 bits where they have 16, as flash attention has its scores; a
    piece may have some of the queries. `slope`: of the scores, by the product of query and key."""

    def __init__(self, site, query, key, value, mask):
        first = max((begin for axis, (begin, _) in site.piece.ranges.items()
                     if axis == 2 or axis >= SUMMED), default=0)
        self.heads = site.get("q_num_heads", 1)
        key_heads = site.get("kv_num_heads", 1)
        self.q, k, v = (widened(by_heads(each, count)) for each, count in (
            (query, self.heads), (key, key_heads), (value, key_heads)))
        self.sharing = self.q.shape[1] // k.shape[1]
        self.k, self.v = (each.repeat_interleave(self.sharing, 1) for each in (k, v))
        self.slope = site.get("scale", 0) or 1 / math.sqrt(self.q.shape[3])
        self.scores = self.q @ self.k.transpose(2, 3) * self.slope
        cap = site.get("softcap", 0)
        if cap:  # masks come behind it: what is never looked at has no score at all
            share = torch.tanh(self.scores / cap)
            self.scores, self.slope = share * cap, self.slope * (1 - share.square())
        if mask is not None:
            self.scores = (self.scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool
                           else self.scores + mask)
        if site.get("is_causal", 0):
            later = torch.ones(self.scores.shape[2:], dtype=torch.bool, device=query.device)
            later = later.triu(1 + first)
            self.scores = self.scores.masked_fill(later, -math.inf)

    def shared(self, gradient):
        """What all query heads that share keys or values add up to."""
        return gradient.unflatten(1, (-1, self.sharing)).sum(2)


@ops("Attention")
def attention(site):
    def attend(query, key, value, mask=None, *_):
        of = Heads(site, query, key, value, mask)
        sums = of.scores.logsumexp(-1)
        y = (of.scores - sums.unsqueeze(-1)).exp() @ of.v
        return in_place_of(y.to(query.dtype), query.dim()), sums
    return attend


@ops("AttentionGrad")
def attention_grad(site):
    forward, wanted = site.of_forward(), wanted_of(site)

    def grad(dy, query, key, value, y, sums, mask=None):
        of = Heads(forward, query, key, value, mask)
        dy, y = (widened(by_heads(each, of.heads)) for each in (dy, y))
        share = (of.scores - sums.unsqueeze(-1)).exp()
        slope = (dy @ of.v.transpose(2, 3) - (dy * y).sum(-1, keepdim=True)) * share * of.slope
        gradients = (slope @ of.k, of.shared(slope.transpose(2, 3) @ of.q),
                     of.shared(share.transpose(2, 3) @ dy))
        return chosen([in_place_of(each.to(query.dtype), query.dim()) for each in gradients], wanted)
    return grad


@ops("RotaryEmbedding", "RotaryEmbeddingGrad")
def rotation(site):
    forward = site.of_forward()
    interleaved, sign = forward.get("interleaved", 0), -1 if site.op.forward >= 0 else 1

    def turn(x, second, third, fourth=None):
        # Of ONNX: cosines, sines, positions; of com.microsoft: positions, cosines, sines.
        cosines, sines, positions = ((second, third, fourth) if second.is_floating_point()
                                     else (third, fourth, second))
        rank, heads = x.dim(), forward.get("num_heads", 0) or x.shape[-1] // (2 * cosines.shape[-1])
        y = by_heads(x, heads).clone()
        if positions is not None:
            positions = positions.long()
            if positions.dim() == 1:
                positions = (positions + torch.arange(y.shape[2], device=x.device)).unsqueeze(0)
            cosines, sines = cosines[positions], sines[positions]
        cosines, sines = cosines.unsqueeze(1), sines.unsqueeze(1) * sign
        turned = forward.get("rotary_embedding_dim", 0) or y.shape[3]
        first, second = ((slice(0, turned, 2), slice(1, turned, 2)) if interleaved
                         else (slice(0, turned // 2), slice(turned // 2, turned)))
        a, b = y[..., first].clone(), y[..., second].clone()
        y[..., first], y[..., second] = a * cosines - b * sines, b * cosines + a * sines
        return in_place_of(y, rank)
    return turn


# Mixtures of experts: tokens go to the experts that are chosen for them, each to the next place
# there, as long as there is one.


class Rooms:
    """The room that the experts have, and which of them are here: of a piece, perhaps some."""

    def __init__(self, site):
        forward = site.of_forward()
        if forward.op.type == "CombineTokens":
            self.experts, self.capacity = forward.input(0).shape[1:3]
        else:
            self.experts, self.capacity = forward.get("experts", 1), forward.get("capacity", 1)
        self.first, self.last = site.piece.ranges.get(1, (0, self.experts))  # positions are never cut
        self.summed = next((ends for axis, ends in site.piece.ranges.items() if axis >= SUMMED), None)

    def places(self, chosen):
        expert = chosen.long().flatten(1)
        before = torch.nn.functional.one_hot(expert, self.experts).cumsum(1)
        place = before.gather(2, expert.unsqueeze(2)).squeeze(2) - 1
        return torch.where(place < self.capacity, expert * self.capacity + place,
                           torch.full_like(place, self.experts * self.capacity)).unsqueeze(2)

    def scattered(self, tokens, chosen, weights=1):
        rows = (tokens.unsqueeze(2).expand(-1, -1, chosen.shape[2], -1) * weights).flatten(1, 2)
        batch, size = rows.shape[0], rows.shape[2]
        all_rows = torch.zeros(batch, self.experts * self.capacity + 1, size,
                               dtype=rows.dtype, device=rows.device)
        all_rows.scatter_add_(1, self.places(chosen).expand_as(rows), rows)
        here = all_rows[:, self.first * self.capacity:self.last * self.capacity]
        return here.reshape(batch, self.last - self.first, self.capacity, size)

    def gathered(self, results, chosen):
        """And back: zero where a choice has found no place, or one that is elsewhere."""
        first = self.summed[0] if results.shape[1] < self.experts else 0  # else sums are of elements
        here = self.places(chosen) - first * self.capacity
        count = results.shape[1] * self.capacity
        here = torch.where((here >= 0) & (here < count), here, torch.full_like(here, count))
        rows = torch.nn.functional.pad(results.flatten(1, 2), (0, 0, 0, 1))
        return rows.gather(1, here.expand(-1, -1, rows.shape[2])).view(*chosen.shape, rows.shape[2])


@ops("DispatchTokens", "DispatchTokensGrad", "CombineTokens", "CombineTokensGradResults",
     "CombineTokensGradWeights")
def mixture(site):
    rooms = Rooms(site)
    return {
        "DispatchTokens": rooms.scattered,
        "DispatchTokensGrad": lambda dy, chosen: rooms.gathered(dy, chosen).sum(2),
        "CombineTokens": lambda results, chosen, weights:
            (rooms.gathered(results, chosen) * weights.unsqueeze(3)).sum(2),
        "CombineTokensGradResults": lambda dy, chosen, weights:
            rooms.scattered(dy, chosen, weights.unsqueeze(3)),
        "CombineTokensGradWeights": lambda dy, results, chosen:
            (rooms.gathered(results, chosen) * dy.unsqueeze(2)).sum(3)}[site.op.type]


@ops("TopK")
def top(site):
    count, axis = site.setting("k", 1, 1), site.axis(-1, site.input(0).shape)
    largest = bool(site.get("largest", 1))
    return lambda x, *_: tuple(torch.topk(x, count, axis, largest))


@ops("TopKGrad")
def top_grad(site):
    axis = site.of_forward().axis(-1, site.output().shape)
    return lambda dy, indices: torch.zeros(
        site.shapes[0], dtype=dy.dtype, device=dy.device).scatter(axis, indices, dy)


@ops("Softmax", "LogSoftmax", "SoftmaxGrad", "LogSoftmaxGrad")
def softmax(site):
    axis = site.axis(-1, site.input(0).shape)
    return {"Softmax": lambda x: torch.softmax(x, axis),
            "LogSoftmax": lambda x: torch.log_softmax(x, axis),
            "SoftmaxGrad": lambda dy, y: y * (dy - (dy * y).sum(axis, keepdim=True)),
            "LogSoftmaxGrad": lambda dy, y: dy - y.exp() * dy.sum(axis, keepdim=True)}[site.op.type]


class ClassLoss:
    def __init__(self, forward):
        self.axis = forward.axis(1, forward.input(0).shape)
        self.ignored = forward.get("ignore_index", -100)
        self.keeps = forward.get("reduction", "mean") == "none"
        mean = forward.get("reduction", "mean") == "mean"
        self.count = math.prod(forward.input(1).shape) if mean else 1  # of the whole batch

    def value(self, log_probability, labels):
        rows = log_probability.movedim(self.axis, -1).reshape(-1, log_probability.shape[self.axis])
        loss = F.nll_loss(rows, labels.flatten().long(), ignore_index=self.ignored,
                          reduction="none" if self.keeps else "sum")
        return loss.view(labels.shape) if self.keeps else loss / self.count

    def gradient(self, start, labels, dy):
        """`start` with 1 taken off at each label; zero where labels are ignored."""
        hits = labels.long().clamp_min(0).unsqueeze(self.axis)
        start = start.scatter_add(self.axis, hits, start.new_full(hits.shape, -1))
        scale = labels.ne(self.ignored).unsqueeze(self.axis).to(start.dtype) / self.count
        if dy is not None:
            scale = scale * (dy.unsqueeze(self.axis) if self.keeps else dy.reshape([]))
        return start * scale


@ops("SoftmaxCrossEntropy", "SoftmaxCrossEntropyLoss")
def cross_entropy(site):
    loss = ClassLoss(site)

    def value(scores, labels):
        log_probability = torch.log_softmax(scores, loss.axis)
        return loss.value(log_probability, labels), log_probability
    return value


@ops("SoftmaxCrossEntropyGrad", "SoftmaxCrossEntropyLossGrad")
def cross_entropy_grad(site):
    forward = site.of_forward()
    loss = ClassLoss(forward)
    kept = len(forward.op.outputs) > 1  # then it reads the log-probabilities
    weighted = len(site.op.inputs) > 2  # with the loss's own gradient

    def grad(*x):
        dy, scores, labels = x if weighted else (None, *x)
        return loss.gradient(scores.exp() if kept else torch.softmax(scores, loss.axis), labels, dy)
    return grad


class ClassBlocks:
    """Cross entropy in blocks of classes; the classes that are here: all, or those of some blocks."""

    def __init__(self, site):
        forward = site.of_forward()
        classes = forward.input(0).shape[-1]
        self.size = classes // forward.output().shape[-1]
        axis = len(forward.input(0).shape) - 1
        first, _ = site.piece.ranges.get(axis, (0, 0))
        self.first = first * self.size if site.op is forward.op else first

    def blocks(self, scores):
        scores = scores if scores.dtype == torch.float64 else scores.float()
        return scores.unflatten(-1, (-1, self.size))

    def places(self, labels, classes):
        """Whether labels are among the classes that are here, and their class and block."""
        place = labels.long() - self.first
        here = ((place >= 0) & (place < classes)).unsqueeze(-1)
        place = place.clamp(0, classes - 1).unsqueeze(-1)
        return here, place, torch.div(place, self.size, rounding_mode="floor")


@ops("BlockLogSumExp")
def block_log_sums(site):
    here = ClassBlocks(site)

    def value(scores, labels):
        log_sums = here.blocks(scores).logsumexp(-1)
        is_here, place, block = here.places(labels, scores.shape[-1])
        found = scores.gather(-1, place).to(log_sums.dtype) * is_here
        return log_sums, torch.zeros_like(log_sums).scatter(-1, block, found)
    return value


@ops("BlockLogSumExpGrad")
def block_log_sums_grad(site):
    here = ClassBlocks(site)

    def grad(of_sums, of_scores, scores, labels, log_sums):
        gradient = (here.blocks(scores) - log_sums.unsqueeze(-1)).exp() * of_sums.unsqueeze(-1)
        is_here, place, block = here.places(labels, scores.shape[-1])
        gradient = gradient.flatten(-2).scatter_add(-1, place, of_scores.gather(-1, block) * is_here)
        return gradient.to(scores.dtype)
    return grad


def label_weights(forward, labels, like):
    counts = labels.ne(forward.get("ignore_index", -100)).to(like.dtype)
    return counts / math.prod(forward.input(2).shape)  # of the whole batch


@ops("BlockCrossEntropy")
def block_cross_entropy(site):
    return lambda log_sums, scores, labels: (
        (log_sums.logsumexp(-1) - scores.sum(-1)) * label_weights(site, labels, log_sums)).sum()


@ops("BlockCrossEntropyGrad")
def block_cross_entropy_grad(site):
    weighted = len(site.op.inputs) > 2  # with the loss's own gradient
    wanted = site.get("wrt")

    def grad(*x):
        dy, log_sums, labels = x if weighted else (None, *x)
        scale = label_weights(site.of_forward(), labels, log_sums).unsqueeze(-1)
        if dy is not None:
            scale = scale * dy.reshape([])
        both = torch.softmax(log_sums, -1) * scale, (-scale).expand_as(log_sums)
        return [both[i] for i in wanted]
    return grad


@ops("NegativeLogLikelihoodLoss")
def negative_log_likelihood(site):
    return ClassLoss(site).value


@ops("NegativeLogLikelihoodLossGrad")
def negative_log_likelihood_grad(site):
    loss = ClassLoss(site.of_forward())
    return lambda dy, labels, *_: loss.gradient(dy.new_zeros(site.shapes[0]), labels, dy)


@ops("MeanSquaredLoss", "MeanSquaredLossGrad")
def squared_loss(site):
    count = math.prod(site.of_forward().input(0).shape)  # of the whole batch
    if site.op.type == "MeanSquaredLoss":
        return lambda a, b: (a - b).square().sum() / count
    if len(site.op.inputs) > 2:  # with the loss's own gradient
        return lambda dy, a, b: (a - b) * (2 / count) * dy.reshape([])
    return lambda a, b: (a - b) * (2 / count)


# Updates: in place on the parameter and its state.


@ops("ApplySgd")
def sgd(site):
    def update(parameter, gradient):
        parameter.sub_(gradient, alpha=site.run.learning_rate)
    return update


@ops("ApplyMomentum")
def momentum(site):
    def update(parameter, gradient, velocity):
        velocity.mul_(0.9).add_(gradient)
        parameter.sub_(velocity, alpha=site.run.learning_rate)
    return update


@ops("ApplyAdam")
def adam(site):  # Kingma and Ba 2015, Algorithm 1
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def update(parameter, gradient, mean, square):
        step = site.run.step
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        scale = square.sqrt().div_(math.sqrt(1 - beta2 ** step)).add_(epsilon)
        parameter.addcdiv_(mean, scale, value=-site.run.learning_rate / (1 - beta1 ** step))
    return update


# ---- a rank


class Value:
    def __init__(self, graph, row):
        self.tensor = graph.tensors[row[0]]
        self.piece = Piece(row[1])
        self.resident, self.on_host = bool(row[2] & 1), bool(row[2] & 2)
        self.shape = shape_of(self.tensor, self.piece, graph.batch)
        self.data = None


class Rank:
    def __init__(self, graph, program, options, device):
        self.graph, self.device = graph, device
        self.seed, self.step = options.seed, 0
        adam_used = any(op.type == "ApplyAdam" for op in graph.ops)
        default = 0.001 if adam_used else 0.01
        self.learning_rate = default if options.learning_rate is None else options.learning_rate
        self.losses = set(program["losses"])  # values: those that no rank before has
        self.loss = 0.0
        self.values = [Value(graph, row) for row in program["values"]]
        for value in self.values:
            if value.resident:
                data = initial_value(value.tensor, value.piece, graph.batch, self.seed)
                value.data = data.contiguous().to(device)
                if value.on_host:
                    value.data = self.empty_for(value).copy_(data)
        if options.weights:
            self.load_weights(stored(options.weights))
        files = stored(options.inputs) if options.inputs else {}
        self.inputs = {tensor.name: array(files[tensor.name], tensor.dtype)
                       for tensor in graph.tensors if tensor.role == "input" and tensor.name in files}
        self.groups = [dist.new_group(members) for members in graph.groups]
        ways = ("offload", "fetch") if device.type == "cuda" else ()
        self.copy_streams = {way: torch.cuda.Stream(device) for way in ways}
        self.pending = {}  # communication under way: instruction -> (works, what follows)
        self.program = program["instructions"]
        self.steps = [self.prepare(instruction) for instruction in self.program]

    def load_weights(self, files):
        for value in self.values:
            tensor = value.tensor
            if value.resident and tensor.role in ("parameter", "constant") and tensor.name in files:
                whole = array(files[tensor.name], tensor.dtype)
                value.data.copy_(cut(whole, tensor, WHOLE, value.piece, self.graph.batch))

    def load_inputs(self):
        for value in self.values:
            samples = self.inputs.get(value.tensor.name)
            if value.resident and value.tensor.role == "input" and samples is not None:
                value.data.copy_(batch_of(samples, value.tensor, value.piece, self.graph.batch, self.step))

    def prepare(self, instruction):
        """What the instruction does, as a function; communication starts there and ends in end()."""
        reads = [self.values[i] if i >= 0 else None for i in instruction["reads"]]
        writes = [self.values[i] for i in instruction["writes"]]
        kind = instruction["do"]
        if kind in ("compute", "view", "update"):
            return self.prepare_op(instruction, reads, writes)
        return getattr(self, kind.replace("-", "_"))(instruction, reads, writes)

    def prepare_op(self, instruction, reads, writes):
        op = self.graph.ops[instruction["op"]]
        if op.type not in OPS:
            sys.exit(f"op {op.name}: train.py does not know {op.type}")
        site = Site(self, op, Piece(instruction["piece"]), [value.shape for value in writes])
        kernel = OPS[op.type](site)
        is_view, updates = instruction["do"] == "view", instruction["do"] == "update"

        def run():
            inputs = [value.data if value else None for value in reads]
            if updates:  # perhaps just a slice of a parameter that is whole here
                inputs[0] = self.part_of(reads[0], site.piece)
            while inputs and inputs[-1] is None:
                inputs.pop()
            outputs = kernel(*inputs)
            if isinstance(outputs, torch.Tensor):
                outputs = (outputs,)
            others = list(inputs)
            for value, output in zip(writes, outputs or ()):
                value.data = output if is_view else own(output, others)
                others.append(value.data)
        return run

    def part_of(self, value, piece):
        return cut(value.data, value.tensor, value.piece, piece, self.graph.batch)

    def split(self, _, reads, writes):
        source, made = reads[0], writes[0]

        def run():
            made.data = own(self.part_of(source, made.piece), [source.data])
        return run

    def concat(self, _, reads, writes):
        made = writes[0]

        def run():
            made.data = joined([value.data for value in reads], [value.piece for value in reads],
                               made.tensor, made.piece, self.graph.batch)
        return run

    def sum(self, _, reads, writes):
        def add():
            reads[0].data.add_(reads[1].data)

        def run():
            total = reads[0].data.clone()
            for value in reads[1:]:
                total += value.data
            writes[0].data = total
        return run if writes else add

    # Communication: each starts and returns what is under way and what is to be done at its end. Of a
    # parameter that is whole on both sides perhaps just a slice is sent.

    def send(self, instruction, reads, _):
        sent, piece = reads[0], Piece(instruction["piece"])

        def run():
            part = self.part_of(sent, piece).contiguous().view(-1)
            return [dist.isend(part, instruction["peer"], tag=instruction["tag"])], None
        return run

    def receive(self, instruction, _, writes):
        made, piece = writes[0], Piece(instruction["piece"])

        def run():
            part = self.empty(shape_of(made.tensor, piece, self.graph.batch), made.tensor)

            def end():
                if made.resident:
                    self.part_of(made, piece).copy_(part)
                else:
                    made.data = part
            return [dist.irecv(part.view(-1), instruction["peer"], tag=instruction["tag"])], end
        return run

    def all_reduce(self, instruction, reads, writes):
        group = self.groups[instruction["group"]]
        made = writes or reads

        def run():
            # One message, of the widest type where gradients have several.
            flat = torch.cat([value.data.reshape(-1) for value in reads])
            summed_type = torch.float32 if flat.dtype in (torch.float16, torch.bfloat16) else flat.dtype
            flat = flat.to(summed_type)

            def end():
                for value, part in zip(made, flat.split([value.data.numel() for value in reads])):
                    part = part.to(value.tensor.dtype)
                    if writes:
                        value.data = part.reshape(value.shape).clone()
                    else:
                        value.data.view(-1).copy_(part)
            return [dist.all_reduce(flat, group=group, async_op=True)], end
        return run

    def all_gather(self, instruction, reads, writes):
        group, made = self.groups[instruction["group"]], writes[0]
        pieces = [Piece(row) for row in instruction["pieces"]]  # by member
        shapes = [shape_of(made.tensor, piece, self.graph.batch) for piece in pieces]
        longest = max(math.prod(shape) for shape in shapes)

        def run():  # pieces of one length for the library, and bytes: Gloo does not know all types
            own_part = F.pad(reads[0].data.reshape(-1), [0, longest - reads[0].data.numel()])
            own_part = own_part.view(torch.uint8)
            parts = [torch.empty_like(own_part) for _ in pieces]

            def end():
                cropped = [part.view(reads[0].tensor.dtype)[:math.prod(s)].reshape(s)
                           for part, s in zip(parts, shapes)]
                made.data = joined(cropped, pieces, made.tensor, made.piece, self.graph.batch)
            return [dist.all_gather(parts, own_part, group=group, async_op=True)], end
        return run

    def reduce_scatter(self, instruction, reads, writes):  # Gloo has none of its own
        group, term, made = self.groups[instruction["group"]], reads[0], writes[0]

        def run():
            total = widened(term.data).clone()

            def end():
                part = cut(total, term.tensor, term.piece, made.piece, self.graph.batch)
                made.data = part.to(term.tensor.dtype).contiguous()
            return [dist.all_reduce(total, group=group, async_op=True)], end
        return run

    def all_to_all(self, instruction, reads, writes):
        group, source, made = self.groups[instruction["group"]], reads[0], writes[0]
        sent = [Piece(row) for row in instruction["pieces"]]  # by member, of what is here
        pieces = [Piece(row) for row in instruction["made_of"]]  # by member, of what is made
        shapes = [shape_of(made.tensor, piece, self.graph.batch) for piece in pieces]
        sizes = [math.prod(shape) for shape in shapes]

        def run():  # bytes: Gloo does not know all types
            parts = [self.part_of(source, piece).reshape(-1) for piece in sent]
            flat, came = torch.cat(parts), self.empty([sum(sizes)], made.tensor)
            width = flat.element_size()

            def end():
                each = [part.reshape(shape) for part, shape in zip(came.split(sizes), shapes)]
                made.data = joined(each, pieces, made.tensor, made.piece, self.graph.batch)
            return [dist.all_to_all_single(came.view(torch.uint8), flat.view(torch.uint8),
                                           [size * width for size in sizes],
                                           [part.numel() * width for part in parts],
                                           group=group, async_op=True)], end
        return run

    # Between the device and the memory of its host: on a GPU beside computing, on a stream for each way,
    # which begins after all that was started before; what follows waits for it where the program says.

    def offload(self, instruction, reads, writes):
        source, made = reads[0], writes[0]

        def run():
            if made.data is None:
                made.data = self.empty_for(made)
            stream = self.copy_streams.get(instruction["do"])
            if stream is None:
                made.data.copy_(source.data)
                return None
            stream.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(stream):
                made.data.copy_(source.data, non_blocking=True)
                return [Copied(stream.record_event())], None
        return run

    fetch = offload

    def empty_for(self, value):
        if not value.on_host:
            return self.empty(value.shape, value.tensor)
        return torch.empty(value.shape, dtype=value.tensor.dtype, pin_memory=self.device.type == "cuda")

    def empty(self, shape, tensor):
        return torch.empty(shape, dtype=tensor.dtype, device=self.device)

    def end(self, index):
        works, then = self.pending.pop(index, ((), None))
        for work in works:
            work.wait()
        if then:
            then()

    def run_step(self):
        self.step += 1
        self.load_inputs()
        self.loss = 0.0
        for index, (instruction, run) in enumerate(zip(self.program, self.steps)):
            for earlier in instruction["waits"]:
                self.end(earlier)
            under_way = run()
            if under_way is not None:
                self.pending[index] = under_way
            if instruction["do"] == "compute":
                for value in self.losses & set(instruction["writes"]):
                    self.loss += self.values[value].data.double().sum().item()
            for value in instruction["releases"]:
                self.release(index, self.values[value])
        for index in sorted(self.pending):
            self.end(index)

    def release(self, index, value):
        """Now, or when the instruction that read it last ends."""
        if index not in self.pending:
            value.data = None
            return
        works, then = self.pending[index]

        def both():
            if then:
                then()
            value.data = None
        self.pending[index] = (works, both)


class Copied:
    """A copy on a stream of its own."""

    def __init__(self, event):
        self.event = event

    def wait(self):
        torch.cuda.current_stream().wait_event(self.event)


def memory_of(tensor):
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr()


def own(tensor, inputs):
    """Contiguous, and in memory of its own: what shares an input's would change with it."""
    tensor = tensor.contiguous()
    if any(x is not None and memory_of(x) == memory_of(tensor) for x in inputs):
        return tensor.clone()
    return tensor


# ---- the job


def total_loss(rank):
    loss = torch.tensor([rank.loss], dtype=torch.float64, device=rank.device)
    dist.all_reduce(loss)
    return loss.item()


def keep_parameters(rank, folder):
    """All parameters by name into one file, which torch.load reads."""
    here = dist.get_rank()
    kept = {}
    for number, owners in rank.graph.parameters:
        tensor = rank.graph.tensors[number]
        parts, pieces = [], []
        for owner, index, row in owners:
            piece = Piece(row)
            if owner == here and here != 0:
                dist.send(rank.values[index].data.contiguous(), 0)
            if here == 0:
                part = rank.values[index].data if owner == 0 else rank.empty(
                    shape_of(tensor, piece, rank.graph.batch), tensor)
                if owner != 0:
                    dist.recv(part, owner)
                parts.append(part)
                pieces.append(piece)
        if here == 0:
            kept[tensor.name] = joined(parts, pieces, tensor, WHOLE, rank.graph.batch).cpu()
    if here == 0:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        torch.save(kept, pathlib.Path(folder) / "parameters.pt")


def train(folder, options, device):
    """The steps of the plan in `folder`, once the ranks have met."""
    number, ranks = dist.get_rank(), dist.get_world_size()
    content = json.loads((folder / "graph.json").read_text())
    if ranks != content["ranks"]:
        sys.exit(f"the plan is for {content['ranks']} processes, not {ranks}")
    program = json.loads((folder / f"rank-{number}.json").read_text())
    with torch.no_grad():
        rank = Rank(Graph(content), program, options, device)
        for step in range(1, options.steps + 1):
            rank.run_step()
            loss = total_loss(rank)
            if number == 0:
                print(f"step {step}: loss {loss:.6g}", flush=True)
        if options.keep:
            keep_parameters(rank, options.keep)


def parse_options(arguments=None):
    parser = argparse.ArgumentParser(description="Trains as the plan says; start it with torchrun.")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="parameters, inputs, dropout")
    parser.add_argument("--learning-rate", type=float, help="0.01; of Adam 0.001")
    parser.add_argument("--backend", choices=["gloo", "nccl"], help="nccl where there is a GPU a process")
    parser.add_argument("--weights", metavar="DIR", help="parameters to start from, as launch keeps them")
    parser.add_argument("--inputs", metavar="DIR", help="samples, as launch has them in its job's inputs/")
    parser.add_argument("--keep", metavar="DIR", help="write the parameters to DIR/parameters.pt")
    parser.add_argument("--timeout", type=float, default=300, help="seconds to wait for another rank")
    return parser.parse_args(arguments)


def main():
    options = parse_options()
    if "RANK" not in os.environ:
        sys.exit("start it with torchrun: torchrun --nproc_per_node N train.py")
    local, together = int(os.environ.get("LOCAL_RANK", 0)), int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    backend = options.backend or ("nccl" if torch.cuda.device_count() >= together else "gloo")
    device = torch.device("cuda", local) if backend == "nccl" else torch.device("cpu")
    if backend == "nccl":
        torch.cuda.set_device(device)
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=options.timeout))
    train(pathlib.Path(__file__).resolve().parent, options, device)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

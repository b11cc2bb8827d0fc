"""AmoebaNet-D (Real et al., "Regularized Evolution for Image Classifier Architecture Search")."""

import torch
from torch import nn

import vision

# A cell makes five sums of two operations each, of states that it has already: the cell before
# the last (0), the last (1), its own sums (2 ...). Those that nothing reads are joined.
NORMAL = [
    ((1, "conv_1x1"), (1, "max_3x3")), ((1, "none"), (0, "conv_7x7")), ((0, "conv_1x1"), (0, "conv_7x7")),
    ((2, "max_3x3"), (2, "none")), ((1, "avg_3x3"), (5, "conv_1x1")),
]  # fmt: skip
NORMAL_JOINED = [0, 3, 4, 6]
REDUCTION = [
    ((0, "max_2x2"), (0, "max_3x3")), ((2, "none"), (1, "conv_3x3")), ((2, "conv_7x7"), (2, "max_3x3")),
    ((3, "none"), (1, "max_2x2")), ((2, "avg_3x3"), (3, "conv_1x1")),
]  # fmt: skip
REDUCTION_JOINED = [4, 5, 6]


def amoebanet():
    """18 normal cells and a first width of 128, on 224 x 224."""
    return AmoebaNet(18, 128), vision.image(3, 224), [vision.CLASSES]


def conv(inputs, outputs, size, stride=1):
    padding = tuple(s // 2 for s in size)
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(inputs, outputs, size, stride, padding, bias=False),
        nn.BatchNorm2d(outputs),
    )


def operation(kind, channels, stride):
    if kind == "none":
        return nn.Identity() if stride == 1 else conv(channels, channels, (1, 1), stride)
    if kind == "max_2x2":
        return nn.MaxPool2d(2, stride)
    if kind == "max_3x3":
        return nn.MaxPool2d(3, stride, 1)
    if kind == "avg_3x3":
        return nn.AvgPool2d(3, stride, 1)
    if kind == "conv_7x7":  # through a quarter of the channels, a row and a column
        narrow = channels // 4
        return nn.Sequential(
            conv(channels, narrow, (1, 1)),
            conv(narrow, narrow, (1, 7), (1, stride)),
            conv(narrow, narrow, (7, 1), (stride, 1)),
            conv(narrow, channels, (1, 1)),
        )
    if kind == "conv_3x3":
        narrow = channels // 4
        return nn.Sequential(
            conv(channels, narrow, (1, 1)),
            conv(narrow, narrow, (3, 3), stride),
            conv(narrow, channels, (1, 1)),
        )
    return conv(channels, channels, (1, 1), stride)


class Cell(nn.Module):
    def __init__(self, before, last, channels, reduction, reduced_before):
        """before, last: channels of the two cells that it reads; the former may be twice as large."""
        super().__init__()
        self.first = conv(before, channels, (1, 1), 2 if reduced_before else 1)
        self.second = conv(last, channels, (1, 1))
        self.pairs = REDUCTION if reduction else NORMAL
        self.joined = REDUCTION_JOINED if reduction else NORMAL_JOINED
        self.operations = nn.ModuleList(
            operation(kind, channels, 2 if reduction and state < 2 else 1)
            for pair in self.pairs
            for state, kind in pair
        )
        self.channels = channels * len(self.joined)

    def forward(self, before, last):
        states = [self.first(before), self.second(last)]
        for i, ((a, _), (b, _)) in enumerate(self.pairs):
            states.append(self.operations[2 * i](states[a]) + self.operations[2 * i + 1](states[b]))
        return torch.cat([states[i] for i in self.joined], 1)


class AmoebaNet(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        width //= 4
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(width)
        )
        self.cells = nn.ModuleList()
        before = last = width
        reduced = False
        for stage in ("stem", "stem", "normal", "reduce", "normal", "reduce", "normal"):
            for _ in range(layers // 3 if stage == "normal" else 1):
                reduces = stage != "normal"
                width *= 2 if reduces else 1
                cell = Cell(before, last, width, reduces, reduced)
                self.cells.append(cell)
                before, last, reduced = last, cell.channels, reduces
        self.classifier = nn.Linear(last, vision.CLASSES)

    def forward(self, x):
        before = last = self.stem(x)
        for cell in self.cells:
            before, last = last, cell(before, last)
        return self.classifier(last.mean((2, 3)))

"""A small network with PyTorch's own initial weights: made and trained in plain PyTorch, or compared.

real_data.py make FOLDER     network.onnx, inputs/, expected.pt, and the
                             same data in other formats
real_data.py compare A B     both are files of torch.save(); fails where they differ
"""

import os
import sys
import zipfile

import numpy
import torch
from torch import nn

BATCH, SAMPLES, STEPS, CLASSES = 8, 20, 3, 10


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1))
        self.wide = nn.Conv2d(8, 96, 5, stride=2)  # 75 KB: large payloads are read apart
        self.head = nn.Linear(96, CLASSES)

    def forward(self, images):
        x = torch.relu(self.stem(images))
        x = torch.relu(x + self.block(x))
        x = torch.relu(self.wide(torch.max_pool2d(x, 2)))
        return self.head(x.mean((2, 3)))


def export(network, images, path):
    torch.onnx.export(network, images, path, training=torch.onnx.TrainingMode.TRAINING,
                      do_constant_folding=False, input_names=["images"], output_names=["scores"],
                      dynamic_axes={"images": {0: "batch"}, "scores": {0: "batch"}})


def train(network, images, labels):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for step in range(STEPS):
        at = torch.arange(step * BATCH, (step + 1) * BATCH) % SAMPLES
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(images[at]), labels[at]).backward()
        optimizer.step()


class Harm:
    """What a pickle may hold: a call of any function."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.system, (f"touch '{self.file}'",)


def make_wrong(folder, network, labels):
    torch.save(network, f"{folder}/code.pt")
    torch.save({"images": Harm(f"{folder}/harmed")}, f"{folder}/harmful.pt")
    torch.save(network.state_dict(), f"{folder}/ordered.pt")
    with zipfile.ZipFile(f"{folder}/long.pt", "w") as archive:
        archive.writestr("archive/version", b"3\n")
        archive.writestr("archive/data.pkl", b"\x80\x02}X\xff\xff\xff\x7fa.")  # a text of 2 GB
    wrong = labels.numpy().copy()
    wrong[3] = CLASSES
    numpy.save(f"{folder}/wrong_label.npy", wrong)
    numpy.save(f"{folder}/objects.npy", numpy.array([1, "two"], dtype=object), allow_pickle=True)


def make(folder):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    images, labels = torch.randn(SAMPLES, 3, 16, 16), torch.randint(CLASSES, (SAMPLES,))
    network = Network()
    export(network, images[:BATCH], f"{folder}/network.onnx")
    torch.save(dict(network.state_dict()), f"{folder}/start.pt")
    os.mkdir(f"{folder}/inputs")
    numpy.save(f"{folder}/inputs/images.npy", images.numpy())
    numpy.save(f"{folder}/inputs/label.npy", labels.numpy().astype(numpy.int32))
    torch.save({"images": images, "scores/label": labels}, f"{folder}/inputs.pt")
    train(network, images, labels)
    torch.save(dict(network.state_dict()), f"{folder}/expected.pt")
    make_wrong(folder, network, labels)


def compare(found_in, expected_in):
    found, expected = torch.load(found_in), torch.load(expected_in)
    missing = set(expected) - set(found)
    assert not missing, f"missing: {missing}"
    for name, value in expected.items():
        worst = ((found[name] - value).abs().max() / value.abs().max()).item()
        assert worst <= 1e-5, f"{name} differs by {worst}"
        print(name, worst)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])

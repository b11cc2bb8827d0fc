"""Image networks: LeNet-5 and some more written here, the others as torchvision defines them.

Each function gives a model, its example inputs and the sizes of its logits for one image.
"""

import torch
import torchvision
from torch import nn

CLASSES = 1000  # of ImageNet


def lenet():
    """LeNet-5 (LeCun et al., 1998) with ReLU and max pooling, on 28 x 28 grey images."""
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 5 * 5, 120), nn.ReLU(),
        nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10),
    )  # fmt: skip
    return model, image(1, 28), [10]


def lenet_slim():
    """The wider LeNet of TensorFlow's slim models (nets/lenet.py)."""
    model = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 1024), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(1024, 10),
    )  # fmt: skip
    return model, image(1, 28), [10]


def alexnet_slim():
    """AlexNet v2 of TensorFlow's slim models (nets/alexnet.py), after Krizhevsky (2014)."""
    model = nn.Sequential(
        nn.Conv2d(3, 64, 11, stride=4), nn.ReLU(), nn.MaxPool2d(3, 2),
        nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
        nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(),
        nn.Conv2d(384, 384, 3, padding=1), nn.ReLU(),
        nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
        nn.Conv2d(256, 4096, 5), nn.ReLU(), nn.Dropout(0.5),  # fully connected, as convolutions
        nn.Conv2d(4096, 4096, 1), nn.ReLU(), nn.Dropout(0.5),
        nn.Conv2d(4096, CLASSES, 1), nn.Flatten(),
    )  # fmt: skip
    return model, image(3, 224), [CLASSES]


def alexnet():
    return torchvision.models.alexnet(), image(3, 224), [CLASSES]


def vgg19():
    return torchvision.models.vgg19(), image(3, 224), [CLASSES]


def vgg16():
    return torchvision.models.vgg16(), image(3, 224), [CLASSES]


def densenet121():
    return torchvision.models.densenet121(), image(3, 224), [CLASSES]


def resnet101():
    return torchvision.models.resnet101(), image(3, 224), [CLASSES]


def resnet200():
    """ResNet-200 with pre-activation (He et al., "Identity Mappings in Deep Residual Networks")."""
    stages = [(3, 64, 1), (24, 128, 2), (36, 256, 2), (3, 512, 2)]
    layers = [nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for blocks, width, stride in stages:
        for i in range(blocks):
            layers.append(PreActivationBlock(channels, width, stride if i == 0 else 1))
            channels = 4 * width
    layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(channels, CLASSES)), image(3, 224), [CLASSES]


class PreActivationBlock(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.activation = nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU())
        self.residual = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1, bias=False),
        )  # fmt: skip
        self.shortcut = None
        if stride != 1 or channels != 4 * width:
            self.shortcut = nn.Conv2d(channels, 4 * width, 1, stride=stride, bias=False)

    def forward(self, x):
        activated = self.activation(x)
        shortcut = x if self.shortcut is None else self.shortcut(activated)
        return shortcut + self.residual(activated)


def inception_v3():
    model = torchvision.models.inception_v3(aux_logits=False, init_weights=False)
    return model, image(3, 299), [CLASSES]


class Hologram(nn.Module):
    """Tensor Holography (Shi et al., 2021): amplitude and phase of three colours from an image with
    depth. 30 convolutions of 3 x 3, all but the last with 24 filters; residual blocks of two.
    """

    def __init__(self, layers=30, filters=24):
        super().__init__()
        self.first = self.layer(4, filters)
        pairs = range((layers - 2) // 2)
        self.blocks = nn.ModuleList(
            nn.Sequential(self.layer(filters, filters), self.layer(filters, filters))
            for _ in pairs
        )
        self.last = nn.Conv2d(filters, 6, 3, padding=1)

    @staticmethod
    def layer(inputs, outputs):
        conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return self.last(x)


def tensor_holography():
    size = 512  # with which a batch of 16 takes 30 GB, as Celeritas 6.2.1 has it
    return Hologram(), image(4, size), [6, size, size]


def image(channels, size):
    return {"image": torch.zeros(2, channels, size, size)}

"""Image classifiers: LeNet-5 written here, the others as torchvision defines them.

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


def alexnet():
    return torchvision.models.alexnet(), image(3, 224), [CLASSES]


def vgg19():
    return torchvision.models.vgg19(), image(3, 224), [CLASSES]


def resnet101():
    return torchvision.models.resnet101(), image(3, 224), [CLASSES]


def inception_v3():
    model = torchvision.models.inception_v3(aux_logits=False, init_weights=False)
    return model, image(3, 299), [CLASSES]


def image(channels, size):
    return {"image": torch.zeros(2, channels, size, size)}

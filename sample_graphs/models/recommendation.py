"""Neural collaborative filtering (He et al., 2017: NeuMF): a product of embeddings beside a small
network on others. Nearly all of it are tables of which a step looks up a few rows.
"""

import torch
from torch import nn

from attention import DEVICE, allocate, linear

USERS, ITEMS = 138_493, 26_744  # of MovieLens 20M
FACTORS, WIDTHS = 256, [960, 480, 240]  # so wide that there are 122 M parameters, as in AutoDist 3.3


class NeuMf(nn.Module):
    def __init__(self):
        super().__init__()
        half = WIDTHS[0] // 2
        self.user_factors = nn.Embedding(USERS, FACTORS, device=DEVICE)
        self.item_factors = nn.Embedding(ITEMS, FACTORS, device=DEVICE)
        self.user_features = nn.Embedding(USERS, half, device=DEVICE)
        self.item_features = nn.Embedding(ITEMS, half, device=DEVICE)
        layers = []
        for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
            layers += [linear(inputs, outputs), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.result = linear(FACTORS + WIDTHS[-1], 2)

    def forward(self, user, item):
        """user, item: [batch, 1], a pair a sample. Logits: bought or not."""
        user, item = user[:, 0], item[:, 0]
        factors = self.user_factors(user) * self.item_factors(item)
        features = torch.cat([self.user_features(user), self.item_features(item)], 1)
        return self.result(torch.cat([factors, self.layers(features)], 1))


def ncf():
    number = torch.zeros(2, 1, dtype=torch.int64)
    return allocate(NeuMf()), {"user": number, "item": number}, [2]

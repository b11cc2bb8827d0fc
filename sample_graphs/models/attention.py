"""The blocks that BERT and the Transformer share. The batch is the outermost axis everywhere."""

import math

import torch
from torch import nn

# Parameters are declared without memory; `allocate` gives them memory but no values, so that a
# model of a billion parameters costs no time for random numbers that nobody reads.
DEVICE = "meta"


def allocate(model):
    return model.to_empty(device="cpu")


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, device=DEVICE)


def layer_norm(hidden):
    return nn.LayerNorm(hidden, device=DEVICE)


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads = heads
        self.head_size = hidden // heads
        self.query = linear(hidden, hidden)
        self.key = linear(hidden, hidden)
        self.value = linear(hidden, hidden)
        self.output = linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, length, memory_length, mask):
        """x: [batch, length, hidden]; memory: what is attended to; mask: added to the scores."""
        query = self.split_heads(self.query(x), length)
        key = self.split_heads(self.key(memory), memory_length)
        value = self.split_heads(self.value(memory), memory_length)
        scores = query @ key.transpose(2, 3) / math.sqrt(self.head_size)
        if mask is not None:
            scores = scores + mask
        mixed = self.dropout(scores.softmax(-1)) @ value
        merged = mixed.transpose(1, 2).reshape(-1, length, self.heads * self.head_size)
        return self.output(merged)

    def split_heads(self, x, length):
        return x.reshape(-1, length, self.heads, self.head_size).transpose(1, 2)


class FeedForward(nn.Sequential):
    def __init__(self, hidden, inner, activation):
        super().__init__(linear(hidden, inner), activation, linear(inner, hidden))


class Embedding(nn.Module):
    """Token and position embedding; the positions are learned, so no table is in the graph."""

    def __init__(self, vocabulary, length, hidden):
        super().__init__()
        self.token = nn.Embedding(vocabulary, hidden, device=DEVICE)
        self.position = nn.Parameter(torch.empty(length, hidden, device=DEVICE))

    def forward(self, ids):
        return self.token(ids) + self.position

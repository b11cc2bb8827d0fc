"""The Transformer (Vaswani et al., 2017), 6 + 6 layers: base (d_model 512, d_ff 2048, 8 heads) and
big (1024, 4096, 16); and with 12 + 12 layers (2048, 2048, 16).
"""

import math

import torch
from torch import nn

from attention import (
    Embedding, FeedForward, MultiHeadAttention, allocate, layer_norm, linear,
)  # fmt: skip

LAYERS = 6
LENGTH = 64  # of the source and of the target sentence
DROPOUT = 0.1


class EncoderLayer(nn.Module):
    def __init__(self, hidden, inner, heads):
        super().__init__()
        self.attention = MultiHeadAttention(hidden, heads, DROPOUT)
        self.attention_norm = layer_norm(hidden)
        self.feed_forward = FeedForward(hidden, inner, nn.ReLU())
        self.feed_forward_norm = layer_norm(hidden)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x):
        attended = self.attention(x, x, LENGTH, LENGTH, None)
        x = self.attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class DecoderLayer(nn.Module):
    def __init__(self, hidden, inner, heads):
        super().__init__()
        self.attention = MultiHeadAttention(hidden, heads, DROPOUT)
        self.attention_norm = layer_norm(hidden)
        self.cross_attention = MultiHeadAttention(hidden, heads, DROPOUT)
        self.cross_attention_norm = layer_norm(hidden)
        self.feed_forward = FeedForward(hidden, inner, nn.ReLU())
        self.feed_forward_norm = layer_norm(hidden)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, causal_mask):
        attended = self.attention(x, x, LENGTH, LENGTH, causal_mask)
        x = self.attention_norm(x + self.dropout(attended))
        attended = self.cross_attention(x, memory, LENGTH, LENGTH, None)
        x = self.cross_attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Transformer(nn.Module):
    def __init__(self, hidden, inner, heads, vocabulary, layers=LAYERS):
        super().__init__()
        self.scale = math.sqrt(hidden)
        self.source = Embedding(vocabulary, LENGTH, hidden)
        self.target = Embedding(vocabulary, LENGTH, hidden)
        self.encoder = nn.ModuleList(EncoderLayer(hidden, inner, heads) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(hidden, inner, heads) for _ in range(layers))
        self.generator = linear(hidden, vocabulary)
        self.dropout = nn.Dropout(DROPOUT)
        self.causal_mask = torch.full((LENGTH, LENGTH), -10000.0).triu(1)

    def forward(self, source_ids, target_ids):
        memory = self.dropout(self.source(source_ids) * self.scale)
        for layer in self.encoder:
            memory = layer(memory)
        x = self.dropout(self.target(target_ids) * self.scale)
        for layer in self.decoder:
            x = layer(x, memory, self.causal_mask)
        return self.generator(x)


def transformer():
    # Two embeddings and an output layer of this size give 407 MiB of parameters (TAG, Table 3).
    return sentences(Transformer(512, 2048, 8, vocabulary=40_704), vocabulary=40_704)


def transformer_big():
    # Both languages share a vocabulary of about 33,700 subwords (Tensor2Tensor, WMT English-German).
    return sentences(Transformer(1024, 4096, 16, vocabulary=33_708), vocabulary=33_708)


def transformer_deep():
    # Celeritas, 6.2.1. Where d_model alone is set, Tensor2Tensor's base keeps its d_ff of 2048.
    model = Transformer(2048, 2048, 16, vocabulary=33_708, layers=12)
    return sentences(model, vocabulary=33_708)


def sentences(model, vocabulary):
    ids = torch.zeros(2, LENGTH, dtype=torch.int64)
    inputs = {"source_ids": ids, "target_ids": ids}
    return allocate(model), inputs, [LENGTH, vocabulary]

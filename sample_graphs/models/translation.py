"""The base Transformer (Vaswani et al., 2017): 6 + 6 layers, d_model 512, d_ff 2048, 8 heads."""

import math

import torch
from torch import nn

from attention import (
    Embedding, FeedForward, MultiHeadAttention, allocate, layer_norm, linear,
)  # fmt: skip

LAYERS = 6
HIDDEN = 512
INNER = 2048
HEADS = 8
LENGTH = 64  # of the source and of the target sentence
DROPOUT = 0.1
# Two embeddings and an output layer of this size give 407 MiB of parameters (TAG, Table 3).
VOCABULARY = 40_704


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = MultiHeadAttention(HIDDEN, HEADS, DROPOUT)
        self.attention_norm = layer_norm(HIDDEN)
        self.feed_forward = FeedForward(HIDDEN, INNER, nn.ReLU())
        self.feed_forward_norm = layer_norm(HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x):
        attended = self.attention(x, x, LENGTH, LENGTH, None)
        x = self.attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = MultiHeadAttention(HIDDEN, HEADS, DROPOUT)
        self.attention_norm = layer_norm(HIDDEN)
        self.cross_attention = MultiHeadAttention(HIDDEN, HEADS, DROPOUT)
        self.cross_attention_norm = layer_norm(HIDDEN)
        self.feed_forward = FeedForward(HIDDEN, INNER, nn.ReLU())
        self.feed_forward_norm = layer_norm(HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, causal_mask):
        attended = self.attention(x, x, LENGTH, LENGTH, causal_mask)
        x = self.attention_norm(x + self.dropout(attended))
        attended = self.cross_attention(x, memory, LENGTH, LENGTH, None)
        x = self.cross_attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = Embedding(VOCABULARY, LENGTH, HIDDEN)
        self.target = Embedding(VOCABULARY, LENGTH, HIDDEN)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.generator = linear(HIDDEN, VOCABULARY)
        self.dropout = nn.Dropout(DROPOUT)
        self.causal_mask = torch.full((LENGTH, LENGTH), -10000.0).triu(1)

    def forward(self, source_ids, target_ids):
        memory = self.dropout(self.source(source_ids) * math.sqrt(HIDDEN))
        for layer in self.encoder:
            memory = layer(memory)
        x = self.dropout(self.target(target_ids) * math.sqrt(HIDDEN))
        for layer in self.decoder:
            x = layer(x, memory, self.causal_mask)
        return self.generator(x)


def transformer():
    ids = torch.zeros(2, LENGTH, dtype=torch.int64)
    inputs = {"source_ids": ids, "target_ids": ids}
    return allocate(Transformer()), inputs, [LENGTH, VOCABULARY]

"""Transformer-XL (Dai et al., 2019) as GDP 6.3.5 has it: sentences of 256 tokens in segments of 64, each
of which attends to itself and to the one before, a width of 500, 10 heads of 50, 1000 inside.

All segments of a sentence are in the graph, one after the other in every layer.
"""

import math

import torch
from torch import nn

from attention import DEVICE, allocate, layer_norm, linear

HIDDEN, INNER, HEADS, HEAD = 500, 1000, 10, 50
SEGMENT, SEGMENTS = 64, 4
VOCABULARY = 32_000  # not in the paper
DROPOUT = 0.1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        width = HEADS * HEAD
        self.query, self.key, self.value = (linear(HIDDEN, width) for _ in range(3))
        self.position = linear(HIDDEN, width)
        self.output = linear(width, HIDDEN)
        self.content_bias = nn.Parameter(torch.empty(HEADS, 1, HEAD, device=DEVICE))
        self.position_bias = nn.Parameter(torch.empty(HEADS, 1, HEAD, device=DEVICE))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, distances, mask):
        """memory: what is attended to, the segment itself last; distances: an embedding of each;
        mask: added to the scores."""
        length, seen = SEGMENT, SEGMENT if memory is x else 2 * SEGMENT
        query = self.heads(self.query(x), length)
        key, value = self.heads(self.key(memory), seen), self.heads(self.value(memory), seen)
        position = self.position(distances).reshape(seen, HEADS, HEAD).permute(1, 2, 0)
        content = (query + self.content_bias) @ key.transpose(2, 3)
        relative = self.shifted((query + self.position_bias) @ position, length, seen)
        scores = ((content + relative) / math.sqrt(HEAD) + mask).softmax(-1)
        mixed = (self.dropout(scores) @ value).transpose(1, 2)
        return self.output(mixed.reshape(-1, length, HEADS * HEAD))

    @staticmethod
    def heads(x, length):
        return x.reshape(-1, length, HEADS, HEAD).transpose(1, 2)

    @staticmethod
    def shifted(scores, length, seen):
        """Row i, which has a column for each distance, moved so that columns are what is seen."""
        padded = nn.functional.pad(scores, (1, 0)).reshape(-1, HEADS, seen + 1, length)
        return padded[:, :, 1:].reshape(-1, HEADS, length, seen)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.attention_norm = layer_norm(HIDDEN)
        self.feed_forward = nn.Sequential(linear(HIDDEN, INNER), nn.ReLU(), linear(INNER, HIDDEN))
        self.feed_forward_norm = layer_norm(HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, distances, mask):
        attended = self.attention(x, memory, distances, mask)
        x = self.attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class TransformerXl(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN, device=DEVICE)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.result = linear(HIDDEN, VOCABULARY)
        self.dropout = nn.Dropout(DROPOUT)
        # Of how far back a token is; learned, so that no table is in the graph.
        self.distances = nn.Parameter(torch.empty(2 * SEGMENT, HIDDEN, device=DEVICE))
        # Nobody sees what comes later.
        self.masks = torch.full((SEGMENT, 2 * SEGMENT), -10000.0).triu(SEGMENT + 1)

    def forward(self, input_ids):
        distances, masks = self.distances, self.masks
        segments = self.dropout(self.embedding(input_ids)).split(SEGMENT, 1)
        for layer in self.layers:
            made, before = [], None
            for x in segments:
                if before is None:  # the first one sees itself alone
                    made.append(layer(x, x, distances[SEGMENT:], masks[:, SEGMENT:]))
                else:  # in the paper no gradient goes back to the memory; ONNX cannot say so
                    memory = torch.cat([before, x], 1)
                    made.append(layer(x, memory, distances, masks))
                before = x
            segments = made
        return self.result(torch.cat(segments, 1))


def transformer_xl(layers):
    length = SEGMENT * SEGMENTS
    ids = torch.zeros(2, length, dtype=torch.int64)
    return allocate(TransformerXl(layers)), {"input_ids": ids}, [length, VOCABULARY]

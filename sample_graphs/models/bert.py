"""BERT encoders (Devlin et al., 2019) with a pooled two-class head.

The head is a classifier and not a language model, because with 305,220 tokens the logits of a
masked language model would outweigh every other activation.
"""

import torch
from torch import nn

from attention import (
    DEVICE, Embedding, FeedForward, MultiHeadAttention, allocate, layer_norm, linear,
)  # fmt: skip

SEQUENCE = 128
DROPOUT = 0.1
CLASSES = 2


class Layer(nn.Module):
    def __init__(self, hidden, inner, heads, length):
        super().__init__()
        self.length = length
        self.attention = MultiHeadAttention(hidden, heads, DROPOUT)
        self.attention_norm = layer_norm(hidden)
        self.feed_forward = FeedForward(hidden, inner, nn.GELU())
        self.feed_forward_norm = layer_norm(hidden)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, mask):
        attended = self.attention(x, x, self.length, self.length, mask)
        x = self.attention_norm(x + self.dropout(attended))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Bert(nn.Module):
    def __init__(self, layers, hidden, inner, heads, vocabulary, length=SEQUENCE):
        super().__init__()
        self.embedding = Embedding(vocabulary, length, hidden)
        self.segment = nn.Embedding(2, hidden, device=DEVICE)
        self.embedding_norm = layer_norm(hidden)
        self.dropout = nn.Dropout(DROPOUT)
        self.layers = nn.ModuleList(Layer(hidden, inner, heads, length) for _ in range(layers))
        self.pooler = linear(hidden, hidden)
        self.classifier = linear(hidden, CLASSES)

    def forward(self, input_ids, token_type_ids, attention_mask):
        """attention_mask: 1 for a token, 0 for padding."""
        mask = (1.0 - attention_mask[:, None, None, :]) * -10000.0
        x = self.embedding_norm(self.embedding(input_ids) + self.segment(token_type_ids))
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return self.classifier(self.dropout(pooled))


def bert_small():
    return allocate(Bert(4, 1024, 1024, 16, vocabulary=30_522)), tokens(), [CLASSES]


def bert_large():
    return allocate(Bert(24, 2048, 2048, 16, vocabulary=305_220)), tokens(), [CLASSES]


def bert_large_340m():
    """BERT-Large as published, on 64 tokens (FastT, 6.3)."""
    model = Bert(24, 1024, 4096, 16, vocabulary=30_522, length=64)
    return allocate(model), tokens(64), [CLASSES]


def bert_3l():
    """11 M parameters, as AutoDist's has."""
    return allocate(Bert(3, 256, 1024, 4, vocabulary=30_522)), tokens(), [CLASSES]


def bert_6l():
    return allocate(Bert(6, 768, 3072, 12, vocabulary=30_522)), tokens(), [CLASSES]


def bert_12l():
    """BERT-Base as published."""
    return allocate(Bert(12, 768, 3072, 12, vocabulary=30_522)), tokens(), [CLASSES]


def tokens(length=SEQUENCE):
    ids = torch.zeros(2, length, dtype=torch.int64)
    return {"input_ids": ids, "token_type_ids": ids, "attention_mask": torch.ones(2, length)}

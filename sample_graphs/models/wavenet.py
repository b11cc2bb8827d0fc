"""WaveNet (van den Oord et al., 2016): stacks of gated causal convolutions, whose dilation doubles
from layer to layer. GDP 6.3.6 gives the layers alone; the widths are ours.
"""

import torch
from torch import nn

LEVELS = 256  # of a sample
SAMPLES = 4096
RESIDUAL, SKIP = 128, 256


class Layer(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.dilation = dilation
        self.filter = nn.Conv1d(RESIDUAL, RESIDUAL, 2, dilation=dilation)
        self.gate = nn.Conv1d(RESIDUAL, RESIDUAL, 2, dilation=dilation)
        self.residual = nn.Conv1d(RESIDUAL, RESIDUAL, 1)
        self.skip = nn.Conv1d(RESIDUAL, SKIP, 1)

    def forward(self, x):
        causal = nn.functional.pad(x, (self.dilation, 0))
        gated = torch.tanh(self.filter(causal)) * torch.sigmoid(self.gate(causal))
        return x + self.residual(gated), self.skip(gated)


class WaveNet(nn.Module):
    def __init__(self, stacks, layers):
        super().__init__()
        self.embedding = nn.Embedding(LEVELS, RESIDUAL)
        self.layers = nn.ModuleList(Layer(2**i) for _ in range(stacks) for i in range(layers))
        self.hidden = nn.Conv1d(SKIP, SKIP, 1)
        self.result = nn.Conv1d(SKIP, LEVELS, 1)

    def forward(self, samples):
        x = self.embedding(samples).transpose(1, 2)
        total = None
        for layer in self.layers:
            x, skip = layer(x)
            total = skip if total is None else total + skip
        logits = self.result(torch.relu(self.hidden(torch.relu(total))))
        return logits.transpose(1, 2)


def wavenet(stacks):
    """Nine layers a stack: a receptive field of 512 a stack."""
    samples = torch.zeros(2, SAMPLES, dtype=torch.int64)
    return WaveNet(stacks, 9), {"samples": samples}, [SAMPLES, LEVELS]

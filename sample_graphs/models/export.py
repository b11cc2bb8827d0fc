"""Writes the sample models beside this file: `python3 export.py [NAME ...]`, by default all."""

import pathlib
import sys

import bert
import onnx_file
import translation
import vision

SAMPLES = {
    "lenet": vision.lenet,
    "alexnet": vision.alexnet,
    "vgg19": vision.vgg19,
    "resnet101": vision.resnet101,
    "inception_v3": vision.inception_v3,
    "transformer": translation.transformer,
    "bert_small": bert.bert_small,
    "bert_large": bert.bert_large,
}


def write(name):
    model, inputs, logits = SAMPLES[name]()
    path = pathlib.Path(__file__).with_name(f"{name}.onnx")
    proto = onnx_file.export(model, inputs, {"logits": logits}, path)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{name:<14} {len(proto.graph.node):>5} nodes {path.stat().st_size:>8} bytes "
        f"{parameters:>13,} parameters {parameters * 4 / 2**20:>8.1f} MiB"
    )


def main():
    names = sys.argv[1:] or list(SAMPLES)
    unknown = [name for name in names if name not in SAMPLES]
    if unknown:
        sys.exit(f"unknown sample {', '.join(unknown)}; choose from {', '.join(SAMPLES)}")
    for name in names:
        write(name)


if __name__ == "__main__":
    main()

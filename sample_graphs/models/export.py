"""Writes the sample models beside this file: `python3 export.py [NAME ...]`, by default all."""

import pathlib
import sys

import bert
import onnx
import onnx_file
import recurrent
import translation
import unrolled
import vision

SAMPLES = {
    "lenet": vision.lenet,
    "lenet_slim": vision.lenet_slim,
    "alexnet": vision.alexnet,
    "alexnet_slim": vision.alexnet_slim,
    "vgg19": vision.vgg19,
    "resnet101": vision.resnet101,
    "resnet200": vision.resnet200,
    "inception_v3": vision.inception_v3,
    "tensor_holography": vision.tensor_holography,
    "transformer": translation.transformer,
    "transformer_big": translation.transformer_big,
    "transformer_deep": translation.transformer_deep,
    "bert_small": bert.bert_small,
    "bert_large": bert.bert_large,
    "bert_large_340m": bert.bert_large_340m,
}
# Large files whose activations have numbers for names.
SHORTENED = {"resnet200", "transformer_big", "transformer_deep", "bert_large_340m", "nmt_unrolled"}
# Written without PyTorch, whose exporter would turn the gates' order in every step.
GRAPHS = {"rnnlm": recurrent.rnnlm, "gnmt": recurrent.gnmt, "nmt_unrolled": unrolled.nmt_unrolled}


def write(name):
    path = pathlib.Path(__file__).with_name(f"{name}.onnx")
    if name in GRAPHS:
        proto = GRAPHS[name]()
    else:
        model, inputs, logits = SAMPLES[name]()
        proto = onnx_file.export(model, inputs, {"logits": logits}, path)
    if name in SHORTENED:
        onnx_file.shorten_tensor_names(proto)
    onnx.save(proto, path)
    parameters = sum(onnx_file.tensor_bytes(t) for t in onnx_file.weights(proto)) // 4
    print(
        f"{name:<15} {len(proto.graph.node):>5} nodes {path.stat().st_size:>8} bytes "
        f"{parameters:>13,} parameters {parameters * 4 / 2**20:>8.1f} MiB"
    )


def main():
    known = [*SAMPLES, *GRAPHS]
    names = sys.argv[1:] or known
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"unknown sample {', '.join(unknown)}; choose from {', '.join(known)}")
    for name in names:
        write(name)


if __name__ == "__main__":
    main()

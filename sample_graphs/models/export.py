"""Writes the sample models beside this file: `python3 export.py [NAME ...]`, by default all."""

import functools
import pathlib
import sys

import amoebanet
import bert
import onnx
import onnx_file
import recommendation
import recurrent
import transformer_xl
import translation
import unrolled
import vision
import wavenet

SAMPLES = {
    "lenet": vision.lenet,
    "lenet_slim": vision.lenet_slim,
    "alexnet": vision.alexnet,
    "alexnet_slim": vision.alexnet_slim,
    "vgg16": vision.vgg16,
    "vgg19": vision.vgg19,
    "densenet121": vision.densenet121,
    "resnet101": vision.resnet101,
    "resnet200": vision.resnet200,
    "inception_v3": vision.inception_v3,
    "tensor_holography": vision.tensor_holography,
    "transformer": translation.transformer,
    "transformer_big": translation.transformer_big,
    "transformer_deep": translation.transformer_deep,
    "ncf": recommendation.ncf,
    "amoebanet": amoebanet.amoebanet,
    "wavenet_2x9": functools.partial(wavenet.wavenet, 2),
    "wavenet_4x9": functools.partial(wavenet.wavenet, 4),
    "transformer_xl_2l": functools.partial(transformer_xl.transformer_xl, 2),
    "transformer_xl_4l": functools.partial(transformer_xl.transformer_xl, 4),
    "transformer_xl_8l": functools.partial(transformer_xl.transformer_xl, 8),
    "bert_3l": bert.bert_3l,
    "bert_6l": bert.bert_6l,
    "bert_12l": bert.bert_12l,
    "bert_small": bert.bert_small,
    "bert_large": bert.bert_large,
    "bert_large_340m": bert.bert_large_340m,
}
# Large files whose activations have numbers for names.
SHORTENED = {
    "resnet200", "densenet121", "amoebanet", "wavenet_2x9", "wavenet_4x9",
    "transformer_big", "transformer_deep", "transformer_xl_2l", "transformer_xl_4l", "transformer_xl_8l",
    "bert_3l", "bert_6l", "bert_12l", "bert_large_340m", "nmt_unrolled",
    "rnnlm_2l", "rnnlm_4l", "rnnlm_8l", "gnmt_2l", "gnmt_4l", "gnmt_8l",
}  # fmt: skip
# Written without PyTorch, whose exporter would turn the gates' order in every step.
GRAPHS = {
    "lm1b": recurrent.lm1b,
    "rnnlm": recurrent.rnnlm,
    "gnmt": recurrent.gnmt,
    "nmt_unrolled": unrolled.nmt_unrolled,
}
GRAPHS |= {f"rnnlm_{n}l": functools.partial(unrolled.rnnlm, n) for n in (2, 4, 8)}
GRAPHS |= {f"gnmt_{n}l": functools.partial(unrolled.gnmt, n) for n in (2, 4, 8)}


def write(name):
    path = pathlib.Path(__file__).with_name(f"{name}.onnx")
    if name in GRAPHS:
        proto = GRAPHS[name]()
    else:
        model, inputs, logits = SAMPLES[name]()
        proto = onnx_file.export(model, inputs, {"logits": logits}, path)
    if name.startswith("transformer_xl"):  # its mask is in every layer
        onnx_file.share_constants(proto)
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

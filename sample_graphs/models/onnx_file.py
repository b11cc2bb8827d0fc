"""Writes a PyTorch module as an ONNX training graph whose weights are left out.

A parameter stays in the file as an initializer with its name, type and shape, but its bytes are
declared to lie in `weights.bin`, which is never written. Whoever only plans a model needs no more.
"""

import io

import onnx
import torch

OPSET = 17
WEIGHT_FILE = "weights.bin"


def export(model, inputs, outputs, path):
    """Exports `model` in training mode.

    inputs: name -> example tensor, in the order of `forward`; axis 0 of each is the batch.
    outputs: name -> sizes of the result without its axis 0, the batch.
    """
    proto = trace(model, inputs, outputs)
    leave_weights_out(proto, {name for name, _ in named_weights(model)})
    store_linear_weights_transposed(proto)
    declare_results(proto, outputs)
    onnx.save(proto, path)
    return proto


def trace(model, inputs, outputs, batch_axis="batch", training=True, opset=OPSET, **options):
    """The exporter's own result, with every weight as a graph input. `batch_axis` None: fixed."""
    mode = torch.onnx.TrainingMode
    axes = {name: {0: batch_axis} for name in [*inputs, *outputs]} if batch_axis else None
    buffer = io.BytesIO()
    model.train(training)
    forget_step_counters(model)
    torch.onnx.export(
        model,
        tuple(inputs.values()),
        buffer,
        export_params=options.pop("export_params", False),  # a protobuf message ends at 2 GB
        training=mode.TRAINING if training else mode.EVAL,
        do_constant_folding=options.pop("do_constant_folding", False),  # would drop train nodes
        opset_version=opset,
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_axes=axes,
        **options,
    )
    return onnx.load_from_string(buffer.getvalue())


def forget_step_counters(model):
    """BatchNorm counts its steps only for a cumulative average; ONNX has no such counter."""
    for module in model.modules():
        if hasattr(module, "num_batches_tracked"):
            module.num_batches_tracked = None


def named_weights(model):
    yield from model.named_parameters()
    yield from model.named_buffers()


def leave_weights_out(proto, weights):
    """Turns graph inputs named in `weights` into initializers that point into WEIGHT_FILE."""
    graph = proto.graph
    kept = [value for value in graph.input if value.name not in weights]
    moved = [value for value in graph.input if value.name in weights]
    offset = 0
    for value in moved:
        tensor = external_tensor(value, offset)
        offset += tensor_bytes(tensor)
        graph.initializer.append(tensor)
    del graph.input[:]
    graph.input.extend(kept)


def external_tensor(value, offset):
    kind = value.type.tensor_type
    tensor = onnx.TensorProto(
        name=value.name,
        data_type=kind.elem_type,
        dims=[dim.dim_value for dim in kind.shape.dim],
        data_location=onnx.TensorProto.EXTERNAL,
    )
    places = {"location": WEIGHT_FILE, "offset": offset, "length": tensor_bytes(tensor)}
    for key, entry in places.items():
        tensor.external_data.add(key=key, value=str(entry))
    return tensor


def tensor_bytes(tensor):
    count = 1
    for size in tensor.dims:
        count *= size
    return count * onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.data_type].itemsize


def store_linear_weights_transposed(proto):
    """Drops the Transpose that the exporter puts between a weight and its MatMul.

    torch.nn.Linear keeps [out, in]; MatMul wants [in, out]. A runtime turns the weight once, not
    in every step, so the file declares it turned.
    """
    graph = proto.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    readers = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    renamed = {}
    for weight in weights.values():
        turns = readers.get(weight.name, [])
        if len(weight.dims) != 2 or not turns or any(n.op_type != "Transpose" for n in turns):
            continue
        weight.dims[:] = reversed(weight.dims)
        for node in turns:
            renamed[node.output[0]] = weight.name
            graph.node.remove(node)
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]


def share_constants(proto):
    """The exporter writes a constant anew wherever it is read: of equal ones the first stays."""
    graph = proto.graph
    first, renamed = {}, {}
    for node in [node for node in graph.node if node.op_type == "Constant"]:
        value = node.attribute[0].t
        key = (value.data_type, tuple(value.dims), value.raw_data)
        kept = first.setdefault(key, node.output[0])
        if kept != node.output[0]:
            renamed[node.output[0]] = kept
            graph.node.remove(node)
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]


def weights(proto):
    """The initializers whose bytes are left out."""
    return [t for t in proto.graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]


def shorten_tensor_names(proto):
    """Numbers the activations; nodes keep their names, which say the same."""
    graph = proto.graph
    kept = {value.name for value in graph.output}
    made = [name for node in graph.node for name in node.output if name and name not in kept]
    short = {name: str(i) for i, name in enumerate(made)}
    for node in graph.node:
        node.input[:] = [short.get(name, name) for name in node.input]
        node.output[:] = [short.get(name, name) for name in node.output]
    for value in graph.value_info:
        value.name = short.get(value.name, value.name)


def declare_results(proto, outputs):
    """Gives the results their sizes: the exporter loses some behind a Reshape to -1."""
    for value in proto.graph.output:
        for dim, size in zip(value.type.tensor_type.shape.dim[1:], outputs[value.name]):
            dim.dim_value = size

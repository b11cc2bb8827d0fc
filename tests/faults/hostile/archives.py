"""Archives of several entries: programs of torch.export (.pt2), and how they are damaged."""

import io
import json
import zipfile

import damage


def zipped(entries, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return out.getvalue()


def entries_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def tensor(name, value):
    return {"name": name, "arg": {"as_tensor": {"name": value}}, "kind": 1}


def sizes(*dims):
    return [{"as_int": dim} if isinstance(dim, int) else {"as_expr": {"expr_str": dim}} for dim in dims]


def node(op, inputs, output):
    return {"target": f"torch.ops.{op}", "inputs": inputs, "outputs": [{"as_tensor": {"name": output}}],
            "metadata": {"nn_module_stack": "L__self__,,my.Model;L__self___a,a,torch.nn.modules.linear.Linear"}}


def program():
    """Two layers, with a symbolic batch."""
    whole = lambda name, value: {"name": name, "arg": {"as_int": value}, "kind": 1}
    wholes = lambda name, values: {"name": name, "arg": {"as_ints": values}, "kind": 1}
    nodes = [
        node("aten.linear.default", [tensor("input", "x"), tensor("weight", "w"), tensor("bias", "b")], "h"),
        node("aten.relu.default", [tensor("self", "h")], "r"),
        node("aten.view.default", [tensor("self", "r"), wholes("size", [-1, 4, 2])], "v"),
        node("aten.softmax.int", [tensor("self", "v"), whole("dim", -1)], "s"),
        node("aten.transpose.int", [tensor("self", "s"), whole("dim0", 1), whole("dim1", 2)], "t"),
        node("aten.mean.dim", [tensor("self", "t"), wholes("dim", [1])], "y"),
    ]
    shapes = {"x": ("s0", 16), "w": (8, 16), "b": (8,), "h": ("s0", 8), "r": ("s0", 8), "v": ("s0", 4, 2), "s": ("s0", 4, 2),
              "t": ("s0", 2, 4), "y": ("s0", 4)}
    values = {name: {"dtype": 7, "sizes": sizes(*dims), "requires_grad": False} for name, dims in shapes.items()}
    parameter = lambda name: {"parameter": {"arg": {"name": name}, "parameter_name": f"layer.{name}"}}
    as_tensor = lambda name: {"as_tensor": {"name": name}}
    graph = {"inputs": [as_tensor(name) for name in "xwb"], "outputs": [as_tensor("y")], "nodes": nodes, "tensor_values": values,
             "sym_int_values": {}, "sym_bool_values": {}}
    signature = {"input_specs": [{"user_input": {"arg": as_tensor("x")}}, parameter("w"), parameter("b")],
                 "output_specs": [{"user_output": {"arg": as_tensor("y")}}]}
    return json.dumps({"graph_module": {"graph": graph, "signature": signature, "module_call_graph": []},
                       "opset_version": {"aten": 10}, "range_constraints": {"s0": {"min_val": 1, "max_val": 64}},
                       "schema_version": {"major": 8, "minor": 8}, "torch_version": "2.8.0"}).encode()


PLACE = "model/models/model.json"


def pt2():
    return zipped([("model/archive_format", b"pt2"), (PLACE, program()), ("model/data/weights/model.pt", b"weights")])


EXPRESSIONS = ["s0*s0", "2**100", "s0**s0**s0", "(" * damage.DEEP, "-" * damage.DEEP + "1", "1/0", "s0//0", "Mod(s0, 0)", "x y", "",
               "Max(1," * 5000 + "1" + ")" * 5000, "9" * 400, "s9", "s0 - 9223372036854775807"]


def of_pt2(random, content):
    what = random.random()
    if what < 0.2:
        return damage.of_bytes(random, content)
    entries = entries_of(content)
    kept = [entry for entry in entries if entry[0] != PLACE]
    text = dict(entries)[PLACE]
    if what < 0.3:
        text = text.replace(b'"s0"', json.dumps(random.choice(EXPRESSIONS)).encode(), random.choice([1, 2, 100]))
    elif what < 0.35:
        names = ["", "../../x/models/model.json", "models/" + "x" * 60_000 + ".json", "models/\u202e.json", "models/"]
        return zipped([(random.choice(names), text), *kept])
    elif what < 0.4:
        many = [(f"models/{i}.json", b"{}") for i in range(random.choice([2, 3000]))]
        return zipped([*kept, *many])
    elif what < 0.44:
        text = random.choice([b" ", b"[", b"0"]) * random.choice([1 << 26, 1 << 28])
    else:
        text = damage.of_json(random, text)
    compression = zipfile.ZIP_STORED if len(text) < damage.LARGEST and random.random() < 0.5 else zipfile.ZIP_DEFLATED
    return zipped([*kept, (PLACE, text)], compression)

"""Every format of files that the command line takes from outside: files to begin with, how they are damaged, and the
commands that read them.
"""

import gzip
import io
import math
import pathlib
import pickle
import shutil
import sqlite3
import struct
import subprocess
import zipfile

import archives
import containers
import damage
import jobs
import models
import traces

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS, CLUSTERS = ROOT / "sample_graphs/models", ROOT / "sample_graphs/clusters"
LENET, PAIR = str(MODELS / "lenet.onnx"), str(CLUSTERS / "tag-2x1080ti.json")
PLAN = ["plan", "--graph", LENET, "--batch", "8", "--cluster", PAIR, "--planner", "dp-allreduce"]


MOST_OFTEN = 10  # times in a round that a format has its turn


class Format:
    def __init__(self, name, suffix, seeds, change, commands, often=MOST_OFTEN):
        """`seeds`: makes contents. `commands`: of which one is drawn for each file; {file} is the file, {out} a new name."""
        self.name, self.suffix, self.make_seeds, self.change, self.commands = name, suffix, seeds, change, commands
        self.often = often
        self.program = "stratoscope-cli"

    def place(self, content, file):
        file.write_bytes(content)

    def told(self, _):
        """What went wrong, where it is not told on the error output."""
        return b""

    def start(self):
        self.seeds = list(self.make_seeds())
        return self


class JobFormat(Format):
    """A folder, which the program of a rank reads."""

    def __init__(self, name, seeds, often):
        super().__init__(name, "", seeds, jobs.of_job, [["--job", "{file}", "--rank", "0"]], often)
        self.program = "stratoscope-worker"
        self.place, self.told = jobs.place, jobs.failure


def files(folder, pattern, most=1 << 20):
    return [path.read_bytes() for path in sorted(folder.glob(pattern)) if path.stat().st_size <= most]


ONE = b'{"format": "stratoscope-cluster", "version": 1, "name": "one", "machines": [{"name": "m", "gpus": [{"type": "V100-SXM2-32GB", "count": 1}]}]}'

CONSTRAINTS = b"""{"format": "stratoscope-constraints", "version": 1,
 "pin": [{"group": "*", "mode": "replicate-allreduce", "devices": {"1080ti-0:0": 1, "1080ti-1:0": 2}}],
 "forbid": [{"group": {"name": "a", "ops": ["conv1/Conv", "conv2/Conv"]}, "modes": ["duplicate"], "roles": ["pipeline"]}],
 "together": [{"groups": ["conv*"]}], "max_devices": [{"devices": 2}, {"group": "fc*", "devices": 1}]}"""

PROFILE = b"""{"format": "stratoscope-profile", "version": 1, "units": {"time": "us", "bytes": "B"}, "name": "p", "host": "h",
 "ops": [{"gpu": "GTX-1080-Ti", "signature": "Relu f32[N,6,28,28]", "measurements": [{"samples": 1, "time": 3.5, "spread": 0.1, "repetitions": 9},
  {"samples": 8, "time": 5}]}],
 "transfers": [{"from": "1080ti-0:0", "to": "1080ti-1:0", "measurements": [{"bytes": 1024, "time": 10}, {"bytes": 1048576, "time": 900}]}],
 "collectives": [{"kind": "all-reduce", "devices": ["1080ti-0:0", "1080ti-1:0"], "measurements": [{"bytes": 1024, "time": 10}, {"bytes": 1048576, "time": 900}]}],
 "memory": [{"graph": "lenet", "gpu": "GTX-1080-Ti", "batch": 8, "peak": 123456789}]}"""

TOPOLOGY = (b"\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\nGPU0\t X \tNV12\tPXB\t0-63\t0\nGPU1\tNV12\t X \tPXB\t0-63\t0\nNIC0\tPXB\tPXB\t X \n\nLegend:\n"
            b"GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n")

NCCL = b"""<!-- gpu: H100 --><system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
<pci busid="0000:45:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
<pci busid="0000:52:00.0" class="0x020000"><nic><net name="mlx5_0" dev="0" speed="400000" port="1" gdr="1"/></nic></pci>
<pci busid="0000:53:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
<gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0000:54:00.0" count="18" tclass="0x030200"/></gpu></pci>
<pci busid="0000:54:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="16.0 GT/s PCIe" link_width="8">
<gpu dev="1" sm="90" rank="1" gdr="1"><nvlink target="0000:53:00.0" count="18" tclass="0x030200"/></gpu></pci></pci></cpu></system>
"""
ROCM = (b"======== ROCm System Management Interface ========\n==== Weight between two GPUs ====\n       GPU0         GPU1         \n"
        b"GPU0   0            15           \nGPU1   15           0            \n\n==== Link Type between two GPUs ====\n"
        b"       GPU0         GPU1         \nGPU0   0            XGMI         \nGPU1   XGMI         0            \n\n"
        b"==== Numa Nodes ====\nGPU[0]\t\t: (Topology) Numa Node: 0\nGPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X OAM\n"
        b"GPU[1]\t\t: Card Model: \t\t0x74a1\n")
SLURM = b"""# nic: 8 x 400 Gb/s
# oversubscription: 2
SwitchName=leaf1 Nodes=n[01-02] LinkSpeed=100
SwitchName=leaf2 Nodes=n[03,04]
SwitchName=spine Switches=leaf[1-2]
NodeName=n[01-04] CPUs=96 Gres=gpu:h100:8(S:0-1),nvme:2
"""

KINETO = b"""{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},
"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 84942979072}],
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 7, "tid": 7, "ts": 100.0, "dur": 90.5},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 101, "dur": 5, "args": {"External id": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 103, "dur": 2, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "sm90_gemm", "pid": 0, "tid": 7, "ts": 110, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "pid": 0, "tid": 20, "ts": 125, "dur": 30,
 "args": {"device": 0, "stream": 20, "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float",
          "Group size": 2, "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]", "Seq": 5}},
{"ph": "s", "id": 4, "pid": 7, "tid": 7, "ts": 103, "cat": "ac2g", "name": "ac2g"}, {"ph": "f", "id": 4, "pid": 0, "tid": 7, "ts": 110, "bp": "e"},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 7, "tid": 7, "ts": 104, "args": {"Total Allocated": 4096, "Total Reserved": 8192,
 "Bytes": 512, "Device Type": 1, "Device Id": 0, "Addr": 77}},
{"ph": "B", "name": "outer", "pid": 9, "tid": 1, "ts": 1}, {"ph": "E", "pid": 9, "tid": 1, "ts": 9},
{"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}}]}"""

TORCHTITAN = b"""[model]
name = "gpt"
[training]
local_batch_size = 2
seq_len = 1024
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 2
pipeline_parallel_degree = 2
pipeline_parallel_schedule = "Interleaved1F1B"
module_fqns_per_model_part = [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]]
[activation_checkpoint]
mode = "full"
"""
DEEPSPEED = b"""{"train_batch_size": 16, "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": 1,
 "zero_optimization": {"stage": 3, "mics_shard_size": 4, "offload_optimizer": {"device": "cpu"}},
 "tensor_parallel": {"autotp_size": 1}, "bf16": {"enabled": true}, "stratoscope": {"layout": {"recompute": "blocks"}}}"""
ACCELERATE = b"""compute_environment: LOCAL_MACHINE
distributed_type: FSDP
num_processes: 8
fsdp_config: &fsdp
  fsdp_version: 2
  fsdp_reshard_after_forward: true
parallelism_config:
  parallelism_config_dp_shard_size: 4
  parallelism_config_tp_size: 2
"""
NEMO = b"""step_scheduler: {global_batch_size: 16, local_batch_size: 2}
distributed:
  strategy: fsdp2
  dp_size: none
  tp_size: 2
  pp_size: 2
  pipeline: {pp_schedule: 1f1b, pp_microbatch_size: 1}
"""
SCRIPT = b"""#!/bin/bash
# trains a model
NAME="gpt" ; LAYERS=24
MODEL=(
  --num-layers $LAYERS --hidden-size 1024
  --num-attention-heads 16 --seq-length 1024
)
MODEL+=(--max-position-embeddings 1024 "--bf16")
torchrun --nproc_per_node 8 pretrain_gpt.py "${MODEL[@]}" --tensor-model-parallel-size 2 \\
  --pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size ${BATCH} --use-distributed-optimizer 2> log.txt
"""
DOUBLING = b"A=xxxxxxxx\n" + b'A="$A$A"\n' * 60 + b"python pretrain_gpt.py --num-layers $A\n"
DOUBLING_LIST = b"A=(x y)\n" + b'A+=("${A[@]}" "${A[@]}")\n' * 60 + b'python pretrain_gpt.py "${A[@]}"\n'
YAML = b"language_model:\n  - --num-layers: 24\n  --tensor-model-parallel-size: 2 # so many\n  --pipeline-model-parallel-size: '2'\n  --bf16: true\n"

SCHEDULE = b"0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1\n"


def of_script(random, content):
    return random.choice([DOUBLING, DOUBLING_LIST]) if random.random() < 0.02 else damage.of_text(random, content)


def of_table(random, content):
    """Few rows: each takes as long as a model has to be made."""
    return b"\n".join(damage.of_text(random, content).split(b"\n")[:6])


# ---- tensors


def safetensors():
    header = (b'{"__metadata__":{"format":"pt"},"conv1.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},'
              b'"b":{"dtype":"F16","shape":[],"data_offsets":[24,26]}}')
    return struct.pack("<Q", len(header)) + header + b"\0" * 26


def npy(kind, shape):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * ((64 - (10 + len(header) + 1) % 64) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * (math.prod(shape) * int(kind[-1]))


def pytorch(pickled):
    """The archive of torch.save(), without PyTorch."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", b"\0" * 24)
        archive.writestr("archive/version", b"3\n")
    return out.getvalue()


def tensor_pickle(storage_size=6, offset=0, sizes=(2, 3), strides=(3, 1)):
    """{"w": a tensor}, as torch.save() pickles it."""
    number = lambda n: b"\x8a\x09" + (n % 2**72).to_bytes(9, "little") if abs(n) >= 2**31 else b"J" + struct.pack("<i", n)
    numbers = lambda values: b"(" + b"".join(map(number, values)) + b"t"
    return (b"\x80\x02}(X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
            + number(storage_size) + b"tQ" + number(offset) + numbers(sizes) + numbers(strides) + b"\x89ccollections\nOrderedDict\n)RtRu.")


def of_pytorch(random, content):
    what = random.random()
    if what < 0.3:
        return damage.of_bytes(random, content)
    giant = lambda: random.choice([*damage.GIANT, -1, 0, 2, 3, 6])
    if what < 0.6:
        return pytorch(tensor_pickle(giant() if random.random() < 0.5 else 6, giant() if random.random() < 0.5 else 0,
                                     [giant(), giant()][: random.randrange(3)], [giant(), 1]))
    deep = [b"\x80\x02" + b"]" * damage.DEEP + b"a" * (damage.DEEP - 1) + b".", b"\x80\x02" + b"(" * damage.DEEP + b".",
            b"\x80\x02}" + b"X\xff\xff\xff\x7fw.",
            b"\x80\x02]q\x00h\x00a.", b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.", b"\x80\x02)" + b"\x85" * damage.DEEP + b".",
            pickle.dumps({"a": [1, 2.5, "x", (3,)]}, 2),
            b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R."]
    if what < 0.75:
        return pytorch(random.choice(deep))
    return pytorch(damage.of_bytes(random, tensor_pickle()))


# ---- a workspace


# What makes rows, or values, without an end.
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
FOREIGN = [
    "DROP TABLE run; CREATE VIEW run AS " + ENDLESS + "SELECT i AS id, 1 AS model, 1 AS cluster, 'p' AS planner, '' AS options, 0 AS "
    "state, NULL AS best, 1 AS baseline_ns, 1 AS best_ns, 1 AS evaluations, 1.0 AS wall_seconds, '' AS note, '' AS created FROM n",
    "DROP TABLE history; CREATE VIEW history AS " + ENDLESS + "SELECT i AS id, 1 AS run, i AS evaluations, 0.1 AS elapsed_seconds, 1 AS best_ns FROM n",
    "ALTER TABLE run ADD COLUMN more TEXT AS (hex(zeroblob(400000000)))",
    "CREATE TABLE more (a TEXT AS (hex(zeroblob(400000000))), b)",
    "CREATE TRIGGER more AFTER INSERT ON value BEGIN SELECT count(*) FROM (" + ENDLESS + "SELECT i FROM n); END",
]


def of_workspace(random, content, scratch):
    """Bytes of the file, or a value in a row of one of its tables."""
    if random.random() < 0.35:
        at = random.randrange(len(content) // 4096 + 1) * 4096
        if random.random() < 0.5:
            return content[:at] + random.choice([b"\0" * 4096, b"\xff" * 4096, random.randbytes(4096)]) + content[at + 4096 :]
        return damage.of_bytes(random, content)
    scratch.write_bytes(content)
    database = sqlite3.connect(scratch)
    database.execute("PRAGMA foreign_keys = OFF")
    if random.random() < 0.1:
        database.executescript(random.choice(FOREIGN))
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
              if not name.startswith("sqlite_")]
    for _ in range(random.choice([1, 1, 2])):
        change_row(random, database, random.choice(tables + ["value", "tree", "value"]))
    database.commit()
    database.close()
    return scratch.read_bytes()


def change_row(random, database, table):
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    rows = database.execute(f"SELECT * FROM {table}").fetchall()
    if not rows:
        return
    row = list(random.choice(rows))
    key, i = row[0], random.randrange(len(columns))
    if "bytes" in columns and random.random() < 0.8:
        codec, size, packed = (row[columns.index(name)] for name in ("codec", "size", "bytes"))
        if isinstance(packed, bytes) and containers.ZSTD:
            whole = containers.decompressed(packed, size) if codec == 1 else packed
            whole = of_value(random, whole)
            codec, packed = random.choice([(0, whole), (1, containers.compressed(whole))])
            if random.random() < 0.03:
                whole = b"[" + b"0," * 10 + b" " * random.choice([1 << 26, 1 << 28]) + b"0]"
                codec, packed = 1, containers.compressed(whole)
            size = len(whole) if random.random() < 0.9 else random.choice([0, -1, 2**31, 2**62])
            database.execute(f"UPDATE {table} SET codec = ?, size = ?, bytes = ? WHERE {columns[0]} = ?",
                             (codec, size, packed, key))
            return
    value = random.choice([-1, 0, 1, 2**31, 2**62, -(2**63), 1e308, -1.5, "", "x" * 100_000, "\u202e", b"\xff\xfe", b"",
                           "0" * 32])
    if isinstance(row[i], str) and row[i].startswith("{"):
        value = damage.of_json(random, row[i].encode()).decode("utf-8", "replace")
    try:
        if random.random() < 0.1:
            database.execute(f"DELETE FROM {table} WHERE {columns[0]} = ?", (key,))
        else:
            database.execute(f"UPDATE {table} SET {columns[i]} = ? WHERE {columns[0]} = ?", (value, key))
    except sqlite3.Error:  # what the table itself refuses
        pass


def of_value(random, content):
    if content.startswith(containers.MAGIC):
        return containers.of_container(random, content)
    return damage.of_json(random, content) if content[:1] in (b"{", b"[") else damage.of_bytes(random, content)


# ---- all of them


def made_by(cli, scratch, name, arguments):
    path = scratch / name
    subprocess.run([cli, *[argument.replace("{out}", str(path)) for argument in arguments]], check=True, capture_output=True)
    return path.read_bytes()


def short_table(path):
    lines = path.read_bytes().split(b"\n")
    begin = next(i for i, line in enumerate(lines) if line and not line.startswith(b"#"))
    return b"\n".join(lines[begin : begin + 2]) + b"\n"


def all_formats(cli, scratch):
    def plan(*more, graph=LENET, cluster=PAIR, planner="dp-allreduce", name="seed.json"):
        return made_by(cli, scratch, name, ["plan", "--graph", graph, "--batch", "8", "--cluster", cluster, "--planner",
                                            planner, *more, "-o", "{out}"])

    def plans():
        return [plan(), plan("--micro-batches", "4", planner="pipeline"),
                plan("--iterations", "20", "--seed", "1", planner="mcts", cluster=str(CLUSTERS / "tag-testbed.json"))]

    def workspaces():
        mcts = ["--planner", "mcts", "--iterations", "30", "--workspace", "{out}"]
        made_by(cli, scratch, "seed.strata", ["plan", "--graph", LENET, "--batch", "8", "--cluster", PAIR, *mcts])
        sqlite3.connect(scratch / "seed.strata").execute("PRAGMA journal_mode = DELETE").close()
        older = scratch / "older.strata"
        for part in ("", "-wal"):
            shutil.copy(f"{ROOT}/tests/data/first_round/old.strata{part}", f"{older}{part}")
        sqlite3.connect(older).execute("PRAGMA journal_mode = DELETE").close()
        return [(scratch / "seed.strata").read_bytes(), (ROOT / "sample_graphs/workspace/demo.strata").read_bytes(),
                older.read_bytes()]

    def job(*more):
        folder = scratch / "seed.job"
        remove(folder)
        jobs.launched(cli, alone, folder, *more)
        return jobs.packed(folder)

    def resumed():
        job("--checkpoint-every", "1")
        jobs.launched(cli, alone, scratch / "seed.job", "--resume", "checkpoint-1")
        return jobs.packed(scratch / "seed.job")

    def measuring():
        folder = scratch / "seed.measuring"
        jobs.measured(cli, scratch / "one.json", LENET, folder)
        return jobs.packed(folder)

    good, alone, labels = scratch / "good.plan.json", scratch / "alone.plan.json", scratch / "labels.npy"
    good.write_bytes(plan())
    alone.write_bytes(plan(planner="single-device"))
    (scratch / "weights.bin").write_bytes(struct.pack("<qq", 1, -1) + b"\0" * 256)
    (scratch / "one.json").write_bytes(ONE)
    labels.write_bytes(npy("<i8", (4,)))
    launch = ["launch", "--plan", str(good), "--steps", "1", "--launcher", "slurm", "--job", "{out}"]
    of_strata = lambda random, content: of_workspace(random, content, scratch / "row.strata")
    read = [["inspect", "{file}", "--batch", "2"], ["plan", "--graph", "{file}", "--batch", "8", "--cluster", PAIR,
                                                    "--planner", "dp-allreduce"]]
    small = ("lenet", "lenet_slim", "rnnlm", "ncf", "lm1b", "alexnet_slim", "transformer_xl_2l")
    llm = ROOT / "resources/studies/llm"
    runs = [["runs", "list"], ["runs", "show", "1"], ["runs", "show", "1", "--json"], ["runs", "list", "--json"],
            ["tree", "show", "--run", "1"], ["tags", "list"], ["tree", "replay", "--run", "1"]]
    of_nsight = lambda random, content: traces.of_nsight(random, content, scratch / "row.sqlite")
    traced = [["inspect", "{file}"], ["inspect", "{file}", "--json"]]
    configured = ["plan", "--graph", str(MODELS / "gpt2_medium.json"), "--batch", "16", "--cluster",
                str(CLUSTERS / "fastt-8xv100.json"), "--planner", "configuration", "--set", "file={file}"]
    return [
        Format("cluster", ".json", lambda: files(CLUSTERS, "*.json"), damage.of_json,
               [["inspect", "{file}"], [*PLAN[:6], "{file}", *PLAN[7:]]]),
        Format("topology", ".txt", lambda: [TOPOLOGY], damage.of_text, [["inspect", "{file}"]]),
        Format("nccl", ".xml", lambda: [NCCL], damage.of_text, [["inspect", "{file}"]]),
        Format("rocm", ".txt", lambda: [ROCM], damage.of_text, [["inspect", "{file}"]]),
        Format("slurm", ".conf", lambda: [SLURM], damage.of_text, [["inspect", "{file}"]]),
        Format("trace", ".json", lambda: [KINETO], damage.of_json, traced),
        Format("trace-gz", ".json.gz", lambda: [gzip.compress(KINETO)], traces.of_gzip, traced),
        Format("execution-trace", ".json", lambda: [traces.EXECUTION, traces.JSONIZED], damage.of_json, traced),
        Format("chakra", ".et", lambda: [traces.small_chakra()], traces.of_chakra, traced),
        Format("nsight", ".sqlite", lambda: [traces.nsight(scratch / "row.sqlite")], of_nsight, traced),
        Format("trace-text", ".json", lambda: [KINETO], damage.of_text, [["inspect", "{file}"]]),
        Format("onnx", ".onnx", lambda: [(MODELS / f"{name}.onnx").read_bytes() for name in small], models.of_onnx, read),
        Format("onnx-made", ".onnx", lambda: models.from_nothing().values(), models.of_onnx, read),
        Format("pt2", ".pt2", lambda: [archives.pt2()], archives.of_pt2, read),
        Format("config", ".json", lambda: files(ROOT / "tests/data/transformers", "*.json", 1 << 14), damage.of_json, read),
        Format("plan", ".json", plans, damage.of_json,
               [["simulate", "--plan", "{file}", "--graph", LENET],
                ["export", "--plan", "{file}", "--graph", LENET, "--format", "dot", "-o", "{out}"],
                ["diff", "--plan", str(good), "--plan", "{file}"], ["what-if", "--plan", "{file}", "network=2"],
                ["simulate", "--plan", "{file}", "--explain"]]),
        Format("profile", ".json", lambda: [PROFILE], damage.of_json, [[*PLAN, "--profile", "{file}"]]),
        Format("calibration", ".json", lambda: files(ROOT / "resources/calibrations", "*.json"), damage.of_json,
               [[*PLAN, "--calibration", "{file}"]]),
        Format("constraints", ".json", lambda: [CONSTRAINTS], damage.of_json,
               [[*PLAN, "--constraints", "{file}"], [*PLAN[:-1], "mcts", "--iterations", "3", "--constraints", "{file}"]]),
        Format("schedule", ".csv", lambda: [SCHEDULE], damage.of_text, [[*PLAN[:-1], "pipeline", "--schedule", "{file}"]]),
        Format("measured", ".csv", lambda: [short_table(path) for path in sorted(llm.glob("*.csv"))
                                            if "405b" not in path.name], of_table,
                                            [["study", "llm-measured", "--held-out", "{file}"]], 2),
        Format("study", ".json", lambda: files(ROOT / "resources/studies", "*.json", 1 << 13), damage.of_json,
               [["study", "{file}", "--no-search"]]),
        Format("megatron", ".sh", lambda: [SCRIPT], of_script, [configured]),
        Format("megatron-yaml", ".yaml", lambda: [YAML], damage.of_text, [configured]),
        Format("torchtitan", ".toml", lambda: [TORCHTITAN], damage.of_text, [configured]),
        Format("deepspeed", ".json", lambda: [DEEPSPEED], damage.of_json, [configured]),
        Format("accelerate", ".yaml", lambda: [ACCELERATE], damage.of_text, [configured]),
        Format("nemo", ".yaml", lambda: [NEMO], damage.of_text, [configured]),
        Format("throughput", ".json", lambda: [DEEPSPEED, good.read_bytes()], damage.of_json,
               [["check-throughput", "{file}", "--measured", "1.5 s", *configured[1:7]]], 1),
        Format("safetensors", ".safetensors", lambda: [safetensors()], damage.of_safetensors,
               [[*launch, "--weights", "{file}"]]),
        Format("npy", ".npy", lambda: [npy("<f4", (4, 1, 28, 28))], damage.of_npy,
               [[*launch, "--inputs", "image={file}", "--inputs", f"logits/label={labels}"]]),
        Format("pytorch", ".pt", lambda: [pytorch(tensor_pickle())], of_pytorch, [[*launch, "--weights", "{file}"]], 1),
        Format("workspace", ".strata", workspaces, of_strata,
               [[word, *more, "--workspace", "{file}"] for word, *more in runs]),
        Format("learned", ".weights", lambda: files(ROOT / "tests/data/learned", "*.weights", 1 << 20), damage.of_safetensors,
               [[*PLAN[:-1], name, "--iterations", "2", "--set", "weights={file}"] for name in ("tag", "gdp")], 1),
        Format("training", ".checkpoint", lambda: files(ROOT / "tests/data/learned", "*.checkpoint", 1 << 20), damage.of_safetensors,
               [["train", name, LENET + "=8", "--cluster", PAIR, "--steps", "1", "--checkpoint", "{file}"] for name in ("tag", "gdp")], 1),
        JobFormat("job", lambda: [job("--engine", "replay")], 5),
        JobFormat("job-resumed", lambda: [resumed()], 1),
        JobFormat("job-measuring", lambda: [measuring()], 1),
    ]


def remove(path):
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

"""Under torchrun: trains every exported folder that is named, with the train.py of the first, and
writes each parameter's bytes and a list of them beside it: FOLDER.kept/N.bin, names.json."""
import datetime
import importlib.util
import json
import pathlib
import sys

import torch
import torch.distributed as dist

arguments, folders = sys.argv[1].split(), [pathlib.Path(name) for name in sys.argv[2:]]
spec = importlib.util.spec_from_file_location("train", folders[0] / "train.py")
train = importlib.util.module_from_spec(spec)
spec.loader.exec_module(train)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
for folder in folders:
    kept = pathlib.Path(f"{folder}.kept")
    train.train(folder, train.parse_options([*arguments, "--keep", str(kept)]), torch.device("cpu"))
    if dist.get_rank() == 0:
        values = torch.load(kept / "parameters.pt")
        for number, value in enumerate(values.values()):
            (kept / f"{number}.bin").write_bytes(value.contiguous().numpy().tobytes())
        (kept / "names.json").write_text(json.dumps(list(values)))
dist.barrier()

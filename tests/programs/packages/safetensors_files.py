"""safetensors: a module's weights through its files."""

import tempfile
from pathlib import Path

import torch
from comparing import run
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn


def values(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_model(model, str(path))
        again = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
        load_model(again, str(path))
        yield from (value.double().sum() for value in again.state_dict().values())
        tensors = {"half": model[0].weight.half(), "brain": model[0].weight.bfloat16(),
                   "index": torch.arange(5), "flag": torch.tensor([True, False])}  # fmt: skip
        save_file({name: each.detach() for name, each in tensors.items()}, path, {"by": "us"})
        yield from (each.double().sum() for each in load_file(path).values())
        with safe_open(path, framework="pt") as file:
            yield file.get_slice("half")[1:, :2].double().sum()
            yield len(file.metadata())


run(lambda: nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), values)

"""What every golden vector is made of: numbers drawn and written without loss, cases, masks."""

import json
import math
import os
import zlib

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH = "torch " + torch.__version__.split("a")[0]


class Draw:
    """Normal numbers with three decimals, exact in float32, drawn from the name of the case."""

    def __init__(self, name):
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def __call__(self, *shape, scale=1.0):
        return self.exact(self.random.standard_normal(shape) * scale)

    def uniform(self, low, high, *shape):
        return self.exact(self.random.uniform(low, high, shape))

    def mask(self, *shape, share=0.6):
        """True = may attend; the first key of every row stays allowed."""
        mask = torch.from_numpy(self.random.uniform(size=shape) < share)
        mask[..., 0] = True
        return mask

    @staticmethod
    def exact(values):
        rounded = np.round(np.asarray(values, dtype=np.float64), 3).astype(np.float32)
        return torch.from_numpy(rounded.astype(np.float64))


def number(value):
    """The shortest decimal that reads back as the same float32."""
    value = np.float32(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    short = float(str(value))
    return int(short) if short.is_integer() and abs(short) < 1e6 else short


def plain(value):
    """Tensors and containers of them as JSON values."""
    if isinstance(value, torch.Tensor):
        data = [number(v) for v in value.detach().numpy().reshape(-1)]
        return {"shape": list(value.shape), "data": data}
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return number(value)
    return value


def without_defaults(given):
    """{ name: (value, default) } as options, so that the library's own defaults are tested."""
    return {name: value for name, (value, default) in given.items() if differs(value, default)}


def differs(value, default):
    return value is not default and (isinstance(value, torch.Tensor) or value != default)


class File:
    """Collects the cases of one JSON file."""

    def __init__(self, name):
        self.name, self.cases = name, []

    def add(self, name, source, call, args, options, expect, fused=False):
        assert all(case["name"] != name for case in self.cases), name
        case = dict(name=name, source=source, call=call, args=args, options=options, expect=expect)
        if fused:
            case["fused"] = True
        self.cases.append(plain(case))

    def write(self):
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in self.cases)
        with open(os.path.join(HERE, self.name + ".json"), "w", encoding="ascii") as out:
            out.write("[\n" + lines + "\n]\n")


def causal_mask(queries, keys):
    """The last query sees every key."""
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


def length_mask(lens, keys):
    """Valid lengths [B] as [B, 1, Tk], or [B, Tq] as [B, Tq, Tk]."""
    lens = torch.tensor(lens)
    lens = lens[:, None] if lens.dim() == 1 else lens
    return torch.arange(keys) < lens[..., None]


def zero_empty_rows(weights, allowed):
    """This project's rule: a row with no key allowed has zero weights."""
    return torch.where(allowed.any(-1, keepdim=True).expand_as(weights), weights, 0.0)


def empty_rows(allowed, shape):
    return (~allowed.expand(shape).any(-1)).reshape(-1).int().tolist()


def softmax_of_allowed(scores, allowed):
    allowed = allowed.expand(scores.shape)
    weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), -1)
    return zero_empty_rows(weights, allowed)

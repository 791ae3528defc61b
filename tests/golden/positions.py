"""Positions from the formulas of their papers: sinusoidal, rotary, ALiBi."""

import math

import numpy as np
import torch

from attention import scaled_dot_product
from vectors import Draw, File, causal_mask, without_defaults


def sinusoidal(length, hiddens, offset):
    """P[i, 2j] = sin(i / 10000^(2j/H)), P[i, 2j+1] = cos of it; an odd width ends on a sine."""
    position = np.arange(offset, offset + length, dtype=np.float64)[:, None]
    angle = position / np.power(10000.0, np.arange(0, hiddens, 2) / hiddens)
    table = np.zeros((length, hiddens))
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)[:, : hiddens // 2]
    return torch.from_numpy(table)


def rotate(x, positions, pairing, base):
    """RoFormer: the pair (a, b) number j at position m turns by m base^(-2j/D)."""
    width = x.shape[-1]
    speed = base ** (-torch.arange(0, width, 2).double() / width)
    angle = torch.tensor(positions).double()[:, None] * speed
    if pairing == "interleaved":
        first, second = x[..., 0::2], x[..., 1::2]
    else:
        first, second = x.chunk(2, -1)
    turned = (
        first * torch.cos(angle) - second * torch.sin(angle),
        first * torch.sin(angle) + second * torch.cos(angle),
    )
    if pairing == "interleaved":
        return torch.stack(turned, -1).flatten(-2)
    return torch.cat(turned, -1)


def alibi_slopes(heads):
    """Press 2021: 2^(-8i/h); for other h the slopes of the power of two below, then every other
    one of the power of two above."""
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    if power < heads:
        slopes += alibi_slopes(2 * power)[0::2][: heads - power]
    return slopes


def positions():
    out = File("positions")
    sizes = (3, 1, 0), (4, 2, 0), (6, 5, 0), (10, 8, 0), (12, 32, 0), (3, 7, 100), (3, 16, 2000)
    for length, hiddens, offset in sizes:
        given = dict(length=(length, None), hiddens=(hiddens, None), offset=(offset, 0))
        options = dict(kind="sinusoidal", **without_defaults(given))
        name = f"sinusoidal, length {length}, hiddens {hiddens}, offset {offset}"
        expect = sinusoidal(length, hiddens, offset)
        out.add(name, "Vaswani 2017; D2L 11.6", "positionalEncoding", [], options, expect)

    turns = (
        ((5, 2), 0, 10000.0),
        ((2, 4, 8), 3, 10000.0),
        ((2, 3, 4, 6), [0, 7, 1, 2], 10000.0),
        ((3, 10), [5, 5, 0], 500.0),
        ((2, 16), 1500, 10000.0),
    )
    for pairing in ("halves", "interleaved"):
        for shape, where, base in turns:
            name = f"rotary {pairing}, shape {list(shape)}, positions {where}, base {base:g}"
            x = Draw(name)(*shape)
            every = where if isinstance(where, list) else [where + i for i in range(shape[-2])]
            options = dict(positions=where, pairing=pairing)
            options.update(without_defaults(dict(base=(base, 10000.0))))
            expect = rotate(x, every, pairing, base)
            out.add(name, "Su 2021, RoFormer", "rotary", [x], options, expect)

    for heads, causal, alibi in (
        (1, True, True),
        (4, True, True),
        (8, True, True),
        (6, True, True),
        (12, False, True),
        (3, True, [0.5, 0.25, 1.0]),
    ):
        name = f"ALiBi, heads {heads}" + ", causal" * causal + ", own slopes" * (alibi is not True)
        draw = Draw(name)
        q, k, v = (draw(2, heads, 5, 3) for _ in range(3))
        slopes = torch.tensor(alibi_slopes(heads) if alibi is True else alibi).double()
        distance = (torch.arange(5)[:, None] - torch.arange(5)).abs()
        bias = -slopes[:, None, None] * distance
        allowed = causal_mask(5, 5) if causal else None
        expect = scaled_dot_product(q, k, v, allowed, bias)
        options = without_defaults(dict(alibi=(alibi, None), causal=(causal, False)))
        out.add(name, "Press 2021", "attention", [q, k, v], options, expect, fused=True)
    out.write()

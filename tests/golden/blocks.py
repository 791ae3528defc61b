"""PyTorch's own modules: multi-head attention, layer norm, GELU, the encoder layer."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from vectors import TORCH, Draw, File, causal_mask, length_mask, without_defaults


def no_masks(draw):
    """PyTorch's attn_mask and key_padding_mask, and our options for the same."""
    return None, None, {}


def settle(module, draw, scale):
    """Gives every parameter numbers from the case's own draw; norms stay near 1."""
    for name, parameter in module.named_parameters():
        values = draw(*parameter.shape, scale=scale)
        if "norm" in name and name.endswith("weight"):
            values = Draw.exact((1 + values).numpy())
        parameter.data = values
    return module.double()


def linear(weight, bias):
    return dict(weight=weight) if bias is None else dict(weight=weight, bias=bias)


def attention_params(module):
    """nn.MultiheadAttention keeps its three input projections in one matrix or in three."""
    if module.in_proj_weight is not None:
        weights = module.in_proj_weight.chunk(3)
    else:
        weights = module.q_proj_weight, module.k_proj_weight, module.v_proj_weight
    biases = (None,) * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    params = dict(zip(("query", "key", "value"), map(linear, weights, biases)))
    params["output"] = linear(module.out_proj.weight, module.out_proj.bias)
    return params


def multi_head_attention():
    out = File("multi-head-attention")
    source = TORCH + ": nn.MultiheadAttention"

    def add(
        name,
        hiddens,
        heads,
        batch=2,
        queries=4,
        keys=None,
        bias=True,
        key_width=None,
        value_width=None,
        masks=no_masks,
    ):
        """`masks` gives attn_mask and key_padding_mask in PyTorch's polarity, and our options."""
        draw = Draw(name)
        lead = () if batch is None else (batch,)
        module = nn.MultiheadAttention(
            hiddens, heads, bias=bias, kdim=key_width, vdim=value_width, batch_first=True
        )
        settle(module, draw, 1 / math.sqrt(hiddens))
        q = draw(*lead, queries, hiddens)
        if keys is None:
            k = v = q
        else:
            k = draw(*lead, keys, key_width or hiddens)
            v = draw(*lead, keys, value_width or hiddens)
        attn_mask, padding, options = masks(draw)
        run = functools.partial(module, q, k, v, attn_mask=attn_mask, key_padding_mask=padding)
        output, weights = run(average_attn_weights=False)
        expect = dict(output=output, weights=weights, meanWeights=run()[1])
        options = dict(heads=heads, params=attention_params(module), **options)
        out.add(name, source, "multiHeadAttention", [q, k, v], options, expect, fused=True)

    sizes = (1, 1), (4, 1), (4, 4), (6, 2), (7, 1), (8, 2), (10, 2), (20, 5), (24, 3), (32, 4)
    for hiddens, heads in sizes:
        add(f"self, hiddens {hiddens}, heads {heads}", hiddens, heads, queries=5)
    add("no bias", 8, 2, bias=False)
    add("no batch axis", 8, 2, batch=None, queries=5)
    add("cross, 3 queries, 7 keys", 12, 3, queries=3, keys=7)
    add("cross, key width 5, value width 9", 8, 2, queries=3, keys=4, key_width=5, value_width=9)
    add("cross, key width 3, no bias", 8, 4, queries=2, keys=5, key_width=3, bias=False)

    def causal(draw):
        return ~causal_mask(5, 5), None, dict(causal=True)

    add("causal", 8, 2, queries=5, masks=causal)

    def boolean(draw):
        mask = draw.mask(4, 6)
        return ~mask, None, dict(mask=mask)

    add("boolean mask", 8, 2, keys=6, masks=boolean)

    def boolean_for_each_head(draw):
        mask = draw.mask(2, 2, 4, 6)
        return ~mask.reshape(4, 4, 6), None, dict(mask=mask)

    add("boolean mask for each head", 8, 2, keys=6, masks=boolean_for_each_head)

    def additive(draw):
        bias = draw(4, 6)
        bias[1, 2:5] = -math.inf
        return bias, None, dict(bias=bias)

    add("float mask", 8, 2, keys=6, masks=additive)

    def padding(draw):
        lens = [6, 2, 4]
        return None, ~length_mask(lens, 6)[:, 0], dict(validLens=lens)

    add("key padding as valid lengths", 12, 3, batch=3, keys=6, masks=padding)

    def scattered(draw):
        mask = draw.mask(2, 6)
        return None, ~mask, dict(mask=mask[:, None])

    add("key padding with holes", 8, 2, keys=6, masks=scattered)

    def causal_and_padding(draw):
        lens = [6, 3]
        return ~causal_mask(6, 6), ~length_mask(lens, 6)[:, 0], dict(causal=True, validLens=lens)

    add("causal and key padding", 8, 2, queries=6, masks=causal_and_padding)
    out.write()


def layer_norm():
    out = File("layer-norm")

    def add(name, x, weight, bias, eps):
        given = dict(weight=(weight, None), bias=(bias, None), eps=(eps, 1e-5))
        expect = F.layer_norm(x, x.shape[-1:], weight, bias, eps)
        out.add(name, TORCH + ": layer_norm", "layerNorm", [x], without_defaults(given), expect)

    for width in (1, 2, 3, 4, 5, 7, 8, 16, 33, 64):
        name = f"width {width}"
        draw = Draw(name)
        add(name, draw(2, 3, width), draw(width), draw(width), 1e-5)
    for eps in (float(np.float32(1e-3)), 0.5):
        name = f"eps {eps:.3g}"
        add(name, Draw(name)(4, 6), None, None, eps)
    name = "weight alone"
    draw = Draw(name)
    add(name, draw(3, 5), draw(5), None, 1e-5)
    name = "bias alone"
    draw = Draw(name)
    add(name, draw(3, 5), None, draw(5), 1e-5)
    name = "neither, one row as a vector"
    add(name, Draw(name)(9), None, None, 1e-5)
    name = "a constant row"
    draw = Draw(name)
    add(name, torch.full((2, 6), 0.75).double(), draw(6), draw(6), 1e-5)
    name = "numbers far below eps"
    add(name, Draw(name)(2, 8) / 1024, None, None, 1e-5)
    out.write()


def gelu():
    out = File("gelu")
    x = Draw.exact(np.concatenate([np.arange(-6, 6.01, 0.25), [0.001, -0.001, 20, -20, 0.003]]))
    for form, approximate in (("erf", "none"), ("tanh", "tanh")):
        expect = F.gelu(x, approximate=approximate)
        out.add(form, TORCH + ": gelu", "gelu", [x], dict(form=form), expect)
    out.write()


def encoder_layer():
    out = File("encoder-layer")

    functions = {"relu": F.relu, "gelu": F.gelu}
    functions["gelu-tanh"] = functools.partial(F.gelu, approximate="tanh")

    def add(
        name,
        hiddens,
        heads,
        hidden_units,
        norm="post",
        activation="relu",
        eps=1e-5,
        batch=2,
        length=5,
        masks=no_masks,
    ):
        draw = Draw(name)
        # In training mode with dropout 0, so that the plain code runs and not the fused one.
        module = nn.TransformerEncoderLayer(
            hiddens,
            heads,
            hidden_units,
            dropout=0.0,
            activation=functions[activation],
            layer_norm_eps=eps,
            batch_first=True,
            norm_first=norm == "pre",
        )
        settle(module, draw, 1 / math.sqrt(hiddens))
        lead = () if batch is None else (batch,)
        x = draw(*lead, length, hiddens)
        src_mask, padding, options = masks(draw)
        output = module(x, src_mask=src_mask, src_key_padding_mask=padding)
        normed = module.norm1(x) if norm == "pre" else x
        weights = module.self_attn(
            *(normed,) * 3,
            attn_mask=src_mask,
            key_padding_mask=padding,
            average_attn_weights=False,
        )[1]
        expect = dict(output=output, weights=weights)
        parts = module.norm1, module.norm2, module.linear1, module.linear2
        names = "norm1", "norm2", "linear1", "linear2"
        params = {part: linear(of.weight, of.bias) for part, of in zip(names, parts)}
        params["attention"] = attention_params(module.self_attn)
        given = dict(norm=(norm, "post"), activation=(activation, "relu"), eps=(eps, 1e-5))
        options = dict(heads=heads, params=params, **without_defaults(given), **options)
        out.add(name, TORCH + ": nn.TransformerEncoderLayer", "encoderLayer", [x], options, expect)

    for norm in ("post", "pre"):
        for activation in ("relu", "gelu", "gelu-tanh"):
            add(f"{norm}-norm, {activation}", 8, 2, 12, norm, activation)
    add("post-norm, hiddens 18, heads 3, feed-forward 31", 18, 3, 31, length=4)
    add("pre-norm, hiddens 16, heads 4, feed-forward 7", 16, 4, 7, "pre", "gelu")
    add("no batch axis", 8, 2, 16, batch=None)
    add("post-norm, eps 0.001", 8, 2, 8, eps=float(np.float32(1e-3)))

    def causal(draw):
        return ~causal_mask(5, 5), None, dict(causal=True)

    def padding(draw):
        return None, ~length_mask([5, 2], 5)[:, 0], dict(validLens=[5, 2])

    def boolean(draw):
        mask = draw.mask(5, 5)
        return ~mask, None, dict(mask=mask)

    add("post-norm, causal", 8, 2, 12, masks=causal)
    add("pre-norm, causal", 8, 2, 12, "pre", masks=causal)
    add("post-norm, valid lengths", 8, 2, 12, masks=padding)
    add("pre-norm, boolean mask", 8, 2, 12, "pre", "gelu", masks=boolean)
    out.write()

"""Masked softmax, and attention of one call: masks, scales, scoring functions, normalisers."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from vectors import TORCH, Draw, File, causal_mask, empty_rows, length_mask, softmax_of_allowed


def masked_softmax():
    out = File("masked-softmax")
    torch_source = TORCH + ": softmax after masked_fill(-inf), empty rows zero"

    def exclude(name, scores, allowed, options):
        weights = softmax_of_allowed(scores, allowed)
        expect = dict(weights=weights, emptyRows=empty_rows(allowed, scores.shape))
        out.add(name, torch_source, "maskedSoftmax", [scores], options, expect)

    everything = torch.ones(1, dtype=torch.bool)
    for keys in (1, 2, 3, 4, 5, 8, 17, 33):
        name = f"no mask, {keys} keys"
        exclude(name, Draw(name)(2, keys, scale=3), everything.expand(2, keys), {})
    name = "one row given as a vector"
    exclude(name, Draw(name)(7, scale=2), everything.expand(7), {})

    name = "valid lengths for each batch entry"
    lens = [0, 1, 3, 6]
    exclude(name, Draw(name)(4, 3, 6), length_mask(lens, 6), dict(validLens=lens))
    name = "valid lengths for each query"
    lens = [[1, 3, 0], [6, 2, 5]]
    exclude(name, Draw(name)(2, 3, 6), length_mask(lens, 6), dict(validLens=lens))
    name = "valid lengths spread over heads"
    lens = [2, 4]
    exclude(name, Draw(name)(2, 3, 2, 5), length_mask(lens, 5)[:, None], dict(validLens=lens))

    name = "boolean mask"
    draw = Draw(name)
    scores, mask = draw(3, 5, 9), draw.mask(3, 5, 9, share=0.4)
    mask[1, 2] = False
    exclude(name, scores, mask, dict(mask=mask))
    name = "boolean mask spread over batch and heads"
    draw = Draw(name)
    scores, mask = draw(2, 2, 4, 4), draw.mask(4, 4)
    exclude(name, scores, mask.expand(2, 2, 4, 4), dict(mask=mask))
    for queries, keys in ((4, 4), (2, 5), (5, 2)):
        name = f"causal {queries} queries, {keys} keys"
        exclude(name, Draw(name)(queries, keys), causal_mask(queries, keys), dict(causal=True))
    name = "causal, top left"
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    exclude(name, Draw(name)(3, 5), mask, dict(causal="top-left"))
    name = "causal, valid lengths and mask together"
    draw = Draw(name)
    scores, mask, lens = draw(2, 6, 6), draw.mask(6, 6), [6, 3]
    allowed = mask & causal_mask(6, 6) & length_mask(lens, 6)
    exclude(name, scores, allowed, dict(validLens=lens, mask=mask, causal=True))

    name = "bias"
    draw = Draw(name)
    scores, bias = draw(2, 3, 5), draw(2, 3, 5, scale=2)
    bias[0, 1, 2:] = -math.inf
    bias[1, 0] = -math.inf
    weights = softmax_of_allowed(scores + bias, bias > -math.inf)
    expect = dict(weights=weights, emptyRows=empty_rows(bias > -math.inf, scores.shape))
    out.add(name, torch_source, "maskedSoftmax", [scores], dict(bias=bias), expect)

    name = "fill -1e6, a uniform row where nothing is valid"
    scores, lens = Draw(name)(3, 2, 4), [0, 2, 4]
    allowed = length_mask(lens, 4).expand(scores.shape)
    expect = dict(weights=torch.softmax(scores.masked_fill(~allowed, -1e6), -1))
    options = dict(validLens=lens, fill=-1e6)
    out.add(name, "D2L 11.3, masked softmax", "maskedSoftmax", [scores], options, expect)
    name = "fill -inf, a NaN row where nothing is valid"
    scores = Draw(name)(3, 2, 4)
    expect = dict(weights=torch.softmax(scores.masked_fill(~allowed, -math.inf), -1))
    options = dict(validLens=lens, fill=-math.inf)
    out.add(name, TORCH + ": softmax", "maskedSoftmax", [scores], options, expect)
    out.write()


def scaled_dot_product(query, key, value, allowed=None, bias=None, scale=None):
    """scaled_dot_product_attention as its documentation states it, which 1.13 has no public
    function for: softmax(q kT * scale + bias) v."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-1, -2) * scale
    allowed = torch.ones(1, dtype=torch.bool) if allowed is None else allowed
    weights = softmax_of_allowed(scores if bias is None else scores + bias, allowed)
    return dict(output=weights @ value, weights=weights, scores=scores)


def dot_product_attention():
    out = File("attention")
    source = TORCH + ": scaled_dot_product_attention, from its documentation"

    def add(name, q, k, v, options, allowed=None, bias=None, scale=None):
        expect = scaled_dot_product(q, k, v, allowed, bias, scale)
        if allowed is not None:
            expect["emptyRows"] = empty_rows(allowed, expect["scores"].shape)
        out.add(name, source, "attention", [q, k, v], options, expect, fused=True)

    sizes = (1, 1, 1, 1), (3, 5, 4, 4), (5, 3, 7, 2), (8, 9, 16, 5), (13, 17, 5, 9)
    for queries, keys, width, values in sizes:
        name = f"{queries} queries, {keys} keys, width {width}, values {values}"
        draw = Draw(name)
        add(name, draw(queries, width), draw(keys, width), draw(keys, values), {})
    name = "batch of 3"
    draw = Draw(name)
    add(name, draw(3, 4, 6), draw(3, 5, 6), draw(3, 5, 3), {})
    name = "batch of 2 with 3 heads"
    draw = Draw(name)
    add(name, draw(2, 3, 4, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 5), {})
    name = "more than one tile of keys"
    draw = Draw(name)
    add(name, draw(3, 4), draw(150, 4), draw(150, 3), {})

    for queries, keys in ((6, 6), (2, 5), (5, 2)):
        name = f"causal, {queries} queries, {keys} keys"
        draw = Draw(name)
        q, k, v = draw(2, queries, 4), draw(2, keys, 4), draw(2, keys, 3)
        add(name, q, k, v, dict(causal=True), causal_mask(queries, keys))
    name = "boolean mask"
    draw = Draw(name)
    q, k, v, mask = draw(2, 4, 8), draw(2, 7, 8), draw(2, 7, 8), draw.mask(2, 4, 7, share=0.4)
    mask[0, 3] = False
    add(name, q, k, v, dict(mask=mask), mask)
    name = "boolean mask for each head"
    draw = Draw(name)
    q, k, v, mask = draw(2, 2, 3, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 4), draw.mask(2, 2, 3, 5)
    add(name, q, k, v, dict(mask=mask), mask)
    name = "float mask"
    draw = Draw(name)
    q, k, v, bias = draw(2, 3, 4), draw(2, 6, 4), draw(2, 6, 2), draw(3, 6)
    bias[0, 4:] = -math.inf
    add(name, q, k, v, dict(bias=bias), bias=bias)
    name = "valid lengths with an empty entry"
    draw = Draw(name)
    lens = [3, 0, 6]
    q, k, v = draw(3, 2, 4), draw(3, 6, 4), draw(3, 6, 5)
    add(name, q, k, v, dict(validLens=lens), length_mask(lens, 6))

    for scale in (False, 0.25, 0.0, -1.5):
        name = f"scale {scale}"
        draw = Draw(name)
        q, k, v = draw(3, 9), draw(4, 9), draw(4, 3)
        add(name, q, k, v, dict(scale=scale), scale=1.0 if scale is False else scale)
    for temperature in (0.5, 4.0):
        name = f"temperature {temperature}"
        draw = Draw(name)
        q, k, v = draw(3, 4), draw(5, 4), draw(5, 3)
        add(name, q, k, v, dict(temperature=temperature), scale=0.5 / temperature)

    name = "D2L 11.3, dot product attention"
    q, k = Draw(name)(2, 1, 2), torch.ones(2, 10, 2).double()
    v = torch.arange(40.0).double().reshape(1, 10, 4).repeat(2, 1, 1)
    add(name, q, k, v, dict(validLens=[2, 6]), length_mask([2, 6], 10))
    out.write()


def scoring():
    """Scoring functions and normalisers other than scaled dot and softmax."""
    out = File("scoring")

    def add(name, source, q, k, v, scores, options, allowed=None, fused=True):
        allowed = torch.ones(1, dtype=torch.bool) if allowed is None else allowed
        weights = softmax_of_allowed(scores, allowed)
        expect = dict(output=weights @ v, weights=weights, scores=scores)
        out.add(name, source, "attention", [q, k, v], options, expect, fused=fused)

    def inputs(name, width=5, key_width=5):
        draw = Draw(name)
        return draw, draw(2, 3, width), draw(2, 6, key_width), draw(2, 6, 4)

    name = "dot"
    draw, q, k, v = inputs(name)
    add(name, TORCH + ": bmm", q, k, v, q @ k.transpose(-1, -2), dict(score="dot"))

    for width, key_width in ((4, 4), (3, 7)):
        name = f"general, query width {width}, key width {key_width}"
        draw, q, k, v = inputs(name, width=width, key_width=key_width)
        weight = draw(width, key_width, scale=0.5)
        scores = q @ weight @ k.transpose(-1, -2)
        options = dict(score="general", params=dict(weight=weight))
        add(name, "Luong 2015, general: q W k", q, k, v, scores, options)

    name = "cosine"
    draw, q, k, v = inputs(name)
    scores = F.cosine_similarity(q[:, :, None], k[:, None], dim=-1)
    add(name, TORCH + ": cosine_similarity", q, k, v, scores, dict(score="cosine"))
    name = "cosine, temperature 0.1"
    draw, q, k, v = inputs(name)
    scores = F.cosine_similarity(q[:, :, None], k[:, None], dim=-1) / 0.1
    add(name, TORCH + ": cosine_similarity", q, k, v, scores, dict(score="cosine", temperature=0.1))

    for width in (1.0, 0.5, 3.0):
        name = f"Gaussian, width {width}"
        draw, q, k, v = inputs(name)
        scores = -0.5 * width**2 * ((q[:, :, None] - k[:, None]) ** 2).sum(-1)
        options = dict(score="gaussian", params=dict(width=width))
        add(name, "-1/2 |(q - k) w|^2", q, k, v, scores, options)

    def additive(name, source, q, k, v, w_q, w_k, w_v, lens=None):
        features = torch.tanh(F.linear(q, w_q)[:, :, None] + F.linear(k, w_k)[:, None])
        scores = F.linear(features, w_v).squeeze(-1)
        params = dict(query=dict(weight=w_q), key=dict(weight=w_k), value=dict(weight=w_v))
        options = dict(score="additive", params=params)
        if lens:
            options["validLens"] = lens
        allowed = length_mask(lens, k.shape[1]) if lens else None
        add(name, source, q, k, v, scores, options, allowed)

    name = "additive, as in D2L 11.3"
    draw = Draw(name)
    q, k = draw(2, 1, 20), torch.ones(2, 10, 2).double()
    v = torch.arange(40.0).double().reshape(1, 10, 4).repeat(2, 1, 1)
    weights = draw(8, 20, scale=0.3), draw(8, 2, scale=0.3), draw(1, 8)
    additive(name, "D2L 11.3, additive attention", q, k, v, *weights, lens=[2, 6])
    name = "additive, several queries"
    draw, q, k, v = inputs(name, width=5, key_width=3)
    additive(name, "Bahdanau 2014: w tanh(W q + U k)", q, k, v, draw(7, 5), draw(7, 3), draw(1, 7))
    name = "Bahdanau decoder step"
    draw = Draw(name)
    state, encoded = torch.tanh(draw(4, 1, 16)), torch.tanh(draw(4, 7, 16))
    state, encoded = draw.exact(state.numpy()), draw.exact(encoded.numpy())
    weights = draw(16, 16, scale=0.25), draw(16, 16, scale=0.25), draw(1, 16)
    source = "D2L 11.4: query = last state, keys = values = encoder outputs"
    additive(name, source, state, encoded, encoded, *weights, lens=[7, 5, 1, 3])

    name = "Nadaraya-Watson regression"
    draw = Draw(name)
    x = draw.exact(np.sort(draw.random.uniform(0, 5, 50)))
    y = draw.exact((2 * torch.sin(x) + x**0.8 + draw(50, scale=0.5)).numpy())
    at = draw.exact(np.arange(0, 5, 0.5))
    for width in (0.3, 1.0, 4.0):
        w = float(np.float32(width))
        scores = -0.5 * ((at[:, None] - x[None]) * w) ** 2
        options = dict(score="gaussian", params=dict(width=w))
        source = "Nadaraya 1964, Watson 1964, Gaussian kernel; D2L 11.2's f"
        add(f"{name}, width {width}", source, at[:, None], x[:, None], y[:, None], scores, options)

    for normalise, function in (("sigmoid", torch.sigmoid), ("relu", torch.relu)):
        name = normalise + " weights under a mask"
        draw, q, k, v = inputs(name)
        mask = draw.mask(2, 3, 6)
        mask[1, 1] = False
        scores = q @ k.transpose(-1, -2) / math.sqrt(5)
        weights = torch.where(mask, function(scores), 0.0)
        expect = dict(output=weights @ v, weights=weights, scores=scores)
        options = dict(normalise=normalise, mask=mask)
        out.add(name, TORCH + ": " + normalise, "attention", [q, k, v], options, expect, fused=True)
    out.write()

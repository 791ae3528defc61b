"""PyTorch's nn.GRU: outputs, last states, and the gradients of a squared error of both."""

import math

import torch
from torch import nn

from vectors import TORCH, Draw, File


def gru():
    out = File("core/gru")

    def add(name, batch, length, inputs, hiddens, layers=1, state=True):
        draw = Draw(name)
        module = nn.GRU(inputs, hiddens, layers, batch_first=True).double()
        for parameter in module.parameters():
            parameter.data = draw(*parameter.shape, scale=1 / math.sqrt(hiddens))
        x = draw(batch, length, inputs).requires_grad_()
        first = draw(layers, batch, hiddens) if state else torch.zeros(layers, batch, hiddens)
        first = first.double().requires_grad_()
        target, last_target = draw(batch, length, hiddens), draw(layers, batch, hiddens)
        with torch.enable_grad():
            output, last = module(x, first)
            loss = ((output - target) ** 2).sum() + ((last - last_target) ** 2).sum()
            loss.backward()
        options = dict(layers=layers, x=x, target=target)
        expect = dict(output=output, d_x=x.grad)
        for layer in range(layers):
            options[f"last_target_{layer}"] = last_target[layer][:, None]
            expect[f"last_{layer}"] = last[layer][:, None]
            if state:
                options[f"state_{layer}"] = first[layer][:, None]
                expect[f"d_state_{layer}"] = first.grad[layer][:, None]
        for key, parameter in module.named_parameters():
            options[key] = parameter
            expect["d_" + key] = parameter.grad
        out.add(name, TORCH + ": nn.GRU", "gru", [], options, expect)

    add("one step of one sequence", 1, 1, 3, 2)
    add("3 hiddens", 2, 4, 2, 3)
    add("4 hiddens", 2, 5, 3, 4)
    add("5 hiddens, no first state", 3, 4, 7, 5, state=False)
    add("10 hiddens", 2, 3, 6, 10)
    add("two layers", 2, 4, 3, 5, layers=2)
    add("three layers, no first state", 2, 3, 4, 4, layers=3, state=False)
    out.write()

"""torch.optim on squared errors whose targets change from step to step, and clip_grad_norm_."""

import torch

from vectors import TORCH, Draw, File

OPTIMISERS = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
SGD, ADAM, ADAMW = range(3)
STEPS = 6


def optimisers():
    out = File("core/optimisers")

    def add(name, kind, rate, clip=0, **options):
        """`options` are torch's; `clip` of 0 does not clip."""
        draw = Draw(name)
        a, b = draw(3, 5).requires_grad_(), draw(7).requires_grad_()
        given = dict(optimiser=kind, learning_rate=rate, clip=clip)
        for key, value in options.items():
            if key == "betas":
                given["beta1"], given["beta2"] = value
            else:
                given[key] = value
        given.update(a=a.detach().clone(), b=b.detach().clone())
        expect = {}
        defaults = dict(weight_decay=0) if kind == ADAMW else {}
        optimiser = OPTIMISERS[kind]([a, b], lr=rate, **{**defaults, **options})
        for step in range(STEPS):
            targets = draw(3, 5, scale=2), draw(7, scale=2)
            given[f"a_target_{step}"], given[f"b_target_{step}"] = targets
            with torch.enable_grad():
                loss = ((a - targets[0]) ** 2).sum() + ((b - targets[1]) ** 2).sum()
                optimiser.zero_grad()
                loss.backward()
            norm = torch.nn.utils.clip_grad_norm_([a, b], clip or 1e9)
            optimiser.step()
            expect[f"norm_{step}"] = norm[None]
            expect[f"a_{step}"], expect[f"b_{step}"] = a.detach().clone(), b.detach().clone()
        call = "torch.optim." + OPTIMISERS[kind].__name__
        out.add(name, f"{TORCH}: {call}, clip_grad_norm_", "optimiser", [], given, expect)

    add("sgd", SGD, 0.1)
    add("sgd, momentum", SGD, 0.05, momentum=0.9)
    add("sgd, momentum and weight decay", SGD, 0.05, momentum=0.5, weight_decay=0.1)
    add("sgd, clipped", SGD, 0.1, clip=1)
    add("adam", ADAM, 0.01)
    add("adam, other betas and eps", ADAM, 0.1, betas=(0.5, 0.75), eps=0.01)
    add("adam, weight decay", ADAM, 0.05, weight_decay=0.1)
    add("adam, clipped", ADAM, 0.05, clip=1)
    add("adam, a clip above the norm", ADAM, 0.05, clip=100)
    add("adamw", ADAMW, 0.05, weight_decay=0.1)
    add("adamw, clipped, no weight decay", ADAMW, 0.05, clip=2)
    out.write()

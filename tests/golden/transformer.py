"""nn.Transformer between embeddings and an output layer: logits, loss, gradients, ten steps of Adam.

The file models/transformer.json holds one batch, the parameters all cases start from (a case without
final norms leaves theirs out), and for each case what came of them:

    { batch, parameters, cases: [{ name, source, config, training, expect }] }

models/transformer.safetensors holds the parameters once more, as the safetensors format has them.

`parameters`, and the gradients and parameters that are expected, have PyTorch's names.
"""

import json
import math
import os
import struct
import subprocess
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from vectors import HERE, TORCH, Draw, plain

HIDDENS, HEADS, UNITS, LAYERS = 8, 2, 12, 2
SOURCE_VOCAB, TARGET_VOCAB = 11, 13
STEPS = 10
TRAINING = dict(optimiser="adam", learningRate=0.005, clip=1, loss="mean")


class Translator(nn.Module):
    def __init__(self, norm, activation, final_norm, position):
        super().__init__()
        options = dict(
            activation=activation, norm_first=norm == "pre", batch_first=True, dropout=0.0
        )
        sizes = HIDDENS, HEADS, UNITS
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes, **options),
            LAYERS,
            nn.LayerNorm(HIDDENS) if final_norm else None,
        )
        decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*sizes, **options),
            LAYERS,
            nn.LayerNorm(HIDDENS) if final_norm else None,
        )
        self.position = position
        self.source_embedding = nn.Embedding(SOURCE_VOCAB, HIDDENS)
        self.target_embedding = nn.Embedding(TARGET_VOCAB, HIDDENS)
        self.transformer = nn.Transformer(
            HIDDENS, HEADS, batch_first=True, custom_encoder=encoder, custom_decoder=decoder
        )
        self.output = nn.Linear(HIDDENS, TARGET_VOCAB)

    def embed(self, table, ids):
        x = table(ids) * math.sqrt(HIDDENS)
        return x + sinusoidal(ids.shape[1]) if self.position == "sinusoidal" else x

    def forward(self, source, source_padding, target, target_padding):
        length = target.shape[1]
        hidden = self.transformer(
            self.embed(self.source_embedding, source),
            self.embed(self.target_embedding, target),
            tgt_mask=torch.ones(length, length).triu(1).bool(),
            src_key_padding_mask=source_padding,
            tgt_key_padding_mask=target_padding,
            memory_key_padding_mask=source_padding,
        )
        return self.output(hidden)


def sinusoidal(length):
    position = torch.arange(length, dtype=torch.float64)[:, None]
    angle = position / 10000 ** (torch.arange(0, HIDDENS, 2, dtype=torch.float64) / HIDDENS)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(length, HIDDENS)


def padding(lens, length):
    """True = padding, as PyTorch has it."""
    return torch.arange(length) >= torch.tensor(lens)[:, None]


def draw_batch():
    draw = Draw("batch").random
    batch = dict(
        source=draw.randint(0, SOURCE_VOCAB, (3, 5)).tolist(),
        sourceLens=[5, 2, 4],
        target=draw.randint(0, TARGET_VOCAB, (3, 4)).tolist(),
        targetLens=[4, 3, 1],
    )
    batch["labels"] = draw.randint(0, TARGET_VOCAB, (3, 4)).tolist()
    return batch


def draw_parameters():
    """Of the largest model; each tensor from its own name, norms near 1."""
    parameters = {}
    for name, tensor in Translator("post", "relu", True, "none").named_parameters():
        values = Draw(name)(*tensor.shape, scale=0.3 if tensor.dim() > 1 else 0.2)
        if "norm" in name and name.endswith("weight"):
            values = Draw.exact((1 + values).numpy())
        parameters[name] = values
    return parameters


def write_safetensors(parameters, path):
    header, end = {}, 0
    for name, tensor in parameters.items():
        start, end = end, end + 4 * tensor.numel()
        header[name] = dict(dtype="F32", shape=list(tensor.shape), data_offsets=[start, end])
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for tensor in parameters.values():
            out.write(tensor.numpy().astype("<f4").tobytes())


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    tensors = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        numbers = np.frombuffer(data[start:end], "<f4").astype(np.float64)
        tensors[name] = torch.from_numpy(numbers).reshape(entry["shape"])
    return tensors


def check_saved(batch, config):
    """A model that the library trained and saved has the same logits in PyTorch."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = [os.path.join(folder, name) for name in ("batch.json", "config.json")]
        for path, value in zip(inputs, (batch, config)):
            with open(path, "w", encoding="ascii") as out:
                json.dump(value, out)
        subprocess.run(["node", os.path.join(HERE, "save.js"), folder, *inputs], check=True)
        parameters = read_safetensors(os.path.join(folder, "model.safetensors"))
        with open(os.path.join(folder, "logits.json"), encoding="ascii") as file:
            found = json.load(file)
    names = "norm", "activation", "finalNorm", "position"
    model = Translator(*(config[name] for name in names)).double()
    model.load_state_dict(parameters)
    expected = step(model, batch)[0]
    found = torch.tensor(found["data"], dtype=torch.float64).reshape(found["shape"])
    inside = ~padding(batch["targetLens"], found.shape[1])
    assert torch.allclose(found[inside], expected[inside], rtol=1e-5, atol=1e-5), config


def six_digits(tensor):
    """Enough to tell 1e-4, and half the file."""
    return torch.tensor([float(f"{x:.6g}") for x in tensor.reshape(-1)]).reshape(tensor.shape)


def step(model, batch):
    source, target, labels = (
        torch.tensor(batch[name]) for name in ("source", "target", "labels")
    )
    ignored = padding(batch["targetLens"], target.shape[1])
    logits = model(source, padding(batch["sourceLens"], source.shape[1]), target, ignored)
    loss = F.cross_entropy(logits.transpose(1, 2), labels.masked_fill(ignored, -100))
    return logits, loss


def run(parameters, batch, training, **config):
    """What the first pass gives, and what ten clipped steps of Adam make of it."""
    model = Translator(config["norm"], config["activation"], config["finalNorm"], config["position"])
    model.double()
    own = dict(model.named_parameters())
    for name, parameter in own.items():
        parameter.data = parameters[name].clone()
    optimiser = torch.optim.Adam(model.parameters(), lr=training["learningRate"])
    expect = dict(losses=[], gradientNorms=[])
    for i in range(STEPS):
        logits, loss = step(model, batch)
        optimiser.zero_grad()
        loss.backward()
        if i == 0:
            expect["logits"] = logits.detach()
            expect["gradients"] = {name: six_digits(tensor.grad) for name, tensor in own.items()}
        norm = nn.utils.clip_grad_norm_(model.parameters(), training["clip"])
        expect["losses"].append(loss.item())
        expect["gradientNorms"].append(norm.item())
        optimiser.step()
    expect["parameters"] = {name: six_digits(tensor.data) for name, tensor in own.items()}
    return expect


def transformer():
    batch, parameters = draw_batch(), draw_parameters()
    cases = []
    with torch.enable_grad():
        for norm, activation, final_norm, position, clip in (
            ("post", "relu", True, "sinusoidal", 1),
            ("post", "gelu", False, "sinusoidal", 100),
            ("pre", "gelu", True, "sinusoidal", 0.5),
            ("pre", "relu", False, "none", 1),
        ):
            config = dict(
                norm=norm, activation=activation, finalNorm=final_norm, position=position
            )
            training = dict(TRAINING, clip=clip)
            expect = run(parameters, batch, training, **config)
            name = f"{norm}-norm, {activation}, {'with' if final_norm else 'without'} final norms"
            source = TORCH + ": nn.Transformer"
            cases.append(
                dict(name=name, source=source, config=config, training=training, expect=expect)
            )
    sizes = dict(
        kind="encoder-decoder",
        sourceVocab=SOURCE_VOCAB,
        targetVocab=TARGET_VOCAB,
        hiddens=HIDDENS,
        heads=HEADS,
        layers=LAYERS,
        feedForward=UNITS,
    )
    for case in cases:
        case["config"] = dict(sizes, **case["config"])
        check_saved(batch, case["config"])
    write_safetensors(parameters, os.path.join(HERE, "models", "transformer.safetensors"))
    lines = ",\n".join(json.dumps(plain(case), separators=(",", ":")) for case in cases)
    head = json.dumps(plain(dict(batch=batch, parameters=parameters)), separators=(",", ":"))
    with open(os.path.join(HERE, "models", "transformer.json"), "w", encoding="ascii") as out:
        out.write(head[:-1] + ',"cases":[\n' + lines + "\n]}\n")

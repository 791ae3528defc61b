"""Sequence to sequence in PyTorch, with a fixed context and with Bahdanau attention: D2L's models,
written down anew from nn.GRU, nn.Embedding and nn.Linear."""

import math

import torch
from torch import nn

from vectors import TORCH, Draw, File, length_mask

NONE, BAHDANAU = range(2)


class Encoder(nn.Module):
    def __init__(self, vocabulary, embedding, hiddens, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.rnn = nn.GRU(embedding, hiddens, layers, batch_first=True)

    def forward(self, source):
        return self.rnn(self.embedding(source))


class Attention(nn.Module):
    def __init__(self, hiddens):
        super().__init__()
        self.W_k = nn.Linear(hiddens, hiddens, bias=False)
        self.W_q = nn.Linear(hiddens, hiddens, bias=False)
        self.w_v = nn.Linear(hiddens, 1, bias=False)

    def forward(self, query, keys, lengths):
        scores = self.w_v(torch.tanh(self.W_q(query) + self.W_k(keys)))[..., 0]
        masked = scores.masked_fill(~length_mask(lengths, keys.shape[1])[:, 0], -math.inf)
        weights = torch.softmax(masked, -1)[:, None]
        return weights @ keys, weights


class Decoder(nn.Module):
    def __init__(self, kind, vocabulary, embedding, hiddens, layers):
        super().__init__()
        if kind == BAHDANAU:
            self.attention = Attention(hiddens)
        self.kind = kind
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.rnn = nn.GRU(embedding + hiddens, hiddens, layers, batch_first=True)
        self.dense = nn.Linear(hiddens, vocabulary)

    def forward(self, target, hidden, state, lengths):
        embedded = self.embedding(target)
        if self.kind == NONE:
            context = state[-1][:, None].expand(-1, target.shape[1], -1)
            output, _ = self.rnn(torch.cat((embedded, context), -1), state)
            return self.dense(output), None
        outputs, weights = [], []
        for t in range(target.shape[1]):
            context, row = self.attention(state[-1][:, None], hidden, lengths)
            output, state = self.rnn(torch.cat((context, embedded[:, t : t + 1]), -1), state)
            outputs.append(output)
            weights.append(row)
        return self.dense(torch.cat(outputs, 1)), torch.cat(weights, 1)[:, None]


class Model(nn.Module):
    def __init__(self, kind, source, target, embedding, hiddens, layers):
        super().__init__()
        self.encoder = Encoder(source, embedding, hiddens, layers)
        self.decoder = Decoder(kind, target, embedding, hiddens, layers)

    def forward(self, source, lengths, target):
        return self.decoder(target, *self.encoder(source), lengths)


def seq2seq():
    out = File("core/seq2seq")

    def add(name, kind, embedding, hiddens, layers, lengths, steps):
        draw = Draw(name)
        sizes = dict(source_vocab=7, target_vocab=6, embedding=embedding, hiddens=hiddens)
        model = Model(kind, 7, 6, embedding, hiddens, layers).double()
        for parameter in model.parameters():
            parameter.data = draw(*parameter.shape, scale=1 / math.sqrt(hiddens))

        def ids(below, *shape):
            return torch.from_numpy(draw.random.randint(0, below, shape))

        batch = len(lengths)
        source, target = ids(7, batch, max(lengths)), ids(6, batch, steps)
        labels = ids(6, batch, steps)
        counted = [steps - b for b in range(batch)]
        with torch.enable_grad():
            logits, weights = model(source, lengths, target)
            each = nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
            loss = (each * length_mask(counted, steps)[:, 0]).mean(1).sum()
            loss.backward()
        options = dict(attention=kind, layers=layers, **sizes)
        options.update(source=source.double(), source_lengths=torch.tensor(lengths).double())
        options.update(target=target.double(), labels=labels.double())
        options["label_lengths"] = torch.tensor(counted).double()
        expect = dict(logits=logits, loss=loss[None])
        if weights is not None:
            expect["weights"] = weights
        for key, parameter in model.named_parameters():
            options[key] = parameter
            expect["d_" + key] = parameter.grad
        out.add(name, f"{TORCH}: nn.GRU, nn.Embedding, nn.Linear", "seq2seq", [], options, expect)

    add("fixed context", NONE, 3, 4, 2, [5, 3], 4)
    add("fixed context, one layer", NONE, 4, 3, 1, [2, 2, 1], 5)
    add("bahdanau", BAHDANAU, 3, 4, 2, [5, 3], 4)
    add("bahdanau, one layer", BAHDANAU, 4, 5, 1, [3, 1, 4], 3)
    add("bahdanau, more steps than an operation has inputs", BAHDANAU, 2, 3, 2, [3, 2], 10)
    out.write()

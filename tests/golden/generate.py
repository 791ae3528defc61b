"""Golden vectors: what PyTorch 1.13 and the published formulas say, as small JSON files.

    /usr/bin/python3 tests/golden/generate.py

Each file holds a list of cases, one a line:

    { name, source, call, args, options, expect, fused }

`call` is a function of the library, `args` and `options` go to it as they stand, and `expect` is
what must come back: a tensor, or an object of results (others may come back as well). `fused` says
that the same output must come back when the weights are not asked for. Tensors are
{ shape, data }; NaN and the infinities are written as strings, which JSON has no numbers for.

Those in core/ are read by the tests in C: `call` names what is tested, and tensors stand by their
names in `options` and `expect`.

Inputs are float32 numbers of three decimals, so that the text gives back the same bits. They are
widened to float64, the reference runs in float64, and its result is rounded to float32 once.
A case draws its numbers from its own name: adding one leaves the others as they were.

The files of models/ are trained models; the scripts that write them say what they hold.

Where PyTorch and this project differ on purpose (a row with no key allowed is zero here and NaN
there), `zero_empty_rows` in vectors.py says so and nothing else does.
"""

import glob
import os
import sys

import torch

sys.dont_write_bytecode = True

import attention
import blocks
import optimisers
import positions
import recurrent
import seq2seq
import transformer
from vectors import HERE


def main():
    torch.set_num_threads(1)
    with torch.no_grad():
        attention.masked_softmax()
        attention.dot_product_attention()
        attention.scoring()
        blocks.multi_head_attention()
        blocks.layer_norm()
        blocks.gelu()
        blocks.encoder_layer()
        positions.positions()
        recurrent.gru()
        seq2seq.seq2seq()
        transformer.transformer()
        optimisers.optimisers()
    written = glob.glob(os.path.join(HERE, "**", "*.json"), recursive=True)
    print(f"tests/golden: {sum(map(os.path.getsize, written)) / 1024:.0f} KB of vectors")


if __name__ == "__main__":
    main()

"""transformers: small GPT-2, BERT, Llama and T5 trained for some steps, and greedy generation."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers as hf
from comparing import run
from torch import nn

SIZES = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def build():
    gpt2 = hf.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=32,
                         resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                         bos_token_id=1, eos_token_id=2)  # fmt: skip
    bert = hf.BertConfig(**SIZES, **NO_DROPOUT, intermediate_size=32)
    llama = hf.LlamaConfig(**SIZES, intermediate_size=32, num_key_value_heads=1)
    t5 = hf.T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2,
                     dropout_rate=0.0, decoder_start_token_id=0)  # fmt: skip
    return nn.ModuleList([
        hf.GPT2LMHeadModel(gpt2), hf.BertForMaskedLM(bert), hf.LlamaForCausalLM(llama),
        hf.T5ForConditionalGeneration(t5),
    ])  # fmt: skip


def train(models):
    tokens = torch.from_numpy(np.random.RandomState(0).randint(3, 50, (4, 12)))
    for model in models:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(4):
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            yield loss
    written = models[0].generate(tokens[:1, :4], max_new_tokens=8, do_sample=False, pad_token_id=2)
    yield from written[0]
    yield models[0].eval()(tokens).logits.std()


run(build, train)

"""Generation word by word, without a cache: each step runs the whole decoder on all words so far.

With `--scale sqrt-n` attn's cache changes the result, since what was cached was divided by the root of fewer keys.
"""
import numpy as np

import models
from attention import softmax


def draw(case):
    kind = case.one_of("encoder-decoder", "decoder-only")
    model = models.draw_recipe(case, kind)
    models.draw_parameters(case, model)
    model.must_be_causal = True
    if not model.tied_output:
        model.p["output.w"] = model.p["output.w"] * case.one_of(1, 3)  # less even distributions
    models.give_parameters(case, model)
    case.words.insert(0, "generate")
    out = case.expected
    memory = cross = None
    if kind == "encoder-decoder":
        n = case.size(1, 5)
        source = models.Input(case, model, "source", n).words("--source")
        mask = models.Mask(case, n, n, model.causal_encoder)
        memory = model.run_side(out, "encoder", source.run(out), mask.put(out, "encoder"))
    prompt = models.Input(case, model, "target", case.size(1, 3)).words("--target")
    steps = case.size(1, 5)
    case.option("--steps", steps)
    temperature = top_k = top_p = generator = None
    if case.chance(0.4):
        temperature = case.number(0.3, 3.0)
        case.option("--temperature", temperature)
    if case.chance(0.3):
        top_k = case.size(1, 6)
        case.option("--top-k", top_k)
    if case.chance(0.3):
        top_p = case.number(0.05, 0.99)
        case.option("--top-p", top_p)
    samples = temperature is not None or top_k or top_p
    if case.chance(0.3):
        samples = True
        case.option("--sample")
    if samples:
        seed = 1
        if case.chance(0.7):
            seed = case.size(0, 2 ** 32 - 1)
            case.option("--sample-seed", seed)
        generator = np.random.RandomState(seed)
    cached = case.chance(0.6)
    if not cached:
        case.option("--no-cache")
    if case.chance(0.5):
        shown = ["step.*.logits", "step.*.distribution", *(["step.*keys", "step.*values"] if cached and steps > 1 else [])]
        case.option("--only", "|".join(shown))
    model.scales_as_cached = cached
    generate(out, model, prompt.ids, memory, steps, temperature, top_k, top_p, generator)
    return "generate"


def generate(out, model, ids, memory, steps, temperature, top_k, top_p, generator):
    ids, alignment, first = list(ids), [], len(ids)
    for step in range(1, steps + 1):
        with out.within(f"step.{step}."):
            n = len(ids)
            if model.scales_as_cached:
                model.keys_of_rows = np.maximum(np.arange(1, n + 1), first)[:, None]
            x = model.embed(out, "target", ids)
            causal = np.tril(np.ones((n, n), dtype=bool)) if model.causal_decoder else None
            decoded = model.run_side(out, "decoder", x, (causal, None), memory, (None, None))
            logits = model.logits(out, decoded[-1:])
            magnitude = out.magnitudes[out.scope + "logits"]
            if temperature is not None and temperature != 1.0:
                logits = out.put("tempered", logits / temperature, magnitude / temperature)
                magnitude /= temperature
            chances = out.put("distribution", softmax(logits), 1.0, magnitude)[0]
            if top_k or top_p:
                order = np.argsort(-chances, kind="stable")
                before = np.concatenate([[0.0], np.cumsum(chances[order])[:-1]])
                kept = (np.arange(len(order)) < (top_k or len(order))) & (before < (top_p or 2.0))
                kept[0] = True
                allowed = np.zeros(len(order))
                allowed[order[kept]] = 1.0
                out.put("allowed", allowed)
                chances = out.put("limited", chances * allowed / (chances * allowed).sum(), 1.0, magnitude)[0]
            if memory is not None:
                scope = f"{out.scope}decoder.{model.layers('decoder')}.cross_attention."
                heads = [scope + (f"head.{h + 1}." if model.heads > 1 else "") for h in range(model.heads)]
                alignment.append(np.mean([out.matrices[head + "weights"][-1] for head in heads], axis=0))
            if generator is None:
                chosen = int(np.argmax(chances))
            else:
                chosen = int(np.searchsorted(np.cumsum(chances), generator.rand(), side="right"))
                chosen = min(chosen, int(np.nonzero(chances)[0][-1]))
            ids.append(chosen + 1)
    if alignment:
        out.put("alignment", alignment, 1.0)

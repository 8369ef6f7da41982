#include "command/check.hpp"

#include <span>
#include <string>
#include <vector>

#include "command/options.hpp"
#include "core/support/text.hpp"

namespace attn {

// Code that others put into their programs. What it writes is read in recording.cpp.

namespace {

struct Recorder {
  std::string_view name;
  std::string_view summary;
  std::string_view code;
};

constexpr Recorder recorders[] = {
    {"pytorch", "what a module of PyTorch takes and makes", R"(import inspect, json, numpy, torch

def record(model, path, *inputs, **options):
    """Saves what a module takes and makes of one sentence, its parameters and its settings, for attn check."""
    saved, about = {}, {}

    def keep(name, value):
        if isinstance(value, torch.Tensor):
            saved[name] = value.detach().cpu().numpy()
        elif isinstance(value, (list, tuple)):
            for i, part in enumerate(value):
                keep(f"{name}.{i}", part)
        elif isinstance(value, (bool, int, float, str)) or hasattr(value, "__name__"):
            about[name] = getattr(value, "__name__", value)  # of a function, such as an activation, its name

    def listen(name, module):
        keep(f"type.{name}", type(module))
        for setting, value in vars(module).items():
            keep(f"setting.{name}.{setting}", value)
        run = module.forward

        def forward(*args, **kwargs):
            call = inspect.signature(run).bind(*args, **kwargs)
            if "average_attn_weights" in call.signature.parameters:  # nn.MultiheadAttention: the weights of each head
                call.arguments.update(need_weights=True, average_attn_weights=False)
            for argument, value in call.arguments.items():
                keep(f"input.{name}.{argument}", value)
            result = run(*call.args, **call.kwargs)
            keep(f"output.{name}", result)
            return result

        module.forward = forward

    model.eval()
    for name, module in model.named_modules():
        listen(name, module)
    for name, tensor in model.named_parameters():
        keep(f"parameter.{name}", tensor)  # as PyTorch has it: the weight of nn.Linear is (out, in)
    for name, tensor in model.named_buffers():
        keep(f"buffer.{name}", tensor)  # such as a mask
    result = model(*inputs, **options)
    numpy.savez(path, about=numpy.frombuffer(json.dumps(about).encode(), numpy.uint8), **saved)
    return result)"},
    {"numpy", "what a function or an object with NumPy takes and makes", R"(import json, numpy, sys

def record(function, path, *inputs, **options):
    """Calls a function, and saves its result and what it has in variables when it returns, for attn check."""
    saved, about = {}, {}

    def keep(name, value):
        if isinstance(value, numpy.ndarray):
            saved[name] = value
        elif isinstance(value, (list, tuple)):
            for i, part in enumerate(value):
                keep(f"{name}.{i}", part)
        elif isinstance(value, (bool, int, float, str)):
            about[f"setting..{name}"] = value

    def watch(frame, event, result):
        if event == "return" and frame.f_code is code:
            for name, value in {**vars(owner), **frame.f_locals}.items():
                keep(name, value)

    owner = getattr(function, "__self__", function)
    code = getattr(function, "__code__", None) or type(function).__call__.__code__
    sys.setprofile(watch)
    try:
        result = function(*inputs, **options)
    finally:
        sys.setprofile(None)
    keep("output.", result)
    numpy.savez(path, about=numpy.frombuffer(json.dumps(about).encode(), numpy.uint8), **saved)
    return result)"},
};

}  // namespace

std::vector<OptionChoice> choices::recorders() { return choices_of(std::span<const Recorder>(attn::recorders)); }

Answer recorder_code(const Command&, const Arguments& arguments) {
  const std::string name = *arguments.text(option::recorder);
  const Recorder& recorder = look_up(std::span<const Recorder>(recorders), name, "recorder");
  Answer answer;
  answer.page.say(CodeBlock{"python", std::string(recorder.code)});
  return answer;
}

}  // namespace attn

#include "command/check.hpp"

#include <span>
#include <string>
#include <vector>

#include "command/options.hpp"
#include "core/support/text.hpp"

namespace attn {

// Code that others put into their programs. What it writes is read in recording.cpp. An nn.TransformerEncoderLayer in
// training calls each module within it, as its fast path does not; what would drop numbers are modules within as well.

namespace {

struct Recorder {
  std::string_view name;
  std::string_view summary;
  std::string_view code;
};

constexpr Recorder recorders[] = {
    {"pytorch", "what a module of PyTorch takes and makes", R"(import inspect, json, numpy, torch, unittest.mock
def record(model, path, *inputs, **options):  # saves what a module takes and makes, for attn check
    names = {m.train(isinstance(m, torch.nn.TransformerEncoderLayer)): n for n, m in model.named_modules()}  # slow path
    saved, about = {}, {f"type.{name}": type(module).__name__ for module, name in names.items()}
    def keep(name, value):
        if isinstance(value, torch.Tensor):  # NumPy has no bfloat16
            saved[name] = numpy.array((value.float() if value.dtype == torch.bfloat16 else value).detach().cpu())
        elif isinstance(value, (list, tuple, dict)):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value): keep(f"{name}.{key}", part)
        elif isinstance(value, (bool, int, float, str)) or hasattr(value, "__name__"):
            about[name] = getattr(value, "__name__", value)  # of a function, such as an activation, its name
    def call(module, *args, **kwargs):
        name, result = names.pop(module, None), module._call_impl(*args, **kwargs)
        if name is not None:  # the first of its calls has its name
            given = inspect.signature(module.forward).bind(*args, **kwargs).arguments
            keep(f"input.{name}", given), keep(f"output.{name}", result)
            if isinstance(module, torch.nn.MultiheadAttention):  # once more, for the weights of each head
                keep(f"output.{name}", module._call_impl(**dict(given, need_weights=True, average_attn_weights=False)))
        return result
    keep("setting", {name: {k: v for k, v in vars(module).items() if k[0] != "_"} for module, name in names.items()})
    learned = {k: v for k, v in model.state_dict(keep_vars=True).items() if isinstance(v, torch.nn.Parameter)}
    keep("parameter", learned), keep("buffer", dict(model.named_buffers()))
    with unittest.mock.patch.object(torch.nn.Module, "__call__", call): result = model(*inputs, **options)
    numpy.savez(path, about=numpy.frombuffer(json.dumps(about).encode(), numpy.uint8), **saved)
    return result)"},
    {"numpy", "what a function or an object with NumPy takes and makes", R"(import json, numpy, sys
def record(function, path, *inputs, **options):
    """Calls a function, and saves its result and what it has in variables when it returns, for attn check."""
    saved, about, owner = {}, {}, getattr(function, "__self__", function)
    code = getattr(function, "__code__", None) or type(function).__call__.__code__
    def keep(name, value):
        if isinstance(value, numpy.ndarray):
            saved[name] = value.copy()
        elif isinstance(value, (list, tuple, dict)):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                keep(f"{name}.{key}", part)
        elif isinstance(value, (bool, int, float, str)):
            about[f"setting..{name}"] = value
    def watch(frame, event, result):
        if event == "return" and frame.f_code is code:
            for name, value in {**vars(owner), **frame.f_locals}.items():
                keep(name, value)
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

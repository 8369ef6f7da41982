#include "command/options.hpp"

#include "render/format.hpp"

namespace attn {

namespace choices {
std::vector<OptionChoice> formats() {
  return choices_of(attn::formats());
}
}  // namespace choices

const OptionGroup& output_options() {
  static const OptionGroup group{.options = {option::format, option::output, option::precision, option::width,
                                             option::full, option::section, option::ascii, option::color,
                                             option::theme, option::no_pager, option::threads,
                                             option::short_help, option::help}};
  return group;
}

const OptionGroup& model_options() {
  constexpr std::size_t most_layers = 1000, most_numbers = 65536, most_inner = 1 << 20, most_words = 10000;
  static const OptionGroup group = [] {
    OptionGroup all{
        .options = {option::model,
                    {option::parameters,
                     "file of parameters: safetensors, npz, JSON, or a state dictionary of PyTorch"},
                    option::size,
                    {option::layers, "number of layers in the encoder and in the decoder", no_default,
                     most_layers},
                    {option::heads, "number of heads of each attention", no_default, most_numbers},
                    {option::d_model, "size of the vectors (embedding size)", no_default, most_numbers},
                    {option::d_ff, "inner size of the feed-forward layers", no_default, most_inner},
                    option::norm,
                    {option::positions, "positional encoding: none, sinusoidal, concatenated or learned",
                     "sinusoidal"},
                    option::seed,
                    option::prefix,
                    option::save_parameters,
                    option::source,
                    option::target,
                    {option::x, "vectors to use instead of source words"},
                    option::target_x,
                    {option::memory, "encoder output, for a decoder without an encoder", no_default},
                    {option::n, "use N unnamed words as source and as target", no_default, most_words}},
        .needs = {{&option::prefix, {&option::parameters}, "--prefix needs --parameters FILE: give both"}}};
    const auto exclude = [&](const Option& one, std::initializer_list<const Option*> others) {
      for (const Option* other : others) all.exclusions.push_back({&one, other});
    };
    exclude(option::model, {&option::parameters, &option::size, &option::layers, &option::d_model,
                            &option::d_ff, &option::heads, &option::positions, &option::norm, &option::kind});
    exclude(option::parameters,
            {&option::size, &option::layers, &option::d_model, &option::d_ff, &option::kind});
    exclude(option::n, {&option::source, &option::x, &option::target, &option::target_x});
    return all;
  }();
  return group;
}

}  // namespace attn

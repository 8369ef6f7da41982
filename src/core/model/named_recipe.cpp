#include "core/model/named_recipe.hpp"

#include <array>
#include <string>

#include "core/support/text.hpp"

namespace attn {
namespace {

using Name = std::string_view;

// A model of this time shares one matrix between embeddings and output (section 3.4); here that is a choice.
constexpr std::array of_2017 = {
    NamedField{"norm", Name("post")},       NamedField{"norm_kind", Name("layer")},
    NamedField{"activation", Name("relu")}, NamedField{"positions", Name("sinusoidal")},
    NamedField{"scale_embeddings", true},
};

constexpr std::array of_gpt2 = {
    NamedField{"norm", Name("pre")},
    NamedField{"norm_kind", Name("layer")},
    NamedField{"activation", Name("gelu-tanh")},
    NamedField{"positions", Name("learned")},
    NamedField{"scale_embeddings", false},
    NamedField{"tied_output", true},
};

constexpr std::array of_llama = {
    NamedField{"norm", Name("pre")}, NamedField{"norm_kind", Name("rms")},    NamedField{"activation", Name("silu")},
    NamedField{"gated", true},       NamedField{"positions", Name("rotary")}, NamedField{"scale_embeddings", false},
};

constexpr std::array table = {
    NamedRecipe{"2017", "post-norm, ReLU, sinusoidal positions, scaled embeddings  (Vaswani et al. 2017)", of_2017},
    NamedRecipe{"gpt2", "pre-norm, GELU by tanh, learned positions, tied output  (Radford et al. 2019)", of_gpt2},
    NamedRecipe{
        "llama",
        "pre-norm, RMSNorm, gated SiLU, rotary positions, no biases, keys shared by two heads  (Touvron et al. 2023)",
        of_llama, false, 2},
};

}  // namespace

ModelRecipe NamedRecipe::recipe() const {
  ModelRecipe recipe;
  recipe.biases = biases;
  for (const NamedField& each : fields)
    look_up(recipe_fields(), each.field, "choice of a recipe").take(recipe, each.value, std::string(each.field));
  return recipe;
}

std::size_t NamedRecipe::key_heads(std::size_t heads) const {
  return heads % shared_by == 0 ? heads / shared_by : heads;
}

std::span<const NamedRecipe> named_recipes() { return table; }

}  // namespace attn

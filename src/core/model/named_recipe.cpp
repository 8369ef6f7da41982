#include "core/model/named_recipe.hpp"

#include <array>
#include <string>

#include "core/support/text.hpp"

namespace attn {
namespace {

// A model of this time shares one matrix between embeddings and output (section 3.4); here that is a choice.
constexpr std::array of_2017 = {
    NamedField{"norm", std::string_view("post")},
    NamedField{"norm_kind", std::string_view("layer")},
    NamedField{"activation", std::string_view("relu")},
    NamedField{"positions", std::string_view("sinusoidal")},
    NamedField{"scale_embeddings", true},
};

constexpr std::array of_gpt2 = {
    NamedField{"norm", std::string_view("pre")},
    NamedField{"norm_kind", std::string_view("layer")},
    NamedField{"activation", std::string_view("gelu-tanh")},
    NamedField{"positions", std::string_view("learned")},
    NamedField{"scale_embeddings", false},
    NamedField{"tied_output", true},
};

constexpr std::array of_llama = {
    NamedField{"norm", std::string_view("pre")},         NamedField{"norm_kind", std::string_view("rms")},
    NamedField{"activation", std::string_view("silu")},  NamedField{"gated", true},
    NamedField{"positions", std::string_view("rotary")}, NamedField{"scale_embeddings", false},
};

constexpr std::array table = {
    NamedRecipe{"2017", "post-norm, ReLU, sinusoidal positions, scaled embeddings  (Vaswani et al. 2017)", of_2017},
    NamedRecipe{"gpt2", "pre-norm, GELU by tanh, learned positions, tied output  (Radford et al. 2019)", of_gpt2},
    NamedRecipe{
        "llama",
        "pre-norm, RMSNorm, gated SiLU, rotary positions, no biases (Touvron et al. 2023); two heads share keys and values (Ainslie et al. 2023)",
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

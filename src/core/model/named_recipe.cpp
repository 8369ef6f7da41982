#include "core/model/named_recipe.hpp"

#include <array>
#include <string>

namespace attn {
namespace {

// A model of this time shares one matrix between embeddings and output (section 3.4); here that is a choice.
constexpr std::array of_2017 = {
    NamedField{&recipe_field::norm, std::string_view("post")},
    NamedField{&recipe_field::norm_kind, std::string_view("layer")},
    NamedField{&recipe_field::activation, std::string_view("relu")},
    NamedField{&recipe_field::positions, std::string_view("sinusoidal")},
    NamedField{&recipe_field::scale_embeddings, true},
};

constexpr std::array of_gpt2 = {
    NamedField{&recipe_field::norm, std::string_view("pre")},
    NamedField{&recipe_field::norm_kind, std::string_view("layer")},
    NamedField{&recipe_field::activation, std::string_view("gelu-tanh")},
    NamedField{&recipe_field::positions, std::string_view("learned")},
    NamedField{&recipe_field::scale_embeddings, false},
    NamedField{&recipe_field::tied_output, true},
};

constexpr std::array of_llama = {
    NamedField{&recipe_field::norm, std::string_view("pre")},
    NamedField{&recipe_field::norm_kind, std::string_view("rms")},
    NamedField{&recipe_field::activation, std::string_view("silu")},
    NamedField{&recipe_field::gated, true},
    NamedField{&recipe_field::positions, std::string_view("rotary")},
    NamedField{&recipe_field::scale_embeddings, false},
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
  for (const NamedField& each : fields) each.field->take(recipe, each.value, std::string(each.field->name));
  return recipe;
}

std::size_t NamedRecipe::key_heads(std::size_t heads) const {
  return heads % shared_by == 0 ? heads / shared_by : heads;
}

std::span<const NamedRecipe> named_recipes() { return table; }

}  // namespace attn

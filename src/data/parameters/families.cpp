#include "data/parameters/families.hpp"

#include <algorithm>
#include <deque>
#include <iterator>

#include "data/parameters/layout_text.hpp"

namespace attn {

std::span<const ModelFamily> model_families() {
  static const std::vector<ModelFamily> all = [] {
    std::vector<ModelFamily> families;
    for (const auto& rows :
         {families_of_decoders(), families_of_encoders(), families_of_encoder_decoders(), families_not_read()})
      std::ranges::copy(rows, std::back_inserter(families));
    static std::deque<std::vector<ImpliedField>> recipes;
    for (ModelFamily& family : families) {
      if (!family.recipe.empty()) family.brings = recipes.emplace_back(layouts_of_others().recipe(family.recipe));
    }
    return families;
  }();
  return all;
}

}  // namespace attn

#include "data/parameters/families.hpp"

#include <algorithm>
#include <iterator>

namespace attn {

std::span<const ModelFamily> model_families() {
  static const std::vector<ModelFamily> all = [] {
    std::vector<ModelFamily> families;
    for (const auto& rows :
         {families_of_decoders(), families_of_encoders(), families_of_encoder_decoders(), families_not_read()})
      std::ranges::copy(rows, std::back_inserter(families));
    return families;
  }();
  return all;
}

}  // namespace attn

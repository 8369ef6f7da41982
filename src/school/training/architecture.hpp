#pragma once

#include <span>
#include <string_view>

#include "school/training/example.hpp"

namespace attn {

/// What a model that writes one sentence from another is made of.
struct Architecture {
  std::string_view name;
  std::string_view summary;
  /// Whether a model is of this architecture.
  bool (*is_of)(const TrainedModel& model);
  /// A model for the words of another one that writes one sentence from another, without parameters, of the size that
  /// has the most nearly as many parameters.
  TrainedModel (*like)(const TrainedModel& other);
};

/// recurrent, transformer.
std::span<const Architecture> architectures();

/// That of a model; null: it does not write one sentence from another.
const Architecture* architecture_of(const TrainedModel& model);

}  // namespace attn

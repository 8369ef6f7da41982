#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/environment.hpp"
#include "command/options.hpp"
#include "problem/option_values.hpp"

namespace attn {

/// A command line after parsing: the options that were given, and the words that are no options.
struct Arguments : OptionValues {
  std::vector<std::string> words;
  std::string_view default_example = {};  // where no problem is given; empty: the first
  const Environment* environment = nullptr;
  std::shared_ptr<const NamedMatrices> to_compare = {};  // those of --against

  /// The patterns of --only as one, whose alternatives are separated by |.
  std::optional<std::string> only() const;
  /// Whether something else is shown in place of the whole page: some matrices, one cell, a product, or the
  /// weights in another form.
  bool narrows() const {
    return has_any(std::array{&option::only, &option::explain, &option::product, &option::map, &option::from,
                              &option::against});
  }
  /// Where long work is shown, stopped and saved; null: nowhere.
  LongWork* long_work() const;
  /// Shows the progress of long work.
  void tell(std::string_view stage) const;
};

}  // namespace attn

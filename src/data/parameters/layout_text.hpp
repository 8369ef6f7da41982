#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "data/parameters/layout.hpp"

namespace attn {

/// layouts.txt, in which the names of others stand; CMakeLists.txt compiles it in.
std::string_view layout_text();

/// What a text such as layouts.txt says, whose first lines tell how it is written. A name that nothing has, of a role,
/// a scope, a field, a block or a mark, is a std::logic_error: of the text when it is read, else when it is asked for.
class LayoutText {
 public:
  /// The text must outlive it, and all that is read of it.
  explicit LayoutText(std::string_view text);

  std::vector<Layout> layouts() const;
  /// The recipe of a family whose config.json is there.
  std::vector<ImpliedField> recipe(std::string_view name) const;
  /// The tensors of a block that leaves nothing open.
  std::vector<PartTensor> tensors(std::string_view block) const;

  /// The lines of a block.
  using Lines = std::vector<std::string_view>;
  const Lines& lines(std::string_view block) const;

 private:
  std::map<std::string_view, Lines> blocks_;
  std::vector<std::string_view> names_of_layouts_;  // in their order
};

/// What layouts.txt says.
const LayoutText& layouts_of_others();

}  // namespace attn

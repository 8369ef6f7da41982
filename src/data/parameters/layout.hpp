#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/name.hpp"
#include "core/model/recipe.hpp"

namespace attn {

/// The layout of files that we write.
constexpr std::string_view own_layout = "attn";

/// What a layout or a family says of the recipe of its models.
struct ImpliedField {
  const RecipeField* field;
  FieldValue value;
  bool is_assumed = false;  // most such models have it; others of the same names have another
};

/// A dimension of a tensor: so many times a size that all tensors of a file share (3·d_model), perhaps with so many
/// times another one (h·d_k + 2·h_k·d_k), of which the first is known from a tensor before; without a name the number
/// itself.
struct Size {
  std::size_t times = 1;
  std::string_view name = {};
  std::size_t more_times = 0;
  std::string_view more = {};
};

/// How the parameters of a tensor stand in it: one after the other, in equal parts; the same, where the first one has a
/// size of its own, as the queries beside grouped keys; or in turn for each head, as in GPT-NeoX.
enum class Packing { equal, grouped, in_turn };

/// When a tensor must be in a file. Of attention's projections there is either one packed tensor or three
/// separate ones. Biases of maps are there all or not at all, and so are those of norms. One that is shared
/// is another name for a parameter that the file has already. One that is left out belongs to what is not computed
/// here.
enum class Need { always, sometimes, with_biases, with_shifts, packed, separate, shared, never, left_out };

/// A tensor of a module: its name there, and the parameters that are made of it. They stand side by side in
/// it, or below each other where it is transposed.
struct TensorRow {
  std::string theirs;
  std::vector<std::string> ours;
  bool is_transposed;
  Size rows;
  Size columns;
  Need need;
  Packing packing = Packing::equal;
  bool is_kernel = false;  // of a convolution, [d_model, …]: what it is multiplied with is one row there
};

/// A part of a module, such as one attention, by its name there and by ours.
struct Part {
  std::string theirs;
  std::string ours;
  std::vector<TensorRow> tensors;
  bool may_be_missing = false;  // as a whole
};

/// A scope of names, with '#' for the number of a layer.
struct Scope {
  std::string theirs;
  std::string ours;
  std::vector<Part> parts;
  bool is_required;
};

/// The names that one kind of file has.
struct Layout {
  std::string_view name;
  std::size_t first_layer;  // how layers are counted there; ours count from 1
  std::vector<Scope> scopes;
  std::vector<ImpliedField> brings = {};
  std::string_view silent_on = {};  // what its files do not tell of the module, and what is assumed
};

/// A tensor of a part of a model by itself, and what it is.
struct PartTensor {
  std::string name;
  const Role& role;
  bool is_transposed;
};

/// The tensors of a part by itself, such as scope::norm or scope::feed_forward, by the names that PyTorch
/// gives them, and by ours where no layout has the part; none of a part that is not read by itself.
std::vector<PartTensor> tensors_of_part(const ScopeKind& part);

/// Every layout that is recognized: our own, which follows from the schema, and state dictionaries of
/// PyTorch's modules and of GPT-2, whose rows only rename and transpose.
const std::vector<Layout>& layouts();

/// Whether the last part of a name is that of one of our own parameters.
bool is_parameter_name(std::string_view name);

/// Whether a name is that of a buffer, which a module keeps beside its parameters: a causal mask.
bool is_buffer_name(std::string_view name);

/// Whether a name is that of a tensor of a model of images, which may have three or four dimensions.
bool is_of_image(std::string_view name);

/// Whether a name is as a pattern says, in which '#' stands for some digits.
bool matches_layers(std::string_view pattern, std::string_view name);

}  // namespace attn

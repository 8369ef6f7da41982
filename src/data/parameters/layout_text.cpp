#include "data/parameters/layout_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/model/schema.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

constexpr std::string_view layout_before = "layout ", recipe_before = "recipe ", of_config = "config:", no_name = "-",
                           between_tensors = "|", before_part = ":";

[[noreturn]] void misspelled(std::string_view what, std::string_view name) {
  throw std::logic_error(fmt::format("layouts.txt has a {} that there is not: {}", what, in_quotes(name)));
}

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> words = split_at(line, ' ');
  std::erase(words, std::string_view());
  return words;
}

// What each `$name` stands for.
using Meanings = std::map<std::string_view, std::string_view>;

// "KEY=VALUE"
std::pair<std::string_view, std::string_view> setting_in(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) misspelled("setting", word);
  return {word.substr(0, equals), word.substr(equals + 1)};
}

Meanings meanings_in(std::string_view line) {
  Meanings meanings;
  for (const std::string_view word : words_in(line)) meanings.insert(setting_in(word));
  return meanings;
}

// --- recipes

// What a field is given: its kind is that which the field has.
FieldValue value_for(const RecipeField& field, std::string_view text) {
  static const ModelRecipe usual;
  const FieldValue kind = field.value(usual);
  if (std::holds_alternative<std::string_view>(kind)) return text;
  if (std::holds_alternative<bool>(kind) && (text == "yes" || text == "no")) return text == "yes";
  if (const std::optional<double> number = parse_number<double>(text); number && std::holds_alternative<double>(kind))
    return *number;
  misspelled("value of a field", text);
}

// A field that is left open keeps its place.
void set(std::vector<ImpliedField>& brings, std::string_view word, const Meanings& meanings) {
  auto [name, text] = setting_in(word);
  const RecipeField* const field = find_recipe_field(name);
  if (!field) misspelled("field", name);
  const bool is_assumed = text.ends_with('?');
  if (is_assumed) text.remove_suffix(1);
  ImpliedField brought{field, {}, is_assumed};
  const auto meaning = text.starts_with('$') ? meanings.find(text.substr(1)) : meanings.end();
  if (meaning != meanings.end()) text = meaning->second;
  if (!text.starts_with('$')) brought.value = value_for(*field, text);
  const auto found = std::ranges::find(brings, field, &ImpliedField::field);
  if (found == brings.end()) {
    brings.push_back(brought);
  } else {
    *found = brought;
  }
}

void add_recipe(std::vector<ImpliedField>& brings, const LayoutText& text, std::string_view name,
                const Meanings& meanings, bool with_config) {
  for (const std::string_view line : text.lines(fmt::format("{}{}", recipe_before, name))) {
    if (line.starts_with(of_config) && !with_config) continue;
    for (const std::string_view word : words_in(line)) {
      if (word == of_config) continue;
      const auto [key, value] = setting_in(word);
      if (key == "like") {
        add_recipe(brings, text, value, meanings, with_config);
      } else {
        set(brings, word, meanings);
      }
    }
  }
}

std::vector<ImpliedField> fields_brought(const LayoutText& text, std::string_view name, const Meanings& meanings,
                                         bool with_config) {
  std::vector<ImpliedField> brings;
  add_recipe(brings, text, name, meanings, with_config);
  std::erase_if(brings, [](const ImpliedField& field) { return field.value == FieldValue(); });
  return brings;
}

// --- names

ScopeName scope_called(std::string_view name) {
  ScopeName scope = name_from_text(fmt::format("{}.", name)).scopes().front();
  if (scope.kind == &scope::other) misspelled("scope", name);
  return scope;
}

const Role& role_called(std::string_view name) {
  const auto found = std::ranges::find(roles(), name, &Role::leaf);
  if (found == roles().end() || *found == &role::other) misspelled("role", name);
  return **found;
}

std::string in_front(std::string_view name) { return name == no_name ? "" : std::string(name); }
std::string ours_in_front(std::string_view name) { return name == no_name ? "" : fmt::format("{}.", name); }

// --- tensors

struct Tensor {
  std::string theirs;
  std::vector<const Role*> ours;
  bool is_transposed = false, is_kernel = false;
  std::optional<Need> need = {};  // nothing: as the schema says
  Packing packing = Packing::equal;
};

struct Mark {
  std::string_view name;
  void (*set)(Tensor& tensor);
};
template <Need need>
void with_need(Tensor& tensor) {
  tensor.need = need;
}
constexpr Mark marks[] = {
    {"T", [](Tensor& tensor) { tensor.is_transposed = true; }},
    {"!", with_need<Need::always>},
    {"?", with_need<Need::sometimes>},
    {"packed", with_need<Need::packed>},
    {"separate", with_need<Need::separate>},
    {"shared", with_need<Need::shared>},
    {"never", with_need<Need::never>},
    {"grouped", [](Tensor& tensor) { tensor.packing = Packing::grouped; }},
    {"in-turn", [](Tensor& tensor) { tensor.packing = Packing::in_turn; }},
    {"kernel", [](Tensor& tensor) { tensor.is_kernel = true; }},
};

Tensor tensor_in(std::span<const std::string> words) {
  if (words.size() < 2) misspelled("tensor", words.empty() ? "" : words.front());
  Tensor tensor{words[0], {}};
  for (const std::string_view role : split_at(words[1])) tensor.ours.push_back(&role_called(role));
  for (const std::string& word : words.subspan(2)) {
    const Mark* const mark = find_row(std::span<const Mark>(marks), word);
    if (!mark) misspelled("mark", word);
    mark->set(tensor);
  }
  return tensor;
}

// What PyTorch's documentation calls a size of the schema.
struct SizeThere {
  std::string_view ours, theirs;
};
constexpr SizeThere sizes_there[] = {
    {"h_k·d_k", "d_model"},
    {"h_k·d_v", "d_model"},
    {"h·d_k", "d_model"},
    {"h·d_v", "d_model"},
    {"size of the output", "d_model"},
    {"input size of the keys", "kdim"},
    {"input size of the values", "vdim"},
};

// The scopes in which a tensor stands: those of its section, of which only kinds count, and that of its part.
struct PlaceInSchema {
  const ScopeKind* section = nullptr;  // null: an attention by itself
  bool is_layer = false;
  const ScopeKind* part = nullptr;  // null: the section itself
  std::size_t number = 0;           // of the part
};

// What the schema says of a role there.
const Parameter& parameter_in(const PlaceInSchema& place, const Role& role) {
  const auto within = [&](std::span<const SchemaPart> parts) -> const Parameter* {
    for (const SchemaPart& one : parts) {
      if (one.scope != place.part || one.number != place.number) continue;
      const auto found = std::ranges::find(one.parameters, &role, [](const Parameter& row) { return &row.role; });
      if (found != one.parameters.end()) return &*found;
    }
    return nullptr;
  };
  if (!place.section) {
    if (const Parameter* found = within(schema_of_attention())) return *found;
  }
  for (const SchemaSection& one : schema_sections()) {
    if (one.scope != place.section || (one.layers != nullptr) != place.is_layer) continue;
    if (const Parameter* found = within(one.parts)) return *found;
  }
  misspelled("role in a scope of the schema", role.leaf);
}

Need need_of(const Tensor& tensor, const Parameter& parameter) {
  if (tensor.need) return *tensor.need;
  if (parameter.presence != Presence::optional) return Need::always;
  return &parameter.role == &role::beta ? Need::with_shifts : Need::with_biases;
}

// --- a layout

class LayoutInMaking {
 public:
  LayoutInMaking(const LayoutText& text, std::string_view name, const Meanings& meanings)
      : text_(text), meanings_(meanings), layout_{name, 0, {}} {}

  Layout run() && {
    add_lines(meanings_.at("sections"), in_front(meaning("before")));
    if (!meaning("outside").empty()) add_lines(meaning("outside"), "");
    if (!meaning("recipe").empty()) layout_.brings = fields_brought(text_, meaning("recipe"), meanings_, false);
    if (!meaning("silent_on").empty()) layout_.silent_on = text_.lines(meaning("silent_on")).front();
    if (!meaning("left_out").empty()) {
      layout_.scopes.push_back({"", "", {{}}, false});
      for (const std::string_view name : words_in(text_.lines(meaning("left_out")).front()))
        part().tensors.push_back({std::string(name), {}, false, {}, {}, Need::left_out});
    }
    return std::move(layout_);
  }

  std::vector<Tensor> tensors_in(std::string_view block) const {
    std::vector<Tensor> all;
    for (const std::string_view line : text_.lines(block))
      std::ranges::move(tensors_of(filled(line)), std::back_inserter(all));
    return all;
  }

 private:
  Part& part() { return layout_.scopes.back().parts.back(); }

  std::string_view meaning(std::string_view name) const {
    const auto found = meanings_.find(name);
    return found == meanings_.end() ? std::string_view() : found->second;
  }

  // The words of a line, with what `$name` stands for.
  std::vector<std::string> filled(std::string_view line) const {
    std::vector<std::string> words;
    for (const std::string_view word : words_in(line)) {
      const std::size_t begin = word.find('$');
      if (begin == std::string_view::npos) {
        words.emplace_back(word);
        continue;
      }
      const std::string_view name = word.substr(begin + 1, word.find('.', begin) - begin - 1);
      const auto found = meanings_.find(name);
      if (found == meanings_.end()) misspelled("meaning", word);
      words.push_back(
          fmt::format("{}{}{}", word.substr(0, begin), found->second, word.substr(begin + 1 + name.size())));
    }
    std::erase(words, std::string());
    return words;
  }

  std::vector<Tensor> tensors_of(std::span<const std::string> words) const {
    std::vector<Tensor> all;
    while (!words.empty()) {
      const auto end = std::ranges::find(words, between_tensors);
      const std::span<const std::string> one(words.begin(), end);
      words = end == words.end() ? std::span<const std::string>() : std::span<const std::string>(end + 1, words.end());
      if (one.size() == 1 && one.front().starts_with('@')) {
        std::ranges::move(tensors_in(std::string_view(one.front()).substr(1)), std::back_inserter(all));
      } else {
        all.push_back(tensor_in(one));
      }
    }
    return all;
  }

  // Sections, or parts of the last one.
  void add_lines(std::string_view block, const std::string& before) {
    for (const std::string_view line : text_.lines(block)) {
      const std::vector<std::string> words = filled(line);
      if (words.size() <= 2 && words.back().starts_with('@')) {
        add_lines(std::string_view(words.back()).substr(1), words.size() == 1 ? before : before + words.front());
      } else if (words.size() < 2) {
        misspelled("line", line);
      } else if (line.starts_with(' ')) {
        add_part(words);
      } else {
        add_section(words, before);
      }
    }
  }

  void add_section(std::span<const std::string> words, const std::string& before) {
    const bool is_required = words.size() > 2 && words[2] == "!";
    layout_.scopes.push_back({before + in_front(words[0]), ours_in_front(words[1]), {}, is_required});
    place_ = {};
    if (words[1] != no_name) {
      place_.section = scope_called(words[1].substr(0, words[1].find('.'))).kind;
      place_.is_layer = words[1].find('.') != std::string::npos;
    }
    words = words.subspan(is_required ? 3 : 2);
    if (words.empty()) return;
    if (words.front() != before_part || words.size() < 3) misspelled("mark", words.front());
    add_part(words.subspan(1));
  }

  void add_part(std::span<const std::string> words) {
    place_.part = nullptr;
    place_.number = 0;
    if (words[1] != no_name) {
      const ScopeName scope = scope_called(words[1]);
      place_.part = scope.kind;
      place_.number = scope.number.value_or(0);
    }
    layout_.scopes.back().parts.push_back({in_front(words[0]), ours_in_front(words[1]), {}});
    for (const Tensor& tensor : tensors_of(words.subspan(2))) part().tensors.push_back(row_of(tensor));
  }

  Size size_there(const SizeName& size, std::size_t times) const {
    const auto found = std::ranges::find(sizes_there, size.name, &SizeThere::ours);
    return {times, found == std::end(sizes_there) || meaning("sizes") == "own" ? size.name : found->theirs};
  }

  TensorRow row_of(const Tensor& tensor) const {
    TensorRow row{tensor.theirs, {}, tensor.is_transposed, {}, {}, {}};
    const Parameter& first = parameter_in(place_, *tensor.ours.front());
    const std::size_t count = tensor.ours.size();
    for (const Role* role : tensor.ours) row.ours.emplace_back(role->leaf);
    row.rows = size_there(first.rows, 1);
    row.columns = size_there(first.columns, count);
    row.packing = tensor.packing;
    if (row.packing == Packing::grouped) row.columns = {1, size_name::all_d_q.name, count - 1, size_name::all_d_k.name};
    if (row.is_transposed) std::swap(row.rows, row.columns);
    row.need = need_of(tensor, first);
    row.is_kernel = tensor.is_kernel;
    return row;
  }

  const LayoutText& text_;
  const Meanings& meanings_;
  Layout layout_;
  PlaceInSchema place_;  // of the section and part that are being added
};

// What each kind of its files says.
std::vector<Meanings> kinds_of_files(const LayoutText& text, std::string_view layout) {
  std::span<const std::string_view> lines = text.lines(fmt::format("{}{}", layout_before, layout));
  Meanings common = meanings_in(lines.front());
  lines = lines.subspan(1);
  if (const auto like = common.find("like"); like != common.end()) {
    const std::span<const std::string_view> others = text.lines(fmt::format("{}{}", layout_before, like->second));
    common.merge(meanings_in(others.front()));
    if (lines.empty()) lines = others.subspan(1);
  }
  if (lines.empty()) return {common};
  std::vector<Meanings> kinds;
  for (const std::string_view line : lines) {
    kinds.push_back(meanings_in(line));
    for (const auto& one : common) kinds.back().insert(one);
  }
  return kinds;
}

}  // namespace

LayoutText::LayoutText(std::string_view text) {
  Lines* block = nullptr;
  for (const std::string_view line : split_at(text, '\n')) {
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with('[')) {
      const std::string_view name = line.substr(1, line.find(']') - 1);
      const auto [made, is_new] = blocks_.try_emplace(name);
      if (!is_new) misspelled("second block of one name", name);
      block = &made->second;
      if (name.starts_with(layout_before)) names_of_layouts_.push_back(name.substr(layout_before.size()));
    } else if (block) {
      block->push_back(line);
    }
  }
}

const LayoutText::Lines& LayoutText::lines(std::string_view block) const {
  const auto found = blocks_.find(block);
  if (found == blocks_.end() || found->second.empty()) misspelled("block", block);
  return found->second;
}

std::vector<Layout> LayoutText::layouts() const {
  std::vector<Layout> all;
  for (const std::string_view name : names_of_layouts_) {
    for (const Meanings& meanings : kinds_of_files(*this, name))
      all.push_back(LayoutInMaking(*this, name, meanings).run());
  }
  return all;
}

std::vector<ImpliedField> LayoutText::recipe(std::string_view name) const {
  std::vector<ImpliedField> brings = fields_brought(*this, name, {}, true);
  for (ImpliedField& field : brings) field.is_assumed = false;
  return brings;
}

std::vector<PartTensor> LayoutText::tensors(std::string_view block) const {
  std::vector<PartTensor> all;
  const Meanings nothing;
  for (Tensor& tensor : LayoutInMaking(*this, block, nothing).tensors_in(block))
    all.push_back({std::move(tensor.theirs), *tensor.ours.front(), tensor.is_transposed});
  return all;
}

const LayoutText& layouts_of_others() {
  static const LayoutText text(layout_text());
  return text;
}

}  // namespace attn

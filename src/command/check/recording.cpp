#include "command/check/recording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "command/check/inputs_in_file.hpp"
#include "command/check/recorded_additive.hpp"
#include "command/check/recorded_modules.hpp"
#include "command/check/recorded_sentence.hpp"
#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/input_report.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/parameters/parameters.hpp"
#include "school/check/names.hpp"
#include "school/check/places_in_models.hpp"

namespace attn {

namespace {

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// --- recording

// A recorded file: its matrices by their names, and what it says of modules.
class Recording {
 public:
  Recording(NamedMatrices& all, std::string where) : all_(all), where_(std::move(where)) {
    const auto found = std::ranges::find(all.matrices, about_name, &MatrixFile::name);
    if (found != all.matrices.end()) read_about(*found);
    additive_ = additive_within();
    focus_ = additive_ ? additive_->owner : attention_within();
  }

  static bool is_recorded(const NamedMatrices& all) {
    const auto begins = [&](std::string_view prefix) {
      return std::ranges::any_of(all.matrices, [&](const MatrixFile& file) { return file.name.starts_with(prefix); });
    };
    return all.are_named &&
           ((begins(about_name) && begins(output_prefix)) || (begins(input_prefix) && begins(parameter_prefix)));
  }

  // By the layout of the parameters, or by the type.
  std::string_view command() const {
    const std::string layout = layout_of_parameters();
    if (const RecordedLayout* const by_layout = layout_recorded_as(layout)) return by_layout->command;
    const auto by_type = std::ranges::find(recorded_types(), type_of(""), &RecordedType::type);
    return by_type == recorded_types().end() ? "walk" : by_type->command;
  }

  void take(const Command& command, const std::string& path, Arguments& arguments) {
    // Commands of steps compute a part of what a walk does.
    const bool is_own = command.takes_model() || command.name == "embed" || command.name == "layer-norm";
    kind_ = is_own ? command.name : "walk";
    take_first_sentence();
    take_precision();
    if (kind_ == "walk" && !focus_.empty())
      all_.remarks.push_back(fmt::format("Of the recorded {}, its attention is compared: {}.", type_of(""), focus_));
    if (kind_ != "walk") {
      focus_.clear();
      additive_.reset();
    }
    given_ = arguments;
    command_ = &command;
    path_ = path;
    if (kind_ == "embed") {
      take_words();
    } else {
      take_inputs();
      take_masks();
      take_settings();
    }
    embedding_ = shape_of_embedding();
    makes_logits_ = std::ranges::any_of(all_.matrices, [&](const MatrixFile& file) {
      return (file.name == output_prefix || file.name == "output..0") && are_logits(file);
    });
    take_parameters();
    name_results();
    given_.override_with(arguments);
    static_cast<OptionValues&>(arguments) = std::move(given_);
  }

 private:
  void read_about(const MatrixFile& file) {
    std::string bytes;
    for (const double x : cells(file.matrix)) bytes += static_cast<char>(static_cast<unsigned char>(x));
    about_ = parse_json(bytes, where_);
    if (!about_.is_object()) fail("{}: its 'about' is no object: record it again", where_);
    for (const auto& [key, value] : about_.items()) {
      if (key.starts_with(type_prefix) && value.is_string()) modules_.push_back(key.substr(type_prefix.size()));
    }
  }

  // A setting of a module, or of the first of those within it that has one of these names.
  const Json* setting(std::span<const std::string_view> names) const {
    const std::string within = std::string(setting_prefix) + (focus_.empty() ? "" : focus_ + ".");
    for (const auto& [key, value] : about_.items()) {
      const std::string_view last = std::string_view(key).substr(key.rfind('.') + 1);
      const bool is_there = key.starts_with(within) || (focus_.empty() && key.starts_with(setting_prefix));
      if (is_there && std::ranges::find(names, last) != names.end()) return &value;
    }
    return nullptr;
  }

  std::string type_of(const std::string& module) const {
    const auto found = about_.find(std::string(type_prefix) + module);
    return found != about_.end() && found->is_string() ? found->get<std::string>() : "";
  }

  bool has_type(std::string_view type) const {
    return std::ranges::any_of(modules_, [&](const std::string& module) { return type_of(module) == type; });
  }

  // A setting of one module.
  const Json* setting_of(const std::string& module, std::span<const std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto found = about_.find(fmt::format("{}{}.{}", setting_prefix, module, name));
      if (found != about_.end()) return &*found;
    }
    return nullptr;
  }

  std::vector<MatrixFile> parameters() const {
    std::vector<MatrixFile> found;
    for (const MatrixFile& file : all_.matrices) {
      if (!file.name.starts_with(parameter_prefix)) continue;
      found.push_back(file);
      found.back().name.erase(0, parameter_prefix.size());
    }
    return found;
  }

  // Nothing: they are of no layout, or cannot be read, which whoever reads them tells.
  std::optional<ParametersAmong> parameters_of_layout() const {
    try {
      return parameters_among(parameters(), where_);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  std::string layout_of_parameters() const {
    const std::optional<ParametersAmong> among = parameters_of_layout();
    return among ? among->file.layout : "";
  }

  // The module that projects queries and keys; empty: the recorded one itself, or none.
  std::string attention_within() const {
    std::map<std::string, std::set<const Role*>> by_module;
    for (const MatrixFile& file : parameters()) {
      const std::size_t dot = file.name.rfind('.');
      const bool is_packed = file.name.ends_with("in_proj_weight");
      const std::span<const Role* const> roles = roles_named(file.name);
      if (dot == std::string::npos || (roles.empty() && !is_packed)) continue;
      // The projection is a module of its own, except in nn.MultiheadAttention.
      const std::string module = file.name.substr(0, dot);
      const std::size_t outer = module.rfind('.');
      const std::string owner = is_packed ? module : outer == std::string::npos ? "" : module.substr(0, outer);
      if (is_packed) return owner;
      by_module[owner].insert(roles.front());
    }
    for (const auto& [module, roles] : by_module) {
      if (roles.contains(&role::w_q) && roles.contains(&role::w_k)) return module;
    }
    return "";
  }

  // The additive attention that is the recorded module, or the first one within it.
  std::optional<AdditiveLayers> additive_within() const {
    const auto is_linear = [&](const std::string& module) { return type_of(module) == "Linear"; };
    for (const std::string& module : modules_) {
      if (std::optional<AdditiveLayers> found =
              additive_layers(all_.matrices, module, matrices_into(module), is_linear))
        return found;
    }
    return std::nullopt;
  }

  // Whether the words stand before the sentences: modules say it, or all that goes in has one sentence there.
  bool has_words_first() const {
    bool any_says = false, any_is_first = false;
    for (const std::string& module : modules_) {
      const Json* const said = setting_of(module, std::array<std::string_view, 1>{"batch_first"});
      any_says = any_says || said;
      any_is_first = any_is_first || (said && *said == true);
    }
    if (any_says) return !any_is_first;
    bool any_is_array = false;
    for (const MatrixFile& file : all_.matrices) {
      if (!file.name.starts_with("input..") || is_mask_name(file.name) || file.count == 1) continue;
      if (file.outer > 1 || file.matrix.shape().rows != file.count) return false;
      any_is_array = true;
    }
    return any_is_array;
  }

  void take_first_sentence() {
    const auto is_of_heads = [&](const MatrixFile& file) {
      if (!file.name.starts_with(output_prefix)) return false;
      const auto [module, number] = split_at_any(std::string_view(file.name).substr(output_prefix.size()));
      return number == "1" && type_of(module) == "MultiheadAttention";
    };
    const std::size_t sentences = leave_first_sentence(all_.matrices, has_words_first(), is_of_heads);
    if (sentences > 1)
      all_.remarks.push_back(fmt::format("The file has {} sentences: the first one is compared.", sentences));
  }

  // NumPy has no bfloat16. Numbers of it are stored in 32 bits, of which the last 16 are 0 in all that was computed.
  void take_precision() {
    const auto is_of_module = [](const MatrixFile& file) {
      return file.name.starts_with(output_prefix) && file.kind == CellKind::real;
    };
    const auto is_short = [](double x) {
      return !std::isfinite(x) || (std::bit_cast<std::uint32_t>(static_cast<float>(x)) & 0xFFFFU) == 0;
    };
    bool any = false;
    for (const MatrixFile& file : all_.matrices) {
      if (!is_of_module(file)) continue;
      if (file.precision != Precision::float32 || !std::ranges::all_of(cells(file.matrix), is_short)) return;
      any = true;
    }
    if (!any) return;
    for (MatrixFile& file : all_.matrices) {
      if (file.precision == Precision::float32) file.precision = Precision::bfloat16;
    }
  }

  static bool is_mask_name(std::string_view name) { return name.ends_with("mask"); }

  // The module that a name is of, behind its prefix: of those with a type the one with the longest name.
  std::string owner_of(std::string_view rest) const {
    std::string owner;
    for (const std::string& module : modules_) {
      if (module.size() > owner.size() && rest.starts_with(module + ".")) owner = module;
    }
    return owner;
  }

  // The argument of the compared module that a name is of, and of one of several its name or number; nothing: it is of
  // another module.
  std::optional<std::string> argument_of(const MatrixFile& file) const { return argument_of(focus_, file); }

  std::optional<std::string> argument_of(const std::string& module, const MatrixFile& file) const {
    if (!file.name.starts_with(input_prefix)) return std::nullopt;
    const std::string rest = file.name.substr(input_prefix.size()), begin = module + ".";
    if (!rest.starts_with(begin) || (!modules_.empty() && owner_of(rest) != module)) return std::nullopt;
    const std::string argument = rest.substr(begin.size());
    const std::size_t dot = argument.rfind('.');
    const bool has_name = dot != std::string::npos && !is_whole_number(std::string_view(argument).substr(dot + 1));
    return has_name ? argument.substr(dot + 1) : argument;
  }

  // The names of the matrices of numbers that go into a module, without its masks.
  std::vector<std::string> matrices_into(const std::string& module) const {
    std::vector<std::string> names;
    for (const MatrixFile& file : all_.matrices) {
      const std::optional<std::string> argument = argument_of(module, file);
      if (argument && !is_mask_name(*argument) && file.kind == CellKind::real) names.push_back(file.name);
    }
    return names;
  }

  void put(const Option& option, OptionValue value) {
    const std::vector<OfferedOption> offered = options_of(*command_);
    if (std::ranges::find(offered, &option, &OfferedOption::option) == offered.end() || given_.has(option)) return;
    given_.put(option, std::move(value));
  }

  void put(const Option& option, MatrixFile file) {
    const bool has_parts = option.kind == Kind::matrices;
    put(option, OptionValue(has_parts ? parts_of(std::move(file)) : std::vector{std::move(file)}));
  }

  // A function of queries and keys has no projections: there they are what it computes from.
  bool projects() const {
    const std::vector<MatrixFile> all = parameters();
    return std::ranges::any_of(all,
                               [](const MatrixFile& file) {
                                 const std::span<const Role* const> roles = roles_named(file.name);
                                 return file.name.ends_with("in_proj_weight") ||
                                        (!roles.empty() && roles.front() == &role::w_q);
                               }) ||
           !layout_of_parameters().empty();
  }

  void take_inputs() {
    const RecordedInputs* const row = inputs_recorded_for(kind_);
    if (!row) return;
    if (additive_) return take_additive();
    const bool stand_for_themselves = kind_ == "walk" && !projects();
    const MatrixFile* before = nullptr;
    std::size_t place = 0, ids = 0;
    for (MatrixFile& file : all_.matrices) {
      const std::optional<std::string> argument = argument_of(file);
      if (!argument || is_mask_name(*argument)) continue;
      if (stand_for_themselves) {
        file.name = *argument;
      } else if (file.kind == CellKind::real && place < row->matrices.size() && row->matrices[place]) {
        take_input(*row->matrices[place], before, file);
        before = &file;
        ++place;
      } else if (file.kind != CellKind::real && ids < row->ids.size() && row->ids[ids]) {
        take_ids(*row->ids[ids], file);
        ++ids;
      }
    }
  }

  // Of an attention it stands beside the others that it is computed from. Keys that are the queries' words once more
  // are no other words.
  void take_input(const Option& option, const MatrixFile* before, MatrixFile& file) {
    if (kind_ != "walk") return put(option, file);
    if (!before || before->matrix != file.matrix) file.name = option.member;
  }

  void take_additive() {
    name_additive(all_.matrices, *additive_, matrices_into(focus_));
    put(option::score, std::string("additive"));
  }

  // The words of parameters without a vocabulary are their ids, as the module takes them.
  void take_ids(const Option& option, const MatrixFile& file) {
    std::vector<std::string> words;
    for (const double id : cells(file.matrix)) words.push_back(fmt::format("{}", id));
    put(option, fmt::format("{}", fmt::join(words, " ")));
  }

  // Each word is its number there, and its vector the row of the table.
  void take_words() {
    const auto table = std::ranges::find(all_.matrices, "parameter.weight", &MatrixFile::name);
    const auto ids =
        std::ranges::find_if(all_.matrices, [&](const MatrixFile& file) { return argument_of(file).has_value(); });
    if (table == all_.matrices.end() || ids == all_.matrices.end()) return;
    const std::span<const double> numbers = cells(std::as_const(ids->matrix));
    MatrixFile x = *table;
    x.matrix = Matrix({numbers.size(), table->matrix.shape().columns});
    std::vector<std::string> words;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!(numbers[i] >= 0.0 && numbers[i] < static_cast<double>(table->matrix.shape().rows)))
        fail("{}: the embedding has no row {}: record it again", where_, numbers[i]);
      std::ranges::copy(row(table->matrix, static_cast<std::size_t>(numbers[i])), row(x.matrix, i).begin());
      words.push_back(fmt::format("{}", numbers[i]));
    }
    put(option::x, std::move(x));
    put(option::tokens, std::vector<std::vector<std::string>>{std::move(words)});
  }

  // PyTorch's masks: true forbids, and floats are added. What a module of another author means is tried.
  void take_masks() {
    const RecordedInputs* const row = inputs_recorded_for(kind_);
    if (!row) return;
    const bool is_of_pytorch = has_type("MultiheadAttention");
    bool has_mask = false;
    for (MatrixFile& file : all_.matrices) {
      const std::optional<std::string> argument = argument_of(file);
      if (!argument || !is_mask_name(*argument)) continue;
      const auto mask =
          std::ranges::find_if(row->masks, [&](const auto& one) { return argument->ends_with(one.ending); });
      if (!is_of_pytorch || mask == row->masks.end()) {
        file.name = *argument;
        continue;
      }
      MatrixFile taken = file;
      if (taken.kind != CellKind::real) {
        for (double& x : cells(taken.matrix)) x = 1.0 - x;
        taken.kind = CellKind::whole;
      }
      has_mask = has_mask || mask->option == &option::mask || mask->option == &option::target_mask;
      put(*mask->option, std::move(taken));
    }
    const Json* const said = flag_among_arguments(names_of_causal);
    const Json* const kept = is_of_pytorch ? nullptr : setting(names_of_causal);
    const bool is_causal = (said && *said == true) || (kept && *kept == true);
    if (has_mask || !is_causal) {
      // The decoders of PyTorch look ahead unless a mask forbids it.
      if (is_of_pytorch && !given_.has(option::causal) && kind_ != "walk") put(option::not_causal, true);
    } else {
      put(option::causal, true);
    }
  }

  const Json* flag_among_arguments(std::span<const std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto found = about_.find(fmt::format("{}{}.{}", input_prefix, focus_, name));
      if (found != about_.end()) return &*found;
    }
    return nullptr;
  }

  void take_settings() {
    if (const Json* const heads = setting(names_of_heads);
        !additive_ && heads && heads->is_number_integer() && *heads > 1)
      put(option::heads, heads->get<std::size_t>());
    if (const Json* const first = setting(std::array<std::string_view, 1>{"norm_first"}))
      put(option::norm, std::string(*first == true ? "pre" : "post"));
    if (const Json* const epsilon = setting(std::array<std::string_view, 2>{"eps", "variance_epsilon"});
        epsilon && epsilon->is_number())
      put(option::epsilon, epsilon->get<double>());
    if (const std::string type = type_of(""); type == "RMSNorm") put(option::norm_kind, std::string("rms"));
    if (const std::optional<std::string> activation = activation_here(); activation && kind_ != "walk")
      put(option::activation, *activation);
  }

  // That of a layer is a function, or a module; no layout has another one.
  std::optional<std::string> activation_here() const {
    if (const Json* const name = setting(names_of_activation); name && name->is_string()) {
      if (const RecordedActivation* const found = activation_called(name->get<std::string>()))
        return std::string(found->ours);
    }
    for (const std::string& module : modules_) {
      const RecordedActivation* const found = activation_called(type_of(module));
      const Json* const approximation = found ? setting_of(module, names_of_approximation) : nullptr;
      if (found) return std::string(approximation && *approximation == "tanh" ? found->by_tanh : found->ours);
    }
    return std::nullopt;
  }

  // Names what stands below a prefix in the module that is compared without it, and takes away all else there; all that
  // stands there where none is left. Whether there was any.
  bool leave_beside(std::string_view prefix, bool is_left) {
    const std::string within = std::string(prefix) + (focus_.empty() ? "" : focus_ + ".");
    bool has_any = false;
    std::erase_if(all_.matrices, [&](MatrixFile& file) {
      if (!file.name.starts_with(prefix)) return false;
      has_any = true;
      if (!is_left || !file.name.starts_with(within)) return true;
      file.name.erase(0, within.size());
      return false;
    });
    return has_any;
  }

  // A mask that a module keeps as it does settings is as one in a buffer. Other matrices there may be of an earlier
  // call.
  void take_kept_masks() {
    std::erase_if(all_.matrices, [](MatrixFile& file) {
      if (!file.name.starts_with(setting_prefix)) return false;
      const std::string rest = file.name.substr(setting_prefix.size());
      file.name = rest.substr(rest.rfind('.') + 1);
      const bool is_kept = is_mask(file) && holds_permissions(file.matrix);
      file.name = std::string(buffer_prefix) + rest.substr(rest.starts_with('.') ? 1 : 0);
      return !is_kept;
    });
  }

  // Those of a model or a norm are read as a file of parameters is; those of an attention stand beside its results, and
  // so do its buffers.
  void take_parameters() {
    take_kept_masks();
    const bool is_beside = kind_ == "walk", has_any = leave_beside(parameter_prefix, is_beside);
    leave_beside(buffer_prefix, is_beside);
    if (!has_any || is_beside || kind_ == "embed") return;
    put(option::parameters, path_);
    put(option::prefix, std::string(parameter_prefix.substr(0, parameter_prefix.size() - 1)));
  }

  // --- names of results

  void name_results() {
    std::vector<MatrixFile> named;
    for (MatrixFile& file : all_.matrices) {
      if (kind_ != "walk" && command_->takes_model() && is_result(file.name)) file.name = output_prefix;
      const std::optional<std::string> name = file.name == about_name                ? std::nullopt
                                              : file.name.starts_with(output_prefix) ? name_of_output(file)
                                              : file.name.starts_with(input_prefix)  ? name_of_taken(file)
                                                                                     : std::optional(file.name);
      const auto is_there = [&](const MatrixFile& other) { return other.name == *name; };
      if (!name || std::ranges::any_of(named, is_there)) continue;
      file.name = *name;
      named.push_back(std::move(file));
    }
    all_.matrices = std::move(named);
  }

  // What comes out of a model by a name without a place.
  static bool is_result(const std::string& name) {
    const std::span<const Role* const> roles = roles_named(name);
    return name.find('.') == std::string::npos && !roles.empty() && roles.front() == &role::output;
  }

  // The module and the number of what it returned, where that was several.
  static std::pair<std::string, std::string> split_at_any(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const bool is_number = dot != std::string_view::npos && is_whole_number(name.substr(dot + 1));
    return is_number ? std::pair(std::string(name.substr(0, dot)), std::string(name.substr(dot + 1)))
                     : std::pair(std::string(name), std::string());
  }

  // Of a module within the one that is compared, its name from there; nothing: it is none.
  std::optional<std::string> from_focus(const std::string& module) const {
    if (focus_.empty() || module == focus_) return module == focus_ ? "" : module;
    if (!module.starts_with(focus_ + ".")) return std::nullopt;
    return module.substr(focus_.size() + 1);
  }

  const AroundLinear* linear_called(const std::string& module) const {
    const std::span<const Role* const> roles = roles_named(module + ".weight");
    if (roles.empty()) return nullptr;
    const auto found = std::ranges::find(around_linear(), roles.front(), &AroundLinear::weight);
    return found == around_linear().end() ? nullptr : &*found;
  }

  static std::string beside(const std::string& module, std::string_view leaf) {
    const std::size_t dot = module.rfind('.');
    return dot == std::string::npos ? std::string(leaf) : module.substr(0, dot + 1) + std::string(leaf);
  }

  std::string hidden_state(std::string_view side, std::size_t number) const {
    return fmt::format("{}_hidden_states.{}", side, number);
  }

  std::string side_of(const std::string& module) const {
    if (kind_ != "transformer") return std::string(kind_);
    return module.starts_with("encoder") ? "encoder" : "decoder";
  }

  // What comes out of a whole model are its logits if it has a column for each word, and not one for each number of a
  // word's vector; where these are as many, if a linear layer made it.
  bool are_logits(const MatrixFile& file) const {
    const std::size_t columns = file.matrix.shape().columns;
    if (!embedding_ || columns != embedding_->rows) return false;
    return columns != embedding_->columns || std::ranges::any_of(all_.matrices, [&](const MatrixFile& made) {
             return made.name.starts_with(output_prefix) && made.matrix == file.matrix &&
                    type_of(made.name.substr(output_prefix.size())) == "Linear";
           });
  }

  std::optional<Shape> shape_of_embedding() const {
    const std::optional<ParametersAmong> among = parameters_of_layout();
    if (!among) return std::nullopt;
    const Matrix* const embedding = embedding_in(among->file.parameters);
    return embedding ? std::optional(embedding->shape()) : std::nullopt;
  }

  // A module, and which of its results it is, by its number or name, where there are several.
  struct ResultOfModule {
    std::string module, result;
  };

  // Nothing: it is of no module that the file knows. One without types has only numbers.
  std::optional<ResultOfModule> result_called(const std::string& called) const {
    if (modules_.empty()) {
      auto [module, number] = split_at_any(called);
      return ResultOfModule{std::move(module), std::move(number)};
    }
    if (std::ranges::find(modules_, called) != modules_.end()) return ResultOfModule{called, ""};
    const std::string owner = owner_of(called);
    if (!called.starts_with(owner + ".")) return std::nullopt;
    return ResultOfModule{owner, called.substr(owner.size() + 1)};
  }

  std::optional<std::string> name_of_output(const MatrixFile& file) const {
    const std::optional<ResultOfModule> found = result_called(file.name.substr(output_prefix.size()));
    if (!found) return std::nullopt;
    const auto& [path, result] = *found;
    const std::optional<std::string> module = from_focus(path);
    if (!module) return std::nullopt;
    if (!result.empty() && !is_digit(result.front())) return module->empty() ? result : *module + "." + result;
    if (!result.empty() && result != "0" && result != "1") return std::nullopt;
    const bool is_second = result == "1";
    const bool is_model = command_->takes_model();
    if (kind_ == "embed") return module->empty() ? std::optional<std::string>("x") : std::nullopt;
    if (module->empty()) {
      if (is_second) return is_model ? std::nullopt : std::optional<std::string>("weights");
      if (!is_model) return "output";
      return makes_logits_ ? std::string(role::logits.leaf) : side_of("") + ".output";
    }
    const std::string type = type_of(path);
    if (type == "Softmax") return beside(*module, role::weights.leaf);
    if (activation_called(type)) return beside(*module, role::activated.leaf);
    if (type.find("Dropout") != std::string::npos || type == "ModuleList" || type == "Sequential") return std::nullopt;
    std::string name = *module;
    if (const std::size_t cross = name.find("multihead_attn"); is_model && cross != std::string::npos)
      name.replace(cross, std::string_view("multihead_attn").size(), "cross_attn");
    if (is_second) return name + ".weights";
    if (const AroundLinear* const linear = linear_called(name)) return beside(name, linear->made->leaf);
    if (type == "Linear" || type == "Conv1D") return std::nullopt;
    const std::optional<PlaceInModel> place = place_in_model(name);
    const bool is_attention =
        place && (place->part == &scope::self_attention || place->part == &scope::cross_attention);
    if (is_attention && place->leaf.empty()) return name + ".output";
    if (is_model && (name == "encoder" || name == "decoder")) return name + ".output";
    if (is_model && place && place->layer && !place->part && place->leaf.empty())
      return is_before_last_norm(path) ? std::nullopt : std::optional(hidden_state(side_of(name), *place->layer + 1));
    if (is_model && !(place && place->layer) && is_norm(name.substr(name.rfind('.') + 1)))  // behind the last layer
      return makes_logits_ ? std::optional(side_of(name) + ".output") : std::nullopt;
    return name;
  }

  // Whether a layer is the last one of its stack, and a norm stands beside the stack. What comes out of it has no name
  // that tells it from what comes out of that norm.
  bool is_before_last_norm(const std::string& layer) const {
    const std::size_t dot = layer.rfind('.');
    const std::string stack = layer.substr(0, dot == std::string::npos ? 0 : dot);
    const std::optional<std::size_t> number = parse_number<std::size_t>(layer.substr(dot + 1));
    if (!number || std::ranges::find(modules_, fmt::format("{}.{}", stack, *number + 1)) != modules_.end())
      return false;
    return std::ranges::any_of(modules_, [&](const std::string& module) {
      const std::string leaf = module.substr(module.rfind('.') + 1);
      return is_norm(leaf) && module == beside(stack, leaf);
    });
  }

  static bool is_norm(std::string_view module) {
    const std::optional<PlaceInModel> place = place_in_model(module);
    return place && place->part == &scope::norm && !place->number;
  }

  // Of what goes into modules only what goes into an output layer has a name: the heads side by side.
  std::optional<std::string> name_of_taken(const MatrixFile& file) const {
    const std::string rest = file.name.substr(input_prefix.size());
    const std::optional<std::string> module = from_focus(rest.substr(0, rest.rfind('.')));
    if (!module || module->empty() || command_->takes_model()) return std::nullopt;
    const AroundLinear* const linear = linear_called(*module);
    return linear && linear->taken ? std::optional(beside(*module, linear->taken->leaf)) : std::nullopt;
  }

  NamedMatrices& all_;
  std::string where_;
  Json about_ = Json::object();
  std::vector<std::string> modules_;        // those that have a type, by their names
  std::string focus_;                       // the module that is compared, by its name; empty: the recorded one
  std::optional<AdditiveLayers> additive_;  // what it has, where it is an additive attention
  const Command* command_ = nullptr;
  std::string_view kind_;           // the command of its inputs
  std::optional<Shape> embedding_;  // words × numbers, where the parameters have one
  bool makes_logits_ = false;
  std::string path_;
  OptionValues given_;
};

}  // namespace

bool is_recorded(const NamedMatrices& all) { return Recording::is_recorded(all); }

const Command* command_of_file(const std::string& path) {
  if (path == "-") return nullptr;
  try {
    const InputReports only_tried;
    NamedMatrices all = read_all_matrices(path);
    if (Recording::is_recorded(all)) return find_row(commands(), Recording(all, place_of_file(path)).command());
    const RecordedLayout* const row = layout_recorded_as(layout_among(all.matrices));
    return row ? find_row(commands(), row->command) : nullptr;
  } catch (const InputError&) {
    return nullptr;  // whoever reads it tells why
  }
}

void take_recording(const Command& command, const std::string& path, NamedMatrices& all, Arguments& arguments) {
  if (!Recording::is_recorded(all)) return;
  Recording(all, place_of_file(path)).take(command, path, arguments);
}

}  // namespace attn

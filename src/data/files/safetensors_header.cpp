#include "data/files/safetensors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"

namespace attn {

namespace {

constexpr std::string_view metadata_name = "__metadata__";
constexpr std::size_t most_numbers = 16;  // of a shape: more than any tensor has

// Takes the parser's events one by one and refuses the first that has no place in a header, so that nothing
// is held but the entries, however the header is nested.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& where) : where_(where) {}

  SafetensorsHeader take() { return {std::move(entries_), std::move(metadata_)}; }

  bool null() { misplaced(); }
  bool boolean(bool) { misplaced(); }
  bool number_integer(Json::number_integer_t) { misplaced(); }
  bool number_float(Json::number_float_t, const std::string&) { misplaced(); }
  bool binary(Json::binary_t&) { misplaced(); }

  bool number_unsigned(Json::number_unsigned_t value) {
    if (state_ != State::numbers || numbers_->size() == most_numbers) misplaced();
    numbers_->push_back(value);
    return true;
  }

  bool string(std::string& value) {
    if (state_ == State::metadata) {
      if (!metadata_.emplace(member_, std::move(value)).second) {
        fail("{}: its header gives {} twice: the file is damaged, save it again", where_, name_in_quotes(member_));
      }
      return true;
    }
    if (state_ != State::tensor || member_ != "dtype") misplaced();
    fill(entries_.back().type, std::move(value));
    return true;
  }

  bool start_object(std::size_t) {
    if (state_ == State::outside) {
      state_ = State::tensors;
    } else if (state_ == State::tensors && member_ == metadata_name) {
      state_ = State::metadata;
    } else if (state_ == State::tensors) {
      entries_.push_back({member_, {}, {}, {}});
      state_ = State::tensor;
    } else {
      misplaced();
    }
    return true;
  }

  bool end_object() {
    if (state_ == State::tensor) require_whole(entries_.back());
    state_ = state_ == State::tensors ? State::outside : State::tensors;
    return true;
  }

  bool key(std::string& name) {
    member_ = std::move(name);
    return true;
  }

  bool start_array(std::size_t) {
    if (state_ != State::tensor) misplaced();
    if (member_ == "shape") {
      numbers_ = &fill(entries_.back().shape, {});
    } else if (member_ == "data_offsets") {
      numbers_ = &fill(entries_.back().offsets, {});
    } else {
      misplaced();
    }
    state_ = State::numbers;
    return true;
  }

  bool end_array() {
    state_ = State::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    fail("{}: its header is not JSON from byte {} on: the file is damaged, save it again", where_, position);
  }

 private:
  enum class State { outside, tensors, metadata, tensor, numbers };

  [[noreturn]] void misplaced() const {
    if (state_ == State::outside) {
      fail("{}: its header is not an object of tensors: the file is damaged, save it again", where_);
    }
    const bool within = state_ == State::tensor || state_ == State::numbers;
    const std::string of_tensor = within ? fmt::format(" of {}", name_in_quotes(entries_.back().name)) : "";
    fail("{}: its header gives {}{} a value that does not belong there: the file is damaged, save it again", where_,
         name_in_quotes(member_), of_tensor);
  }

  template <class T>
  T& fill(std::optional<T>& member, T value) {
    if (member) {
      fail("{}: its header gives the {} of {} twice: the file is damaged, save it again", where_, member_,
           name_in_quotes(entries_.back().name));
    }
    return member.emplace(std::move(value));
  }

  void require_whole(const SafetensorsEntry& entry) const {
    const auto require = [&](bool given, std::string_view member) {
      if (given) return;
      fail("{}: its header gives no {} for {}: the file is damaged, save it again", where_, member,
           name_in_quotes(entry.name));
    };
    require(entry.type.has_value(), "dtype");
    require(entry.shape.has_value(), "shape");
    require(entry.offsets.has_value(), "data_offsets");
  }

  const std::string& where_;
  std::vector<SafetensorsEntry> entries_;
  SafetensorsMetadata metadata_;
  State state_ = State::outside;
  std::string member_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
};

void refuse_duplicates(const std::vector<SafetensorsEntry>& entries, const std::string& where) {
  std::vector<std::string_view> names;
  for (const SafetensorsEntry& entry : entries) names.push_back(entry.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    fail("{}: its header names {} twice: the file is damaged, save it again", where, name_in_quotes(*twice));
  }
}

// In ASCII: what is no ASCII is escaped.
std::string text_in_json(const std::string& text) { return Json(text).dump(-1, ' ', true); }

std::string name_in_json(const std::string& name) {
  if (name == metadata_name) {
    throw OutputError("'__metadata__' cannot be the name of a tensor in a .safetensors file: choose another");
  }
  try {
    return Json(name).dump();
  } catch (const Json::type_error&) {
    throw OutputError(
        fmt::format("the name {} is not UTF-8, as .safetensors files need: choose another", name_in_quotes(name)));
  }
}

}  // namespace

SafetensorsHeader read_safetensors_header(std::string_view json, const std::string& where) {
  HeaderReader reader(where);
  Json::sax_parse(json.begin(), json.end(), &reader);
  SafetensorsHeader header = reader.take();
  refuse_duplicates(header.entries, where);
  return header;
}

std::string safetensors_header(const std::vector<WrittenTensor>& tensors, const SafetensorsMetadata& metadata,
                               FloatSize size) {
  constexpr std::size_t alignment = 8;
  const std::string_view type = size == FloatSize::four_bytes ? "F32" : "F64";
  std::string header = "{";
  if (!metadata.empty()) {
    std::string texts;
    for (const auto& [name, text] : metadata)
      texts += fmt::format("{}{}:{}", texts.empty() ? "" : ",", text_in_json(name), text_in_json(text));
    header += fmt::format(R"("{}":{{{}}},)", metadata_name, texts);
  }
  std::size_t end = 0;
  for (const WrittenTensor& tensor : tensors) {
    const auto [rows, columns] = tensor.matrix->shape();
    const std::size_t begin = end;
    end += tensor.matrix->size() * static_cast<std::size_t>(size);
    header += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", begin == 0 ? "" : ",",
                          name_in_json(tensor.name), type,
                          tensor.dimensions == 1 ? fmt::format("{}", columns) : fmt::format("{},{}", rows, columns),
                          begin, end);
  }
  header += '}';
  header.append((alignment - header.size() % alignment) % alignment, ' ');
  return header;
}

}  // namespace attn

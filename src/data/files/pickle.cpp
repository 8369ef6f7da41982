#include "data/files/pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

using Values = std::vector<const PickleValue*>;

// What is made of a call's arguments; nothing: they are not as they should be.
using Call = std::optional<PickleValue> (*)(std::span<const PickleValue* const> arguments);

// --- what is known of other modules

const PickledList* list_at(std::span<const PickleValue* const> values, std::size_t i) {
  return i < values.size() ? values[i]->as<PickledList>() : nullptr;
}

std::optional<std::vector<std::uint64_t>> sizes_in(const PickledList* list) {
  constexpr std::size_t most_dimensions = 16;
  if (!list || list->values.size() > most_dimensions) return std::nullopt;
  std::vector<std::uint64_t> sizes;
  for (const PickleValue* value : list->values) {
    const auto* const size = value->as<std::int64_t>();
    if (!size || *size < 0) return std::nullopt;
    sizes.push_back(static_cast<std::uint64_t>(*size));
  }
  return sizes;
}

// A storage, the place of the first number, sizes, strides, and what does not matter here.
std::optional<PickleValue> rebuilt_tensor(std::span<const PickleValue* const> arguments) {
  if (arguments.size() < 4) return std::nullopt;
  const auto* const storage = arguments[0]->as<PickledStorage>();
  const auto* const offset = arguments[1]->as<std::int64_t>();
  std::optional<std::vector<std::uint64_t>> sizes = sizes_in(list_at(arguments, 2));
  std::optional<std::vector<std::uint64_t>> strides = sizes_in(list_at(arguments, 3));
  if (!storage || !offset || *offset < 0 || !sizes || !strides || sizes->size() != strides->size()) return std::nullopt;
  return PickleValue{
      PickledTensor{*storage, static_cast<std::uint64_t>(*offset), std::move(*sizes), std::move(*strides)}};
}

std::optional<PickleValue> rebuilt_parameter(std::span<const PickleValue* const> arguments) {
  if (arguments.empty() || !arguments[0]->as<PickledTensor>()) return std::nullopt;
  return *arguments[0];
}

// Empty, or of pairs.
std::optional<PickleValue> made_dictionary(std::span<const PickleValue* const> arguments) {
  PickledDictionary dictionary;
  if (const PickledList* const pairs = list_at(arguments, 0)) {
    for (const PickleValue* value : pairs->values) {
      const auto* const pair = value->as<PickledList>();
      if (!pair || pair->values.size() != 2) return std::nullopt;
      dictionary.members.emplace_back(pair->values[0], pair->values[1]);
    }
  }
  return PickleValue{std::move(dictionary)};
}

std::optional<PickleValue> made_size(std::span<const PickleValue* const> arguments) {
  if (!sizes_in(list_at(arguments, 0))) return std::nullopt;
  return *arguments[0];
}

std::optional<PickleValue> nothing_of_use(std::span<const PickleValue* const>) { return PickleValue{}; }

// What a state dictionary may name: types of numbers, things that are called, and things that are only named.
struct Known {
  std::string_view name;
  std::string_view type = {};
  Call call = nullptr;
};
constexpr Known known_things[] = {
    {"torch.FloatStorage", "F32"},
    {"torch.DoubleStorage", "F64"},
    {"torch.HalfStorage", "F16"},
    {"torch.BFloat16Storage", "BF16"},
    {"torch.LongStorage", "I64"},
    {"torch.IntStorage", "I32"},
    {"torch.ShortStorage", "I16"},
    {"torch.CharStorage", "I8"},
    {"torch.ByteStorage", "U8"},
    {"torch.BoolStorage", "BOOL"},
    {"torch._utils._rebuild_tensor_v2", {}, rebuilt_tensor},
    {"torch._utils._rebuild_tensor", {}, rebuilt_tensor},
    {"torch._utils._rebuild_parameter", {}, rebuilt_parameter},
    {"collections.OrderedDict", {}, made_dictionary},
    {"collections.defaultdict", {}, nothing_of_use},
    {"torch.Size", {}, made_size},
    {"torch.device", {}, nothing_of_use},
    {"torch.float32"},
    {"torch.float64"},
    {"torch.float16"},
    {"torch.bfloat16"},
    {"torch.int64"},
    {"builtins.dict"},
    {"__builtin__.dict"},
    {"builtins.list"},
    {"__builtin__.list"},
    {"builtins.set", {}, nothing_of_use},
    {"__builtin__.set", {}, nothing_of_use},
};

// What tensors of numbers that are not read name.
struct UnreadNumbers {
  std::string_view name;
  std::string_view what;
  std::string_view way_out;
};
constexpr std::string_view without_them = "leave these tensors out of the state dictionary",
                           as_real = "save them as real numbers, with .dequantize()",
                           as_dense = "save them with all of their numbers, with .to_dense()";
constexpr UnreadNumbers unread_numbers[] = {
    {"torch.ComplexFloatStorage", "complex numbers", without_them},
    {"torch.ComplexDoubleStorage", "complex numbers", without_them},
    {"torch.QInt8Storage", "quantized numbers", as_real},
    {"torch.QUInt8Storage", "quantized numbers", as_real},
    {"torch.QInt32Storage", "quantized numbers", as_real},
    {"torch.QUInt4x2Storage", "quantized numbers", as_real},
    {"torch.QUInt2x4Storage", "quantized numbers", as_real},
    {"torch._utils._rebuild_qtensor", "quantized numbers", as_real},
    {"torch._utils._rebuild_sparse_tensor", "sparse tensors", as_dense},
};

// --- the machine

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& where) : rest_(bytes), where_(where), most_copied_(bytes.size()) {}

  Pickle run() && {
    while (!is_done_) step();
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void damaged() const { fail("{}: its pickle is damaged: save the file again", where_); }

  // --- bytes

  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) damaged();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::size_t count) {
    std::uint64_t number = 0;
    const std::string_view taken = bytes(count);
    for (std::size_t i = count; i-- > 0;) number = number << 8U | static_cast<unsigned char>(taken[i]);
    return number;
  }
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) damaged();
    const std::string_view taken = bytes(end + 1);
    return taken.substr(0, end);
  }

  // --- the stack

  void push(PickleValue value) { stack_.push_back(&pickle_.values.emplace_back(std::move(value))); }
  template <class T>
  void push_value(T value) {
    push(PickleValue{std::move(value)});
  }
  const PickleValue* pop() {
    if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) damaged();
    const PickleValue* const value = stack_.back();
    stack_.pop_back();
    return value;
  }
  const PickleValue* top() const {
    if (stack_.empty()) damaged();
    return stack_.back();
  }
  // What stands above the last mark.
  Values popped_to_mark() {
    if (marks_.empty()) damaged();
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    Values values(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return values;
  }
  Values popped(std::size_t count) {
    Values values(count);
    for (std::size_t i = count; i-- > 0;) values[i] = pop();
    return values;
  }
  // All values are the machine's own, and it made them to be changed.
  PickleValue& changeable_top() { return const_cast<PickleValue&>(*top()); }

  void append(const Values& values) {
    auto* const list = std::get_if<PickledList>(&changeable_top().value);
    if (list) list->values.insert(list->values.end(), values.begin(), values.end());
    // What is added to something that is of no use here is of no use either.
    if (!list && !top()->as<std::monostate>()) damaged();
  }
  void set_items(const Values& values) {
    if (values.size() % 2 != 0) damaged();
    auto* const dictionary = std::get_if<PickledDictionary>(&changeable_top().value);
    if (!dictionary && !top()->as<std::monostate>()) damaged();
    for (std::size_t i = 0; dictionary && i < values.size(); i += 2)
      dictionary->members.emplace_back(values[i], values[i + 1]);
  }

  void remember(std::uint64_t place) { memo_[place] = top(); }
  void recall(std::uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) damaged();
    stack_.push_back(found->second);
  }

  // --- other modules

  [[noreturn]] void refuse(std::string_view name) const {
    if (const UnreadNumbers* const unread = find_row(std::span<const UnreadNumbers>(unread_numbers), name))
      fail("{} has {} ({}), which are not read: {}", where_, unread->what, in_quotes(name), unread->way_out);
    fail(
        "{} wants to run {}, which a file of parameters does not need, and nothing is run: save the state dictionary alone, with torch.save(model.state_dict(), 'parameters.pt')",
        where_, in_quotes(name));
  }

  void name(std::string_view module, std::string_view thing) {
    const std::string whole = fmt::format("{}.{}", module, thing);
    const Known* const found = find_row(std::span<const Known>(known_things), whole);
    if (!found) refuse(whole);
    if (found->type.empty()) {
      push_value(PickledGlobal{found->name});
    } else {
      push_value(PickledStorageType{found->type});
    }
  }
  void name_from_stack() {
    const auto* const thing = pop()->as<std::string_view>();
    const auto* const module = pop()->as<std::string_view>();
    if (!thing || !module) damaged();
    name(*module, *thing);
  }

  void call() {
    const auto* const arguments = pop()->as<PickledList>();
    const auto* const global = pop()->as<PickledGlobal>();
    if (!arguments || !global) damaged();
    const Known* const known = find_row(std::span<const Known>(known_things), global->name);
    if (!known->call) refuse(global->name);
    // What is copied again and again would be more than the bytes.
    const PickledList* const copied = list_at(arguments->values, 0);
    copied_ += copied ? copied->values.size() : 0;
    if (copied_ > most_copied_) damaged();
    std::optional<PickleValue> made = known->call(arguments->values);
    if (!made) damaged();
    push(std::move(*made));
  }

  // What an ordered dictionary has beside its members, such as the versions of modules, is of no use here.
  void build() {
    pop();
    if (!top()->as<PickledDictionary>() && !top()->as<PickledTensor>() && !top()->as<std::monostate>()) damaged();
  }

  // ('storage', type, key, where it was, how many numbers)
  void find_storage() {
    const auto* const id = pop()->as<PickledList>();
    if (!id || id->values.size() < 5) damaged();
    const auto* const what = id->values[0]->as<std::string_view>();
    const auto* const type = id->values[1]->as<PickledStorageType>();
    const auto* const key = id->values[2]->as<std::string_view>();
    const auto* const count = id->values[4]->as<std::int64_t>();
    if (!what || *what != "storage" || !type || !key || !count || *count < 0) damaged();
    push_value(PickledStorage{type->type, *key, static_cast<std::uint64_t>(*count)});
  }

  // --- operations

  // The lowest byte first, and negative where its highest bit is set.
  void push_long(std::uint64_t size) {
    const std::string_view digits = bytes(size);
    if (size > 8) return push({});
    std::uint64_t value =
        !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80U) ? ~std::uint64_t{0} : 0;
    for (std::size_t i = digits.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(digits[i]);
    push_value(static_cast<std::int64_t>(value));
  }
  // The highest byte first.
  void push_float() {
    std::uint64_t bits = 0;
    for (const char byte : bytes(8)) bits = bits << 8U | static_cast<unsigned char>(byte);
    push_value(std::bit_cast<double>(bits));
  }

  // By its first byte (pickletools.opcodes).
  void step() {
    constexpr std::size_t most_values = std::size_t{1} << 21;
    if (stack_.size() > most_values || pickle_.values.size() > most_values)
      fail("{}: its pickle has more than {} values: save the state dictionary alone", where_, most_values);
    const auto operation = static_cast<unsigned char>(number(1));
    switch (operation) {
      case 0x80:  // the version
        bytes(1);
        return;
      case 0x95:  // a frame
        bytes(8);
        return;
      case '.':
        pickle_.made = pop();
        is_done_ = true;
        return;
      case '(':
        marks_.push_back(stack_.size());
        return;
      case '0':
        pop();
        return;
      case '1':
        popped_to_mark();
        return;
      case '2':
        stack_.push_back(top());
        return;
      case 'N':
        return push({});
      case 0x88:
        return push_value(true);
      case 0x89:
        return push_value(false);
      case 'K':
        return push_value(static_cast<std::int64_t>(number(1)));
      case 'M':
        return push_value(static_cast<std::int64_t>(number(2)));
      case 'J':
        return push_value(static_cast<std::int64_t>(static_cast<std::int32_t>(number(4))));
      case 0x8A:
        return push_long(number(1));
      case 0x8B:
        return push_long(number(4));
      case 'G':
        return push_float();
      case 'X':
      case 'T':
      case 'B':
        return push_value(bytes(number(4)));
      case 0x8C:
      case 'U':
      case 'C':
        return push_value(bytes(number(1)));
      case 0x8D:
      case 0x8E:
        return push_value(bytes(number(8)));
      case ']':
        return push_value(PickledList{});
      case ')':
        return push_value(PickledList{});
      case '}':
        return push_value(PickledDictionary{});
      case 0x8F:
        return push({});
      case 'l':
      case 't':
        return push_value(PickledList{popped_to_mark()});
      case 0x85:
        return push_value(PickledList{popped(1)});
      case 0x86:
        return push_value(PickledList{popped(2)});
      case 0x87:
        return push_value(PickledList{popped(3)});
      case 'd': {
        const Values values = popped_to_mark();
        push_value(PickledDictionary{});
        return set_items(values);
      }
      case 'a':
        return append(popped(1));
      case 'e':
        return append(popped_to_mark());
      case 's':
        return set_items(popped(2));
      case 'u':
        return set_items(popped_to_mark());
      case 0x90:
        popped_to_mark();
        return;
      case 0x91:
        popped_to_mark();
        return push({});
      case 'q':
        return remember(number(1));
      case 'r':
        return remember(number(4));
      case 0x94:
        return remember(memo_.size());
      case 'h':
        return recall(number(1));
      case 'j':
        return recall(number(4));
      case 'c': {
        const std::string_view module = line();
        return name(module, line());
      }
      case 0x93:
        return name_from_stack();
      case 'R':
      case 0x81:  // the same for a class
        return call();
      case 'b':
        return build();
      case 'Q':
        return find_storage();
      case 'i': {
        const std::string_view module = line();
        return refuse(fmt::format("{}.{}", module, line()));
      }
      default:
        fail(
            "{}: its pickle has the operation {:#04x}, which state dictionaries do not need: save the state dictionary alone, with torch.save(model.state_dict(), 'parameters.pt')",
            where_, operation);
    }
  }

  std::string_view rest_;
  const std::string& where_;
  std::size_t copied_ = 0, most_copied_;
  Pickle pickle_;
  Values stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, const PickleValue*> memo_;
  bool is_done_ = false;
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& where) {
  constexpr std::uint64_t work_of_byte = 50;
  Budget::take_reading(work_of_byte * bytes.size());
  return Machine(bytes, where).run();
}

}  // namespace attn

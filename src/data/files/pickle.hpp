#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attn {

// Python's pickles, as far as state dictionaries of PyTorch need them (Python's module pickletools names and describes
// the operations). A pickle is a program of a small machine, which can be told to call any function. This one calls
// none: what it knows is a list of things that state dictionaries are made of, and it says what of others was wanted.

struct PickleValue;

/// The type of the numbers that a storage of PyTorch has, by its name in .safetensors files: "F32".
struct PickledStorageType {
  std::string_view type;
};
/// Numbers that lie beside the pickle, under a key.
struct PickledStorage {
  std::string_view type;
  std::string_view key;
  std::uint64_t count = 0;  // of numbers
};
/// A view of a storage: as many numbers each way, and how far apart they are.
struct PickledTensor {
  PickledStorage storage;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> strides;
};
/// A thing of another module, by its name, which a call may follow.
struct PickledGlobal {
  std::string_view name;
};
struct PickledList {
  std::vector<const PickleValue*> values;
};
struct PickledDictionary {
  std::vector<std::pair<const PickleValue*, const PickleValue*>> members;
};

/// What is none of these is a monostate: None, a set, a number of many digits.
struct PickleValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string_view, PickledStorageType, PickledStorage,
               PickledTensor, PickledGlobal, PickledList, PickledDictionary>
      value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

/// What a pickle makes. Its texts are parts of the bytes.
struct Pickle {
  std::deque<PickleValue> values;
  const PickleValue* made = nullptr;
};

/// Throws InputError: damaged, or it wants to call what no state dictionary needs, which is named. Time and memory grow
/// with the bytes.
Pickle read_pickle(std::string_view bytes, const std::string& where);

}  // namespace attn

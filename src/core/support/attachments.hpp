#pragma once

#include <any>
#include <utility>
#include <vector>

namespace attn {

/// At most one thing of each type, found by its type alone. What one maker leaves for one reader hangs here, and
/// whoever stands between them knows nothing of it. Each type is declared in a header of its maker or of
/// its reader.
class Attachments {
 public:
  /// Takes the place of what there is of this type.
  template <class T>
  void put(T thing) {
    of<T>() = std::move(thing);
  }

  /// Null: there is none.
  template <class T>
  const T* find() const {
    for (const std::any& one : things_) {
      if (const T* const found = std::any_cast<T>(&one)) return found;
    }
    return nullptr;
  }

  /// What there is of this type; made where there is none.
  template <class T>
  T& of() {
    for (std::any& one : things_) {
      if (T* const found = std::any_cast<T>(&one)) return *found;
    }
    return things_.emplace_back().emplace<T>();
  }

 private:
  std::vector<std::any> things_;
};

}  // namespace attn

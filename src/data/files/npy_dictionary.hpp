#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The Python dictionary that makes up the header of a .npy file, read strictly: three keys, each once, and
/// nothing else. Throws InputError where it is damaged.
class NpyDictionary {
 public:
  NpyDictionary(std::string_view text, const std::string& where) : text_(text), where_(where) { read(); }

  std::string_view descr;       // the elements' type, as NumPy writes it
  std::string_view shape_text;  // the shape as it stands there, for messages
  std::vector<std::size_t> shape;
  bool fortran_order = false;

 private:
  void read();
  void read_member();
  std::string_view read_string();
  std::string_view read_descr();
  std::string_view read_structure();
  bool read_bool();
  std::vector<std::size_t> read_tuple();
  std::size_t read_size();
  void skip_blanks();
  bool take(char c);
  void expect(char c);
  [[noreturn]] void damaged() const;

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  bool seen_descr_ = false;
  bool seen_order_ = false;
  bool seen_shape_ = false;
};

}  // namespace attn

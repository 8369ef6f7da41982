#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/transformer.hpp"
#include "testing.hpp"

namespace attn {

inline std::string little_bytes(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

inline std::string float_bytes(float number) { return little_bytes(std::bit_cast<std::uint32_t>(number), 4); }

/// A GPT-2 of one layer under the names of Hugging Face, with different numbers.
inline ParameterSet tiny_gpt2() {
  ParameterSet tensors;
  double number = 0;
  const auto add = [&](const std::string& name, Shape shape) {
    tensors.emplace(name, filled(shape, [&] { return number += 0.125; }));
  };
  add("wte.weight", {3, 2});
  add("wpe.weight", {4, 2});
  for (const char* norm : {"h.0.ln_1", "h.0.ln_2", "ln_f"}) {
    add(std::string(norm) + ".weight", {1, 2});
    add(std::string(norm) + ".bias", {1, 2});
  }
  add("h.0.attn.c_attn.weight", {2, 6});
  add("h.0.attn.c_attn.bias", {1, 6});
  add("h.0.attn.c_proj.weight", {2, 2});
  add("h.0.attn.c_proj.bias", {1, 2});
  add("h.0.mlp.c_fc.weight", {2, 8});
  add("h.0.mlp.c_fc.bias", {1, 8});
  add("h.0.mlp.c_proj.weight", {8, 2});
  add("h.0.mlp.c_proj.bias", {1, 2});
  return tensors;
}

/// What is said of a model, and its tensors, as a file of GGUF.
struct GgufWriter {
  std::string values, infos, data;
  std::size_t count_of_values = 0, count_of_tensors = 0;
  std::size_t version = 3;

  static std::string text(std::string_view text) { return little_bytes(text.size(), 8) + std::string(text); }
  void say(std::string_view name, std::uint32_t type, const std::string& bytes) {
    values += text(name) + little_bytes(type, 4) + bytes;
    ++count_of_values;
  }
  // The sizes as the file has them, the innermost first.
  void add(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
           const std::string& numbers) {
    infos += text(name) + little_bytes(sizes.size(), 4);
    for (const std::uint64_t size : sizes) infos += little_bytes(size, 8);
    infos += little_bytes(type, 4) + little_bytes(data.size(), 8);
    data += numbers;
    data.resize((data.size() + 31) / 32 * 32);
    ++count_of_tensors;
  }
  void say_text(std::string_view name, std::string_view value) { say(name, 8, text(value)); }
  void say_flag(std::string_view name, bool value) { say(name, 7, little_bytes(value ? 1 : 0, 1)); }
  void say_number(std::string_view name, std::uint32_t value) { say(name, 4, little_bytes(value, 4)); }
  void say_texts(std::string_view name, const std::vector<std::string_view>& texts) {
    std::string all;
    for (const std::string_view one : texts) all += text(one);
    say(name, 9, little_bytes(8, 4) + little_bytes(texts.size(), 8) + all);
  }
  void say_whole(std::string_view name, const std::vector<int>& numbers) {
    std::string all;
    for (const int number : numbers) all += little_bytes(static_cast<std::uint32_t>(number), 4);
    say(name, 9, little_bytes(5, 4) + little_bytes(numbers.size(), 8) + all);
  }
  void say_reals(std::string_view name, const std::vector<float>& numbers) {
    std::string all;
    for (const float number : numbers) all += float_bytes(number);
    say(name, 9, little_bytes(6, 4) + little_bytes(numbers.size(), 8) + all);
  }
  std::string bytes() const {
    std::string all = "GGUF" + little_bytes(version, 4) + little_bytes(count_of_tensors, 8) +
                      little_bytes(count_of_values, 8) + values + infos;
    all.resize((all.size() + 31) / 32 * 32);
    return all + data;
  }
};

/// Maps of GPT-2 lie there as (out, in).
inline GgufWriter gguf_of_gpt2() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> names = {{
      {"wte.weight", "token_embd.weight"},
      {"wpe.weight", "position_embd.weight"},
      {"h.0.ln_1.weight", "blk.0.attn_norm.weight"},
      {"h.0.ln_1.bias", "blk.0.attn_norm.bias"},
      {"h.0.attn.c_attn.weight", "blk.0.attn_qkv.weight"},
      {"h.0.attn.c_attn.bias", "blk.0.attn_qkv.bias"},
      {"h.0.attn.c_proj.weight", "blk.0.attn_output.weight"},
      {"h.0.attn.c_proj.bias", "blk.0.attn_output.bias"},
      {"h.0.ln_2.weight", "blk.0.ffn_norm.weight"},
      {"h.0.ln_2.bias", "blk.0.ffn_norm.bias"},
      {"h.0.mlp.c_fc.weight", "blk.0.ffn_up.weight"},
      {"h.0.mlp.c_fc.bias", "blk.0.ffn_up.bias"},
      {"h.0.mlp.c_proj.weight", "blk.0.ffn_down.weight"},
      {"h.0.mlp.c_proj.bias", "blk.0.ffn_down.bias"},
      {"ln_f.weight", "output_norm.weight"},
      {"ln_f.bias", "output_norm.bias"},
  }};
  GgufWriter file;
  file.say("general.architecture", 8, GgufWriter::text("gpt2"));
  file.say("gpt2.attention.head_count", 4, little_bytes(1, 4));
  file.say("gpt2.attention.layer_norm_epsilon", 6, float_bytes(1e-5F));
  const ParameterSet tensors = tiny_gpt2();
  for (const auto& [theirs, gguf] : names) {
    const Matrix& given = tensors.at(std::string(theirs));
    const bool is_map = theirs.starts_with("h.") && given.shape().rows > 1;
    const Matrix matrix = is_map ? transposed(given) : given;
    std::string bytes;
    for (const double cell : cells(matrix)) bytes += float_bytes(static_cast<float>(cell));
    file.add(gguf, {matrix.shape().columns, matrix.shape().rows}, 0, bytes);
  }
  return file;
}

}  // namespace attn

#include "fuzz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "command/app.hpp"
#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "data/files/file_access.hpp"

namespace attn::fuzz {
namespace {

// Made when it is first asked for, and gone when the process ends.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attn-fuzz-XXXXXX").string();
    require(mkdtemp(pattern.data()) != nullptr, "there is a folder for the files of a case");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const Target* chosen = nullptr;

const Target* target_called(std::string_view name) {
  for (const std::span<const Target> group : {readers(), computations(), documents(), texts(), tokenizers()}) {
    for (const Target& target : group) {
      if (target.name == name) return &target;
    }
  }
  return nullptr;
}

// libFuzzer itself passes over what begins with two dashes, and hands it on to the processes that it starts.
void choose(std::span<char*> arguments) {
  constexpr std::string_view option = "--target=";
  for (const std::string_view argument : arguments) {
    if (argument.starts_with(option)) chosen = target_called(argument.substr(option.size()));
    if (argument != "--list") continue;
    for (const std::span<const Target> group : {readers(), computations(), documents(), texts(), tokenizers()}) {
      for (const Target& target : group) fmt::print("{}\n", target.name);
    }
    std::fflush(stdout);
    std::_Exit(0);
  }
  if (chosen) return;
  fmt::print(stderr, "give --target=NAME; --list names all targets\n");
  std::_Exit(2);
}

Environment environment(bool at_terminal) {
  Environment environment;
  environment.variable = [at_terminal](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "LC_ALL") return "C.UTF-8";
    if (at_terminal && std::string_view(name) == "TERM") return "xterm-256color";
    return std::nullopt;
  };
  environment.output_is_terminal = at_terminal;
  environment.terminal_width = at_terminal ? 60 : 0;
  return environment;
}

}  // namespace

void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "this does not hold: {}\n", what);
  std::abort();
}

const std::string& folder() {
  static const Folder folder;
  return folder.path();
}

void write_case(std::string_view name, std::string_view bytes) {
  const std::string path = folder() + "/" + std::string(name);
  const File file(std::fopen(path.c_str(), "wb"), std::fclose);
  require(file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size(),
          "the file of a case can be written");
}

std::string output_of(const std::vector<std::string>& words, bool at_terminal) {
  const FolderConfinement confined(folder());
  const Budget budget(of_case);
  const Environment world = environment(at_terminal);
  const AnswerInFormat answer = attn::answer(words, world);
  if (answer.session) return "";
  return printed([&](Sink& sink) { answer.format->render(answer.page, answer.style, sink); });
}

bool is_quick(const std::vector<std::string>& words) {
  const auto is_large = [](const std::string& word) {
    std::size_t digits = 0;
    const auto third_digit = [&](char c) { return (digits = c >= '0' && c <= '9' ? digits + 1 : 0) == 3; };
    return word.find("base") != std::string::npos || std::ranges::any_of(word, third_digit);
  };
  return std::ranges::none_of(words, is_large);
}

RunCommand quick_runner() {
  return [run = block_runner()](const std::vector<std::string>& words, const BlockStyle& style) {
    if (!is_quick(words)) fail("this command takes long");
    const Budget budget(of_case);
    return run(words, style);
  };
}

bool same_numbers(const Matrix& one, const Matrix& other) {
  return one.shape() == other.shape() && std::ranges::equal(cells(one), cells(other), [](double a, double b) {
           return a == b || (std::isnan(a) && std::isnan(b));
         });
}

}  // namespace attn::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  attn::fuzz::choose({*argv, static_cast<std::size_t>(*argc)});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    attn::fuzz::chosen->run(bytes);
  } catch (const attn::Complaint& complaint) {
    attn::fuzz::require(!std::string_view(complaint.what()).empty(), "an error has a sentence");
  }
  return 0;
}

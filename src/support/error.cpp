#include "support/error.hpp"

namespace attn {
namespace {

std::string without_nul(const std::string& sentence) {
  std::string result;
  for (const char c : sentence) {
    if (c == '\0') {
      result += "\uFFFD";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Complaint::Complaint(const std::string& sentence) : std::runtime_error(without_nul(sentence)) {}

}  // namespace attn

#include "data/files/line_reader.hpp"

#include <algorithm>

namespace attn {

LineReader::LineReader(const std::string& path)
    : path_(path), file_(open_file(path)), buffer_(longest_line, '\0') {
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // the buffer here serves
}

std::optional<Line> LineReader::next() {
  if (skip_) skip_to_line_end();
  std::size_t length = rest().find('\n');
  while (length == std::string_view::npos && refill()) length = rest().find('\n');
  if (begin_ == end_) return std::nullopt;
  ++number_;
  skip_ = length == std::string_view::npos && rest().size() == buffer_.size();
  std::string_view text = rest().substr(0, length);
  begin_ = length == std::string_view::npos ? end_ : begin_ + length + 1;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (number_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return Line{text, number_, skip_};
}

// Reads on behind what is left. False when the buffer is full or the file has ended.
bool LineReader::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  const std::size_t came = read_some(file_.get(), buffer_.data() + end_, buffer_.size() - end_, path_);
  end_ += came;
  return came > 0;
}

void LineReader::skip_to_line_end() {
  skip_ = false;
  for (;;) {
    const std::size_t length = rest().find('\n');
    if (length != std::string_view::npos) {
      begin_ += length + 1;
      return;
    }
    begin_ = end_;
    if (!refill()) return;
  }
}

}  // namespace attn

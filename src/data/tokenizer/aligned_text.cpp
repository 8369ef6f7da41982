#include "data/tokenizer/aligned_text.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"

namespace attn {

void TextRoom::take(std::size_t bytes) {
  constexpr std::uint64_t work_of_making = 8;
  if (bytes > most_ - taken_)
    fail("the tokenizer makes more than {} bytes of a shorter text: give the tokenizer of another model", most_);
  taken_ += bytes;
  Budget::take_reading(work_of_making * bytes);
}

AlignedText::AlignedText(std::string_view original) : text_(original), original_bytes_(original.size()) {}

namespace {}  // namespace

void AlignedText::Places::reserve(std::size_t count) {
  begins.reserve(count);
  bytes.reserve(count);
}

void AlignedText::Places::add(std::size_t count, Place place) {
  begins.insert(begins.end(), count, place.begin);
  bytes.insert(bytes.end(), count, place.bytes);
}

AlignedText::Places AlignedText::Places::part(ByteRange range) const {
  const auto begin = static_cast<std::ptrdiff_t>(range.begin), end = static_cast<std::ptrdiff_t>(range.end);
  return {{begins.begin() + begin, begins.begin() + end}, {bytes.begin() + begin, bytes.begin() + end}};
}

AlignedText::Place AlignedText::place_of(std::size_t byte) const {
  if (!places_.empty()) return places_.at(byte);
  std::size_t first = byte, last = byte + 1;
  while (first > 0 && continues_character(text_[first])) --first;
  while (last < text_.size() && continues_character(text_[last])) ++last;
  return {static_cast<std::uint32_t>(begin_ + first), static_cast<std::uint8_t>(last - first)};
}

void AlignedText::change(const std::function<void(const TakeChanged& take)>& make, std::size_t dropped) {
  std::size_t at = 0;  // of the next character that something takes the place of
  const auto pass = [&] {
    if (at < text_.size()) at += code_point_at(text_, at).size;
  };
  for (std::size_t i = 0; i < dropped; ++i) pass();
  TextRoom room(original_bytes_);
  std::string text;
  Places places;
  text.reserve(text_.size());
  places.reserve(text_.size());
  make([&](const ChangedChar& changed) {
    // What is new stands where the character before it stands.
    Place place = nowhere();
    if (changed.change <= 0 && at < text_.size()) place = place_of(at);
    if (changed.change > 0 && at > 0) place = place_of(at - 1);
    for (int passed = changed.change; passed <= 0; ++passed) pass();
    const std::size_t before = text.size();
    append_code_point(text, changed.code);
    room.take(text.size() - before);
    places.add(text.size() - before, place);
  });
  text_ = std::move(text);
  places_ = std::move(places);
}

void AlignedText::keep_if(bool (*holds)(char32_t)) {
  const auto first_kept = [&] {
    std::size_t dropped = 0;
    for (std::size_t at = 0; at < text_.size(); ++dropped) {
      const auto [code, size] = code_point_at(text_, at);
      if (holds(code)) break;
      at += size;
    }
    return dropped;
  };
  const auto keep = [&](const TakeChanged& take) {
    ChangedChar kept{};
    bool has_kept = false;
    for (std::size_t at = 0; at < text_.size();) {
      const auto [code, size] = code_point_at(text_, at);
      at += size;
      if (!holds(code)) {
        if (has_kept) --kept.change;
        continue;
      }
      if (has_kept) take(kept);
      kept = {code, 0};
      has_kept = true;
    }
    if (has_kept) take(kept);
  };
  change(keep, first_kept());
}

void AlignedText::prepend(std::string_view what) {
  if (text_.empty() || what.empty()) return;
  TextRoom(original_bytes_).take(text_.size() + what.size());
  Places places;
  places.reserve(text_.size() + what.size());
  places.add(what.size(), place_of(0));
  for (std::size_t byte = 0; byte < text_.size(); ++byte) places.add(1, place_of(byte));
  places_ = std::move(places);
  text_.reserve(text_.size() + what.size());
  text_.insert(0, what);
}

void AlignedText::replace(const std::function<void(const TakeRange& take)>& find, std::string_view by) {
  std::string text;
  Places places;
  std::size_t copied = 0;
  bool is_changed = false;
  TextRoom room(original_bytes_);
  const auto copy_to = [&](std::size_t end) {
    room.take(end - copied);
    text.append(text_, copied, end - copied);
    for (; copied < end; ++copied) places.add(1, place_of(copied));
  };
  find([&](const ByteRange& range) {
    if (!is_changed) {
      text.reserve(text_.size());
      places.reserve(text_.size());
      is_changed = true;
    }
    copy_to(range.begin);
    room.take(by.size());
    const Place place = range.end == 0 ? nowhere() : place_of(range.end - 1);
    text += by;
    places.add(by.size(), place);
    copied = range.end;
  });
  if (!is_changed) return;
  copy_to(text_.size());
  text_ = std::move(text);
  places_ = std::move(places);
}

AlignedText AlignedText::part(ByteRange range) const {
  AlignedText result;
  result.text_ = text_.substr(range.begin, range.end - range.begin);
  if (!places_.empty()) result.places_ = places_.part(range);
  result.begin_ = original(range).begin;
  result.original_bytes_ = original_bytes_;
  return result;
}

ByteRange AlignedText::original(ByteRange range) const {
  if (range.begin >= range.end) return {begin_, begin_};
  const Place last = place_of(range.end - 1);
  return {place_of(range.begin).begin, std::size_t{last.begin} + last.bytes};
}

}  // namespace attn

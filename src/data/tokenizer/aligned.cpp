#include "data/tokenizer/aligned.hpp"

#include <algorithm>

namespace attn {

AlignedText::AlignedText(std::string_view original) : text_(original) {
  places_.reserve(original.size());
  for (std::size_t at = 0; at < original.size();) {
    const std::size_t size = code_point_at(original, at).size;
    const Place place = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + size)};
    places_.insert(places_.end(), size, place);
    at += size;
  }
}

void AlignedText::change_part(ByteRange range, std::span<const ChangedChar> to, std::size_t dropped) {
  std::size_t at = range.begin;  // of the next character that something takes the place of
  const auto take = [&] {
    if (at < range.end) at += code_point_at(text_, at).size;
  };
  for (std::size_t i = 0; i < dropped; ++i) take();
  std::string text;
  std::vector<Place> places;
  text.reserve(range.end - range.begin);
  places.reserve(range.end - range.begin);
  for (const auto& [code, change] : to) {
    // What is new stands where the character before it stands.
    const auto start = static_cast<std::uint32_t>(begin_);
    Place place = {start, start};
    if (change <= 0 && at < places_.size()) place = places_[at];
    if (change > 0 && at > 0) place = places_[at - 1];
    if (change <= 0) {
      for (int taken = 0; taken <= -change; ++taken) take();
    }
    const std::size_t before = text.size();
    append_code_point(text, code);
    places.insert(places.end(), text.size() - before, place);
  }
  if (range.begin == 0 && range.end == text_.size()) {
    text_ = std::move(text);
    places_ = std::move(places);
    return;
  }
  text_.replace(range.begin, range.end - range.begin, text);
  const auto first = places_.begin() + static_cast<std::ptrdiff_t>(range.begin);
  const auto rest = places_.erase(first, places_.begin() + static_cast<std::ptrdiff_t>(range.end));
  places_.insert(rest, places.begin(), places.end());
}

void AlignedText::change(std::span<const ChangedChar> to, std::size_t dropped) {
  change_part({0, text_.size()}, to, dropped);
}

void AlignedText::keep_if(bool (*holds)(char32_t)) {
  std::vector<ChangedChar> kept;
  std::size_t dropped = 0;
  for (const char32_t c : code_points_of(text_)) {
    if (holds(c)) {
      kept.push_back({c, 0});
    } else if (kept.empty()) {
      ++dropped;
    } else {
      --kept.back().change;
    }
  }
  change(kept, dropped);
}

void AlignedText::prepend(std::string_view what) {
  if (text_.empty()) return;
  const auto [first, size] = code_point_at(text_, 0);
  std::vector<ChangedChar> to;
  for (const char32_t c : code_points_of(what)) to.push_back({c, to.empty() ? 0 : 1});
  if (to.empty()) return;
  to.push_back({first, 1});
  change_part({0, size}, to, 0);
}

void AlignedText::append(std::string_view what) {
  if (text_.empty()) return;
  for (const char32_t c : code_points_of(what)) {
    const std::size_t before = text_.size();
    append_code_point(text_, c);
    places_.insert(places_.end(), text_.size() - before, places_.back());
  }
}

void AlignedText::replace(std::span<const ByteRange> ranges, std::string_view by) {
  if (ranges.empty()) return;
  std::string text;
  std::vector<Place> places;
  std::size_t copied = 0;
  const auto copy_to = [&](std::size_t end) {
    text.append(text_, copied, end - copied);
    places.insert(places.end(), places_.begin() + static_cast<std::ptrdiff_t>(copied),
                  places_.begin() + static_cast<std::ptrdiff_t>(end));
    copied = end;
  };
  for (const auto& [begin, end] : ranges) {
    copy_to(begin);
    const auto start = static_cast<std::uint32_t>(begin_);
    const Place place = end == 0 ? Place{start, start} : places_[end - 1];
    text += by;
    places.insert(places.end(), by.size(), place);
    copied = end;
  }
  copy_to(text_.size());
  text_ = std::move(text);
  places_ = std::move(places);
}

AlignedText AlignedText::part(ByteRange range) const {
  AlignedText result;
  result.text_ = text_.substr(range.begin, range.end - range.begin);
  result.places_.assign(places_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                        places_.begin() + static_cast<std::ptrdiff_t>(range.end));
  result.begin_ = original(range).begin;
  return result;
}

ByteRange AlignedText::original(ByteRange range) const {
  if (range.begin >= range.end) return {begin_, begin_};
  return {places_[range.begin].begin, places_[range.end - 1].end};
}

}  // namespace attn

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/problem/model_words.hpp"
#include "school/training/example.hpp"

namespace attn {

/// No text that is trained on has more bytes, and no window more pieces.
constexpr std::size_t most_text = std::size_t{1} << 22, most_window = 1024;

/// A text to learn, and how it is taken apart.
struct TextSource {
  std::string name;  // of its file, or what it is
  std::string text;
  std::size_t subwords = 0;  // pieces that are learned from it; 0: its characters
  std::size_t window = 64;   // pieces that a model is given at a time
};

/// What a model has to be better than: the loss of a piece by counts of the training part.
struct CountedLosses {
  double by_frequency = 0.0;  // of pieces: (c(b) + 1) / (n + V)
  double by_pair = 0.0;       // of pairs: (c(ab) + t(a) p(b)) / (c(a) + t(a)), with t(a) different pieces that follow a
};

/// A text in pieces: what is trained on, and what is held out. It is cut into blocks of 2,000 characters, or of a text
/// shorter than 20 such blocks into 20; every tenth is held out. So the text alone decides, and no seed.
struct TextWindows {
  TextSource from;
  ModelWords words;                    // characters of the training part, or subwords that were learned from it
  std::vector<Ids> runs;               // of the training part: what stands between two blocks that are held out
  std::vector<TaskExample> held_out;   // windows, one after the other
  std::size_t characters = 0;          // of the whole text
  std::size_t trained_characters = 0;  // of the training part
  std::size_t left_out = 0;            // characters of what is held out that the training part does not have
  double characters_per_piece = 1.0;   // of what is held out
  CountedLosses counted = {};          // on the windows that are held out

  /// What is decided by these pieces, of which each predicts the next.
  TaskExample window_at(const Ids& run, std::size_t begin) const;
  /// Any window of the training part, each as probable.
  TaskExample any_window(Generator& generator) const;
};

/// Throws InputError: a text that is empty, too long, too short for its window, not UTF-8, or of one character alone;
/// fewer subwords than there are bytes.
std::shared_ptr<const TextWindows> windows_of(TextSource source);

/// Some words of a model as a reader sees them in a line: pieces without anything between them.
std::string line_of(const ModelWords& words, const std::vector<std::string>& shown);

/// The prose of this course, as tests/trained/course_text.py takes it from the lessons, at one time: new lessons do not
/// change what is learned from it.
std::string_view course_text();

}  // namespace attn

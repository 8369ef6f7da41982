#pragma once

#include <filesystem>
#include <fstream>

#include "core/support/outside.hpp"
#include "process.hpp"

/// A terminal with a folder of its own for the file of the progress.
class KeepingTerminal : public attn::Terminal {
 public:
  void prepare_to_save(const std::string&) override {}
  void save(const attn::FileToWrite& file) override { std::ofstream(file.path, std::ios::binary) << file.bytes; }
  void alone_with(const std::string&, const std::function<void()>& action) override { action(); }
  void rename(const std::string& path, const std::string& name) override { std::filesystem::rename(path, name); }

  std::string state() const { return folder_.path("state"); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
};

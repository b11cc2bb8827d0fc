// Lines of a file that another process, perhaps on another machine, is still writing.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace strato::slurm {

class FileLines {
 public:
  explicit FileLines(std::filesystem::path file) : file_(std::move(file)) {}

  // A whole line that is there by now, without its end.
  std::optional<std::string> take() {
    std::size_t end = pending_.find('\n');
    if (end == std::string::npos) {
      read_more();
      end = pending_.find('\n');
    }
    if (end == std::string::npos) return std::nullopt;
    std::string line = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return line;
  }

 private:
  // Opened anew each time: a network file system then asks its server what there is.
  void read_more() {
    std::ifstream input(file_, std::ios::binary);
    if (!input.seekg(static_cast<std::streamoff>(read_))) return;
    std::string bytes(kMost, '\0');
    input.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    read_ += static_cast<std::uint64_t>(input.gcount());
    pending_.append(bytes, 0, static_cast<std::size_t>(input.gcount()));
  }

  static constexpr std::size_t kMost = 1 << 16;
  std::filesystem::path file_;
  std::uint64_t read_ = 0;
  std::string pending_;
};

}  // namespace strato::slurm

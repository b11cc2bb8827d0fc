// Inside core/trace only: the text of a file, plain or compressed with gzip, as a stream that
// holds one piece at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <streambuf>
#include <string>

#include "core/trace/text/clean_text.h"

struct gzFile_s;  // of zlib

namespace strato::trace {

class TextSource : public std::streambuf {
 public:
  explicit TextSource(const std::filesystem::path& file);  // throws InputError
  ~TextSource() override;
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  bool at_end() const { return ended_ && gptr() == egptr(); }
  // The compressed data are damaged, end too soon, or unfold to far more than any trace does.
  bool broken() const { return broken_; }
  std::size_t mended() const { return cleaner_.mended(); }

 protected:
  int_type underflow() override;

 private:
  bool unfolds_too_far() const;

  gzFile_s* gz_;
  CleanText cleaner_;
  std::string raw_, clean_;
  std::uint64_t unfolded_ = 0;  // bytes so far
  bool ended_ = false, broken_ = false;
};

// The first bytes of the file, unpacked where it is compressed with gzip. Throws InputError.
std::string beginning_of(const std::filesystem::path& file, std::size_t size);

}  // namespace strato::trace

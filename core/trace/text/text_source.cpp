#include "core/trace/text/text_source.h"

#include <zlib.h>

#include "core/base/error.h"

namespace strato::trace {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 17;
// Traces are rarely compressed to less than a fiftieth.
constexpr std::uint64_t kFreely = std::uint64_t{64} << 20, kMostTimes = 200;

gzFile open(const std::filesystem::path& file) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  gzFile gz = regular ? gzopen(file.c_str(), "rb") : nullptr;
  if (gz == nullptr)
    throw InputError(file.string(), "", "cannot be opened", "give a file that can be read");
  gzbuffer(gz, kPiece);
  return gz;
}

}  // namespace

TextSource::TextSource(const std::filesystem::path& file) : gz_(open(file)), raw_(kPiece, '\0') {}

TextSource::~TextSource() { gzclose(gz_); }

TextSource::int_type TextSource::underflow() {
  clean_.clear();
  while (clean_.empty() && !ended_) {
    const int size = gzread(gz_, raw_.data(), static_cast<unsigned>(raw_.size()));
    if (size > 0) cleaner_.add({raw_.data(), static_cast<std::size_t>(size)}, clean_);
    if (size > 0) unfolded_ += static_cast<std::uint64_t>(size);
    if (size < static_cast<int>(raw_.size()) || unfolds_too_far()) {
      int error = Z_OK;
      gzerror(gz_, &error);
      broken_ = size < 0 || error != Z_OK || unfolds_too_far();
      ended_ = size <= 0 || broken_;
      if (ended_) cleaner_.finish(clean_);
    }
  }
  setg(clean_.data(), clean_.data(), clean_.data() + clean_.size());
  return clean_.empty() ? traits_type::eof() : traits_type::to_int_type(clean_[0]);
}

bool TextSource::unfolds_too_far() const {
  if (unfolded_ <= kFreely) return false;
  const z_off_t read = gzoffset(gz_);  // of the file, as it is compressed
  return read >= 0 && unfolded_ / kMostTimes > static_cast<std::uint64_t>(read);
}

std::string beginning_of(const std::filesystem::path& file, std::size_t size) {
  gzFile gz = open(file);
  std::string text(size, '\0');
  const int read = gzread(gz, text.data(), static_cast<unsigned>(size));
  gzclose(gz);
  text.resize(read > 0 ? static_cast<std::size_t>(read) : 0);
  return text;
}

}  // namespace strato::trace

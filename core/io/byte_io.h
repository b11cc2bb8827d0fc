// Numbers and texts as bytes, little endian on every machine, and bytes compressed with zstd. The
// reader trusts nothing: every read checks its bounds and every count is checked against the bytes
// that are left, before memory is taken for it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strato {

template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class ByteWriter {
 public:
  template <PlainNumber T>
  ByteWriter& number(T value) {
    static_assert(std::endian::native == std::endian::little, "swap the bytes here");
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ByteWriter& text(std::string_view value) {  // length first
    number(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
    return *this;
  }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  struct Words {  // of messages
    const char* thing = "the stored graph";
    const char* remedy = "import the model again";
  };
  // Borrows both. `file` is used in messages.
  ByteReader(std::string_view bytes, const std::string& file) : ByteReader(bytes, file, Words()) {}
  ByteReader(std::string_view bytes, const std::string& file, const Words& words)
      : bytes_(bytes), file_(file), words_(words) {}

  template <PlainNumber T>
  T number() {
    if (bytes_.size() - at_ < sizeof(T)) damaged("it ends too early");
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <class E>
  E enumerated(E last) {  // of an enumeration that starts at 0
    const auto value = number<std::underlying_type_t<E>>();
    if (value > static_cast<std::underlying_type_t<E>>(last)) damaged("a value is out of range");
    return static_cast<E>(value);
  }
  std::string text() {
    const std::size_t size = count(1);
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }
  // Reads the number of values that follow, each of which takes `smallest` bytes at least.
  std::size_t count(std::size_t smallest) {
    const auto value = number<std::uint32_t>();
    if (value > (bytes_.size() - at_) / smallest) damaged("it ends too early");
    return value;
  }
  bool at_end() const { return at_ == bytes_.size(); }
  std::string_view rest() const { return bytes_.substr(at_); }  // not read yet
  [[noreturn]] void damaged(const char* how) const;             // throws InputError

 private:
  std::string_view bytes_;
  const std::string& file_;
  Words words_;
  std::size_t at_ = 0;
};

std::string compressed(std::string_view bytes);
// Nothing when they are damaged, or are not `size` bytes when unfolded; memory is taken for `size`
// bytes only where they announce as many. Thread-safe.
std::optional<std::string> decompressed(std::string_view bytes, std::uint64_t size);

}  // namespace strato

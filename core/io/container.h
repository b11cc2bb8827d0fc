// The container of every binary value that the program keeps: a JSON value as CBOR, compressed with
// zstd, under the name and version of its kind, with a digest over all of it. Lists of numbers are
// packed (little endian) and cost neither text nor an object each.
//
// Reading is strict: what is damaged, cut short, of another kind or of a newer version, whose sizes
// lie or which has bytes behind its end is an InputError that says so, before memory is taken for
// it. Include in .cpp files only. Thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/byte_io.h"
#include "core/io/json.h"

namespace strato {

struct ContainerKind {
  std::string_view name;  // "stratoscope-graph"
  std::uint32_t version;  // which is written, and the newest that is read
  const char* thing;      // in messages: "the stored graph"
  const char* remedy;     // in messages: "import the model again"

  // These throw the InputErrors of a file that is read as one of this kind.
  [[noreturn]] void refuse(const std::string& file, const std::string& problem) const;
  [[noreturn]] void refuse_damaged(const std::string& file, const std::string& how) const;
  // Unless it is of this kind, and of a version from 1 to `version`.
  void check(const std::string& file, const std::string& its_name, std::uint32_t its_version) const;
};

struct Contained {
  std::uint32_t version;  // from 1 to the kind's
  JsonView value;
};

bool is_container(std::string_view bytes);

std::string write_container(const ContainerKind& kind, const Json& value);
// `file` is used in messages. Throws InputError. A value of more than 4 GiB of CBOR is refused; so
// is one of above 16 MiB that unfolds to more than a thousand times the bytes that it has here,
// which write_container() never makes.
Contained read_container(std::string_view bytes, const ContainerKind& kind,
                         const std::string& file);

// A list of numbers as one value of a container.
template <PlainNumber T>
Json packed(std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
  return Json::binary(Json::binary_t::container_type(begin, begin + values.size_bytes()));
}
template <PlainNumber T>
Json packed(const std::vector<T>& values) {
  return packed(std::span<const T>(values));
}
template <PlainNumber T>
std::vector<T> unpacked(const JsonView& view) {  // throws InputError
  const std::string_view bytes = view.bytes();
  if (bytes.size() % sizeof(T) != 0) view.fail("has a number in part", "write the file again");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace strato

#include "core/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/error.h"
#include "core/data/tensor_source.h"

namespace strato {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kAlign = 64;  // of the elements, by the format

constexpr std::array<std::string_view, 10> kDescriptions = {  // by DataType
    "<f8", "<f4", "<f2", "<u2", "<i8", "<i4", "<i2", "|i1", "|u1", "|b1"};

std::string_view description_of(DataType type) {
  return kDescriptions[static_cast<std::size_t>(type)];
}

[[noreturn]] void refuse(const std::string& file, const std::string& problem,
                         const std::string& remedy) {
  throw InputError(file, "", problem, remedy);
}

[[noreturn]] void damaged(const std::string& file) {
  refuse(file, "is not an .npy file, or a damaged one", "write it again with numpy.save()");
}

// Returns the value that the header, a Python dictionary of literals, has for a key.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& file) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) damaged(file);
  header.remove_prefix(at + quoted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

DataType read_type(std::string_view header, const std::string& file) {
  std::string_view value = value_of(header, "descr", file);
  if (value.starts_with("["))
    refuse(file, "holds records", "save one array of numbers in each file");
  const std::size_t end = value.find('\'', 1);
  if (!value.starts_with("'") || end == std::string_view::npos) damaged(file);
  value = value.substr(1, end - 1);
  if (const auto type = type_called(value, description_of)) return *type;
  if (value.find('O') != std::string_view::npos)
    refuse(file, "holds Python objects, which only a pickle can, and pickles are never read",
           "save an array of numbers");
  if (value.starts_with(">"))
    refuse(file, "is big endian", "save it with a.astype(a.dtype.newbyteorder('<'))");
  refuse(file, fmt::format("has elements of type \"{}\"", value),
         "save float16, float32, float64, int8 to int64, uint8 or bool");
}

Shape read_shape(std::string_view header, const std::string& file) {
  std::string_view rest = value_of(header, "shape", file);
  const std::size_t end = rest.find(')');
  if (!rest.starts_with("(") || end == std::string_view::npos) damaged(file);
  rest = rest.substr(1, end - 1);
  Shape shape;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
    if (rest.empty()) return shape;
    std::int64_t extent = -1;
    const auto [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) damaged(file);
    shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
  }
}

// The header's text and where the elements begin: two bytes of length in version 1, four since.
struct Header {
  std::string_view text;
  std::size_t end = 0;
};
Header header_of(std::string_view content, const std::string& file) {
  const std::size_t width = content.size() > 6 && content[6] == 1 ? 2 : 4;
  if (!content.starts_with(kMagic) || content.size() < 8 + width || content[6] < 1 ||
      content[6] > 3)
    damaged(file);
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(content[8 + i])) << (8 * i);
  if (length > content.size() - 8 - width) damaged(file);
  return {content.substr(8 + width, length), 8 + width + length};
}

}  // namespace

bool is_numbered_npy(std::string_view name) {
  return name.size() > 4 && name.ends_with(".npy") &&
         name.find_first_not_of("0123456789") == name.size() - 4;
}

std::string npy_header(DataType type, const Shape& shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", description_of(type));
  for (const std::int64_t extent : shape) text += fmt::format("{},", extent);
  text += "), }";
  const std::size_t used = kMagic.size() + 4 + text.size() + 1;
  text.append((kAlign - used % kAlign) % kAlign, ' ');
  text += '\n';
  std::string header = std::string(kMagic) + '\x01' + '\x00';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

NpyFile::NpyFile(const std::filesystem::path& path) : file_(path, "an .npy file") {
  const std::string name = path.string();
  const Header header = header_of(file_.bytes(), name);
  type_ = read_type(header.text, name);
  if (!value_of(header.text, "fortran_order", name).starts_with("False"))
    refuse(name, "is in Fortran order", "save it with numpy.ascontiguousarray()");
  shape_ = read_shape(header.text, name);
  elements_ = file_.bytes().substr(header.end);
  const std::int64_t bytes = bytes_of({"", type_, shape_});
  if (bytes < 0) damaged(name);
  if (std::ssize(elements_) != bytes)
    refuse(name,
           fmt::format("is not whole: {} bytes of elements instead of {}", elements_.size(), bytes),
           "write or copy it again");
}

}  // namespace strato

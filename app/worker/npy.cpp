#include "app/worker/npy.h"

#include "core/base/error.h"
#include "core/base/file.h"

namespace strato::worker {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t kAlign = 64;  // of the elements, by the format

std::string_view descr(DataType type) {
  switch (type) {
    case DataType::F64:
      return "<f8";
    case DataType::F32:
      return "<f4";
    case DataType::F16:
      return "<f2";
    case DataType::BF16:
      return "<u2";
    case DataType::I64:
      return "<i8";
    case DataType::I32:
      return "<i4";
    case DataType::I16:
      return "<i2";
    case DataType::I8:
      return "|i1";
    case DataType::U8:
      return "|u1";
    case DataType::Bool:
      return "|b1";
  }
  return "|u1";
}

}  // namespace

std::string npy_header(DataType type, const Shape& shape) {
  std::string text = "{'descr': '" + std::string(descr(type)) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + ",";
  text += "), }";
  const std::size_t used = kMagic.size() + 2 + text.size() + 1;
  text.append((kAlign - used % kAlign) % kAlign, ' ');
  text += '\n';
  std::string header(kMagic);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::string read_npy(const std::filesystem::path& file, DataType type, const Shape& shape) {
  std::string content = read_file(file);
  const std::string header = npy_header(type, shape);
  std::size_t bytes = static_cast<std::size_t>(size_of(type));
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  if (!content.starts_with(header)) {
    throw InputError(file.string(), "", "is of another type or shape than the plan's tensor",
                     "resume from a checkpoint of the same model");
  }
  if (content.size() != header.size() + bytes) {
    throw InputError(file.string(), "", "is not whole", "resume from another checkpoint");
  }
  content.erase(0, header.size());
  return content;
}

}  // namespace strato::worker

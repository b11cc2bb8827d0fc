// Fuzzes what reads stored values: containers, archives of tensors, arrays, and the syntaxes of
// texts. The first byte says which. Whatever the rest, a value or an InputError, in little memory
// and time.
#include <string>
#include <string_view>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/npy.h"
#include "core/data/safetensors.h"
#include "core/io/byte_io.h"
#include "core/io/container.h"
#include "core/io/toml.h"
#include "core/io/xml.h"
#include "core/io/yaml.h"
#include "tests/fuzz/fuzzed_file.h"

namespace strato {
namespace {

constexpr ContainerKind kAny{"any", 1, "the value", "write it again"};

// Of this CBOR, as it is: what stands around it is right.
std::string container_of(std::string_view cbor) {
  ByteWriter out;
  out.number(std::uint8_t{1}).number(std::uint8_t{0}).number(kAny.version).text(kAny.name);
  out.number(std::uint64_t{cbor.size()}).number(std::uint64_t{cbor.size()});
  std::string content = std::string("\x89STRATO\n", 8) + std::move(out).take() + std::string(cbor);
  const Digest digest = digest_of(content);
  ByteWriter tail;
  tail.number(digest.high).number(digest.low);
  return content + std::move(tail).take();
}

void read_one(std::uint8_t which, const std::uint8_t* data, std::size_t size) {
  static fuzz::FuzzedFile file(".stored");
  const std::string text(data, data + size);
  switch (which % 9) {
    case 0:
      return void(read_container(container_of(text), kAny, "value"));
    case 1:
      return void(read_container(text, kAny, "value"));
    case 2:
      return void(read_archive(text, kAny, "archive"));
    case 3:
      return void(open_safetensors(file.with(data, size)));
    case 4:
      return void(NpyFile(file.with(data, size)).elements());
    case 5:
      return void(JsonView::parse(text, "json"));
    case 6:
      return void(parse_toml(text, "toml"));
    case 7:
      return void(parse_xml(text, "xml"));
    default:
      return void(parse_yaml(text, "yaml"));
  }
}

}  // namespace
}  // namespace strato

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    strato::read_one(data[0], data + 1, size - 1);
  } catch (const strato::InputError&) {
  }
  return 0;
}

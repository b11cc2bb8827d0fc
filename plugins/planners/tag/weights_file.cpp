#include "plugins/planners/tag/weights_file.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace strato::tag {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

constexpr std::string_view kWeightsMagic("STRATAG\0", 8);
// To be raised whenever the same numbers would mean something else: columns, layers, their order.
constexpr std::uint32_t kVersion = 1;
constexpr const char* kWeightsRemedy =
    "give weights made by this version (stratoscope-cli train tag), or none to use the bundled "
    "ones";

struct Header {
  std::uint32_t version;
  std::int32_t width, layers, heads, paper;
  std::uint32_t note_bytes;
  std::uint64_t parameters;
};
constexpr std::size_t kStart = kWeightsMagic.size() + sizeof(Header);

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool plausible(const Header& h) {
  return h.width >= 1 && h.width <= 4096 && h.layers >= 1 && h.layers <= 64 && h.heads >= 1 &&
         h.heads <= h.width && h.width % h.heads == 0 && (h.paper == 0 || h.paper == 1) &&
         h.parameters < (std::uint64_t{1} << 32);
}

}  // namespace

std::string write_weights(const WeightsFile& weights) {
  std::string bytes(kWeightsMagic);
  append(bytes, Header{kVersion, weights.size.width, weights.size.layers, weights.size.heads,
                       weights.size.paper ? 1 : 0, static_cast<std::uint32_t>(weights.note.size()),
                       weights.parameters.size()});
  bytes += weights.note;
  bytes.append(reinterpret_cast<const char*>(weights.parameters.data()),
               weights.parameters.size() * sizeof(float));
  append(bytes, strato::digest_of(std::string_view(bytes)));
  return bytes;
}

WeightsFile parse_weights(std::string_view bytes, const std::string& file) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(file, "", problem, kWeightsRemedy);
  };
  if (bytes.substr(0, kWeightsMagic.size()) != kWeightsMagic.substr(0, bytes.size()) ||
      bytes.empty())
    refuse("not a file of weights of the planner tag");
  if (bytes.size() < kStart) refuse("the file ends in its header");
  Header header;
  std::memcpy(&header, bytes.data() + kWeightsMagic.size(), sizeof header);
  if (header.version != kVersion)
    refuse("weights of version " + std::to_string(header.version) +
           "; this program reads version " + std::to_string(kVersion));
  if (!plausible(header)) refuse("its header is damaged");
  const std::size_t content = kStart + header.note_bytes + header.parameters * sizeof(float);
  if (bytes.size() != content + sizeof(Digest))
    refuse("the file has " + std::to_string(bytes.size()) + " bytes where its header announces " +
           std::to_string(content + sizeof(Digest)) + ": it is cut or damaged");
  Digest digest;
  std::memcpy(&digest, bytes.data() + content, sizeof digest);
  if (digest != strato::digest_of(bytes.substr(0, content)))
    refuse("its content does not match its digest: it is damaged");
  WeightsFile weights;
  weights.size = {header.width, header.layers, header.heads, header.paper == 1};
  weights.note = std::string(bytes.substr(kStart, header.note_bytes));
  weights.parameters.resize(header.parameters);
  std::memcpy(weights.parameters.data(), bytes.data() + kStart + header.note_bytes,
              header.parameters * sizeof(float));
  for (float value : weights.parameters)
    if (!std::isfinite(value)) refuse("a weight is not a number");
  return weights;
}

}  // namespace strato::tag

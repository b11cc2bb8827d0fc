#include "plugins/planners/neural/weights_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace strato::neural {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

constexpr std::string_view kMagic("STRATONN", 8);
constexpr std::uint32_t kFileVersion = 1;

struct Header {
  std::uint32_t version, planner_bytes, description_bytes, unused;
  std::uint64_t parameters;
};
constexpr std::size_t kContentBegin = kMagic.size() + sizeof(Header);

[[noreturn]] void refuse(const std::string& planner, const std::string& file,
                         const std::string& problem) {
  throw InputError(file, "", problem,
                   "give weights made by this version (stratoscope-cli train " + planner +
                       "), or none to use the bundled ones");
}

Header header_of(std::string_view bytes, const std::string& planner, const std::string& file) {
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size()) || bytes.empty())
    refuse(planner, file, "not a file of weights");
  if (bytes.size() < kContentBegin) refuse(planner, file, "the file ends in its header");
  Header header;
  std::memcpy(&header, bytes.data() + kMagic.size(), sizeof header);
  if (header.version != kFileVersion)
    refuse(planner, file,
           "weights of version " + std::to_string(header.version) +
               "; this program reads version " + std::to_string(kFileVersion));
  if (header.parameters >= (std::uint64_t{1} << 32)) refuse(planner, file, "its header is damaged");
  const std::size_t size = kContentBegin + header.planner_bytes + header.description_bytes +
                           header.parameters * sizeof(float) + sizeof(Digest);
  if (bytes.size() != size)
    refuse(planner, file,
           "the file has " + std::to_string(bytes.size()) + " bytes where its header announces " +
               std::to_string(size) + ": it is cut or damaged");
  return header;
}

}  // namespace

std::string write_weights(const WeightsFile& weights) {
  const Header header{kFileVersion, static_cast<std::uint32_t>(weights.planner.size()),
                      static_cast<std::uint32_t>(weights.description.size()), 0,
                      weights.parameters.size()};
  std::string bytes(kMagic);
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += weights.planner + weights.description;
  bytes.append(reinterpret_cast<const char*>(weights.parameters.data()),
               weights.parameters.size() * sizeof(float));
  const Digest digest = digest_of(std::string_view(bytes));
  bytes.append(reinterpret_cast<const char*>(&digest), sizeof digest);
  return bytes;
}

WeightsFile parse_weights(std::string_view bytes, const std::string& planner,
                          const std::string& file) {
  const Header header = header_of(bytes, planner, file);
  const std::size_t content = bytes.size() - sizeof(Digest);
  Digest digest;
  std::memcpy(&digest, bytes.data() + content, sizeof digest);
  if (digest != digest_of(bytes.substr(0, content)))
    refuse(planner, file, "its content does not match its digest: it is damaged");
  WeightsFile weights;
  std::string_view rest = bytes.substr(kContentBegin);
  weights.planner = rest.substr(0, header.planner_bytes);
  if (weights.planner != planner)
    refuse(planner, file, "these are weights of the planner " + weights.planner);
  rest.remove_prefix(header.planner_bytes);
  weights.description = rest.substr(0, header.description_bytes);
  rest.remove_prefix(header.description_bytes);
  weights.parameters.resize(header.parameters);
  std::memcpy(weights.parameters.data(), rest.data(), header.parameters * sizeof(float));
  for (const float value : weights.parameters)
    if (!std::isfinite(value)) refuse(planner, file, "a weight is not a number");
  return weights;
}

}  // namespace strato::neural

#include "plugins/planners/neural/sealed.h"

#include "core/base/digest.h"
#include "core/base/error.h"

namespace strato::neural {
namespace {

constexpr std::size_t kDigestBytes = 16;

std::string digest_bytes(std::string_view content) {
  const Digest digest = digest_of(content);
  std::string bytes;
  for (const std::uint64_t half : {digest.high, digest.low})
    bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  return bytes;
}

}  // namespace

std::string seal(std::string_view magic, std::string_view content) {
  return std::string(magic) + digest_bytes(content) + std::string(content);
}

std::string_view unsealed(std::string_view bytes, std::string_view magic,
                          const std::string& planner, const std::string& file) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(file, "", problem,
                     "start the training without it, or give another --checkpoint");
  };
  if (!bytes.starts_with(magic.substr(0, magic.find(' '))))
    refuse("is no checkpoint of a training of '" + planner + "'");
  if (!bytes.starts_with(magic)) refuse("is a checkpoint of another version");
  bytes.remove_prefix(magic.size());
  const std::string_view sum = bytes.substr(0, kDigestBytes);
  bytes.remove_prefix(sum.size());
  if (sum != digest_bytes(bytes)) refuse("the checkpoint is damaged or cut short");
  return bytes;
}

}  // namespace strato::neural

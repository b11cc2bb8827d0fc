#include "core/base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>

#include "core/base/error.h"

namespace strato {

Hasher::Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }
void Hasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Hasher& Hasher::bytes(const void* data, std::size_t size) {
  if (size > 0) XXH3_128bits_update(state_.get(), data, size);
  return *this;
}

Hasher& Hasher::text(std::string_view value) {
  number(value.size());
  return bytes(value.data(), value.size());
}

Digest Hasher::finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return {hash.high64, hash.low64};
}

Digest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string Digest::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Digest Digest::from_hex(std::string_view text) {
  Digest digest;
  const auto parse = [](std::string_view part, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    return error == std::errc() && end == part.data() + part.size();
  };
  if (text.size() != 32 || !parse(text.substr(0, 16), digest.high) ||
      !parse(text.substr(16), digest.low)) {
    throw InputError("", "", fmt::format("\"{}\" is not a digest", text.substr(0, 64)),
                     "a digest is 32 hexadecimal digits");
  }
  return digest;
}

}  // namespace strato

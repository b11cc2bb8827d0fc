#include "core/strategy/variable_sync.h"

#include <array>

namespace strato {
namespace {

constexpr std::array<std::string_view, 2> kSynchronisers{"allreduce", "ps"};
constexpr std::array<std::string_view, 6> kEncodings{
    "none", "sparse-rows", "half", "top-k", "sufficient-factors", "low-rank"};

template <class Value, std::size_t N>
std::optional<Value> value_of(std::string_view name, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Value>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Synchroniser synchroniser) {
  return kSynchronisers[static_cast<std::size_t>(synchroniser)];
}
std::optional<Synchroniser> synchroniser_from(std::string_view name) {
  return value_of<Synchroniser>(name, kSynchronisers);
}

std::string_view name_of(Encoding encoding) {
  return kEncodings[static_cast<std::size_t>(encoding)];
}
std::optional<Encoding> encoding_from(std::string_view name) {
  return value_of<Encoding>(name, kEncodings);
}

void add_to(Hasher& hasher, const VariableSync& variable) {
  hasher.number(variable.update.value()).number(variable.axis).number(variable.parts.size());
  // Nothing for synchronous ones: their digests stay what they were.
  if (variable.staleness != 0) hasher.text("stale").number(variable.staleness);
  for (const SyncPart& part : variable.parts) {
    hasher.number(static_cast<int>(part.synchroniser)).number(static_cast<int>(part.encoding));
    hasher.number(part.server.value()).number(part.merge_group);
    hasher.number(part.stations.size()).number(part.sequence.size());
    for (const DeviceId device : part.stations) hasher.number(device.value());
    for (const DeviceId device : part.sequence) hasher.number(device.value());
  }
}

}  // namespace strato

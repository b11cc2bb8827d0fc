#include "plugins/planners/learned/kit/training/old_checkpoint.h"

#include <cstring>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "plugins/planners/learned/kit/network/weights.h"

namespace strato::learned {
namespace {

constexpr std::size_t kDigestBytes = 16;

std::string digest_bytes(std::string_view content) {
  const Digest digest = digest_of(content);
  std::string bytes;
  for (const std::uint64_t half : {digest.high, digest.low})
    bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  return bytes;
}

OptimizerState optimizer_of(std::string_view bytes, std::size_t parameters, const ByteReader& in) {
  OptimizerState state;
  const bool fresh = bytes.size() == sizeof state.steps;
  const std::size_t moment = parameters * sizeof(float);
  if (!fresh && bytes.size() != sizeof state.steps + 2 * moment)
    in.damaged("its optimizer is of another network");
  std::memcpy(&state.steps, bytes.data(), sizeof state.steps);
  if (fresh) return state;
  state.mean.resize(parameters);
  state.square.resize(parameters);
  std::memcpy(state.mean.data(), bytes.data() + sizeof state.steps, moment);
  std::memcpy(state.square.data(), bytes.data() + sizeof state.steps + moment, moment);
  return state;
}

}  // namespace

bool is_old_checkpoint(std::string_view bytes) { return bytes.starts_with("stratoscope-"); }

std::string_view unsealed(std::string_view bytes, const std::string& planner,
                          const std::string& file) {
  const std::string magic = "stratoscope-" + planner + "-training 2\n";
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

NetworkState read_old_network(ByteReader& in, const std::string& planner, const std::string& file) {
  NetworkState state;
  state.parameters = parse_weights(in.text(), planner, file).parameters;
  state.optimizer = optimizer_of(in.text(), state.parameters.size(), in);
  return state;
}

}  // namespace strato::learned

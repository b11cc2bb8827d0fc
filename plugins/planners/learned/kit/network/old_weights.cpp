#include "plugins/planners/learned/kit/network/old_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/io/byte_io.h"
#include "core/io/json.h"

namespace strato::learned {
namespace {

constexpr std::string_view kTagMagic("STRATAG\0", 8), kMagic("STRATONN", 8);
constexpr std::uint32_t kVersion = 1;
constexpr const char* kAgain = "make the weights again (stratoscope-cli train)";

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw InputError(file, "", problem, kAgain);
}

// Without its last bytes, which are the digest of all others.
std::string_view checked(std::string_view bytes, const std::string& file) {
  if (bytes.size() < kMagic.size() + sizeof(Digest)) refuse(file, "the file ends in its header");
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(Digest));
  Digest digest;
  std::memcpy(&digest, bytes.data() + content.size(), sizeof digest);
  if (digest != digest_of(content))
    refuse(file, "its content does not match its digest: it is cut or damaged");
  return content.substr(kMagic.size());
}

void check_version(ByteReader& in, const std::string& file) {
  const auto version = in.number<std::uint32_t>();
  if (version != kVersion)
    refuse(file, fmt::format("weights of version {}; this program reads version {} of them",
                             version, kVersion));
}

std::string take_text(ByteReader& in, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += in.number<char>();
  return text;
}

std::vector<float> take_parameters(ByteReader& in, std::uint64_t count, const std::string& file) {
  if (count >= (std::uint64_t{1} << 32)) in.damaged("a count is impossible");
  std::vector<float> parameters;
  for (std::uint64_t i = 0; i < count; ++i) parameters.push_back(in.number<float>());
  if (!in.at_end()) in.damaged("it has bytes behind its end");
  if (!std::ranges::all_of(parameters, [](float value) { return std::isfinite(value); }))
    refuse(file, "a weight is not a number");
  return parameters;
}

Weights read_tag(ByteReader& in, const std::string& file) {
  const auto width = in.number<std::int32_t>(), layers = in.number<std::int32_t>(),
             heads = in.number<std::int32_t>(), paper = in.number<std::int32_t>();
  const auto note = in.number<std::uint32_t>();
  const auto count = in.number<std::uint64_t>();
  Weights weights;
  weights.planner = "tag";
  weights.size =
      json_text({{"width", width}, {"layers", layers}, {"heads", heads}, {"paper", paper == 1}});
  weights.note = take_text(in, note);
  weights.parameters = take_parameters(in, count, file);
  return weights;
}

Weights read_other(ByteReader& in, const std::string& file) {
  const auto planner = in.number<std::uint32_t>(), description = in.number<std::uint32_t>();
  in.number<std::uint32_t>();  // not used
  const auto count = in.number<std::uint64_t>();
  Weights weights;
  weights.planner = take_text(in, planner);
  const JsonView told = JsonView::parse(take_text(in, description), file);
  weights.size = json_text(told.at("size").json());
  if (const auto made = told.find("made")) weights.note = json_text(made->json());
  weights.parameters = take_parameters(in, count, file);
  return weights;
}

}  // namespace

bool is_old_weights(std::string_view bytes) {
  return bytes.starts_with(kTagMagic) || bytes.starts_with(kMagic);
}

Weights read_old_weights(std::string_view bytes, const std::string& file) {
  const bool tag = bytes.starts_with(kTagMagic);
  ByteReader in(checked(bytes, file), file, {"the file of weights", kAgain});
  check_version(in, file);
  return tag ? read_tag(in, file) : read_other(in, file);
}

}  // namespace strato::learned

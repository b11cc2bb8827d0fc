#include "plugins/planners/learned/kit/network/trained_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/data/safetensors.h"
#include "core/io/file.h"
#include "plugins/planners/learned/kit/network/trainable.h"

namespace strato::learned {
namespace {

constexpr const char* kParameters = "parameters";
constexpr const char* kWeightsRemedy =
    "give weights made by this version (stratoscope-cli train), or none to use the bundled ones";

// Versions 1 were files of each planner's own.
constexpr ContainerKind kWeights{"stratoscope-weights", 2, "the file of weights", kWeightsRemedy};

constexpr std::string_view kTagMagic("STRATAG\0", 8), kMagic("STRATONN", 8);
constexpr std::uint32_t kOldVersion = 1;
constexpr const char* kAgain = "make the weights again (stratoscope-cli train)";

Weights read_new(std::string_view bytes, const std::string& file) {
  const ReadArchive archive = read_strictly(bytes, kWeights, file);
  Weights weights;
  weights.planner = archive.notes.at("planner").string();
  weights.size = json_text(archive.notes.at("size").json());
  if (const auto made = archive.notes.find("made")) weights.note = json_text(made->json());
  weights.parameters = archive.floats(kParameters);
  return weights;
}

// Without its last bytes, which are the digest of all others.
std::string_view checked(std::string_view bytes, const std::string& file) {
  if (bytes.size() < kMagic.size() + sizeof(Digest))
    throw InputError(file, "", "the file ends in its header", kAgain);
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(Digest));
  Digest digest;
  std::memcpy(&digest, bytes.data() + content.size(), sizeof digest);
  if (digest != digest_of(content))
    throw InputError(file, "", "its content does not match its digest: it is cut or damaged",
                     kAgain);
  return content.substr(kMagic.size());
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
    throw InputError(file, "", "a weight is not a number", kAgain);
  return parameters;
}

Weights read_tag(ByteReader& in, const std::string& file) {
  const auto width = in.number<std::int32_t>(), layers = in.number<std::int32_t>(),
             heads = in.number<std::int32_t>(), paper = in.number<std::int32_t>();
  const auto note = in.number<std::uint32_t>();
  const auto count = in.number<std::uint64_t>();
  Weights weights{"tag", {}, take_text(in, note), take_parameters(in, count, file)};
  weights.size =
      json_text({{"width", width}, {"layers", layers}, {"heads", heads}, {"paper", paper == 1}});
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

Weights read_old(std::string_view bytes, const std::string& file) {
  ByteReader in(checked(bytes, file), file, {"the file of weights", kAgain});
  if (const auto version = in.number<std::uint32_t>(); version != kOldVersion)
    throw InputError(file, "",
                     fmt::format("weights of version {}; this program reads version {} of them",
                                 version, kOldVersion),
                     kAgain);
  return bytes.starts_with(kTagMagic) ? read_tag(in, file) : read_other(in, file);
}

}  // namespace

Weights parse_weights(std::string_view bytes, const std::string& planner, const std::string& file) {
  const bool old = bytes.starts_with(kTagMagic) || bytes.starts_with(kMagic);
  if (!is_archive(bytes) && !old)
    throw InputError(file, "", "not a file of weights of the planner " + planner, kWeightsRemedy);
  Weights weights = is_archive(bytes) ? read_new(bytes, file) : read_old(bytes, file);
  if (weights.planner != planner)
    throw InputError(file, "", "these are weights of the planner " + weights.planner,
                     kWeightsRemedy);
  return weights;
}

ReadArchive read_strictly(std::string_view bytes, const ContainerKind& kind,
                          const std::string& file) {
  try {
    return read_archive(bytes, kind, file);
  } catch (const InputError& error) {
    if (error.problem().find(kind.thing) != std::string::npos) throw;
    throw InputError(file, "",
                     fmt::format("{} is damaged or cut short: {}", kind.thing, error.problem()),
                     kind.remedy);
  }
}

TrainedNetwork::TrainedNetwork(std::unique_ptr<Trainable> trainable)
    : trainable_(std::move(trainable)) {}
TrainedNetwork::TrainedNetwork(TrainedNetwork&&) noexcept = default;
TrainedNetwork& TrainedNetwork::operator=(TrainedNetwork&&) noexcept = default;
TrainedNetwork::~TrainedNetwork() = default;

std::size_t TrainedNetwork::parameter_count() const { return trainable_->parameters.size(); }
std::vector<float> TrainedNetwork::parameters() const {
  return floats_of(trainable_->parameters.values);
}
std::vector<float> TrainedNetwork::gradients() const {
  return floats_of(trainable_->parameters.gradients);
}
void TrainedNetwork::set_parameters(std::span<const float> values) {
  trainable_->parameters.assign(values);
}

NetworkState TrainedNetwork::state() const { return {parameters(), trainable_->optimizer.state()}; }

void TrainedNetwork::restore(const NetworkState& state) {
  if (state.parameters.size() != parameter_count())
    throw InputError("", "network", "it is of other sizes",
                     "start the training anew, or take another checkpoint");
  set_parameters(state.parameters);
  trainable_->optimizer.restore(state.optimizer, trainable_->parameters);
}

void TrainedNetwork::share_steps(ShareStep share) { trainable_->share = std::move(share); }
void TrainedNetwork::move_to(const std::string& device) { trainable_->move_to(device); }

const std::string& TrainedNetwork::note() const { return trainable_->note; }

std::string TrainedNetwork::bytes(std::string_view note) const {
  const Weights own = empty_weights();
  const std::vector<float> values = parameters();
  TensorArchive archive;
  archive.notes = {{"planner", own.planner}, {"size", Json::parse(own.size)}};
  if (!note.empty()) archive.notes["made"] = Json::parse(note);
  archive.add_floats(kParameters, {std::ssize(values)}, values);
  return write_archive(kWeights, archive);
}

void TrainedNetwork::save(const std::filesystem::path& file, std::string_view note) const {
  write_file(file, bytes(note));
}

void TrainedNetwork::take(const Weights& weights, const std::string& file) {
  if (weights.parameters.size() != parameter_count())
    throw InputError(file, "",
                     fmt::format("it has {} weights where a network of its sizes has {}",
                                 weights.parameters.size(), parameter_count()),
                     "make the weights again (stratoscope-cli train " + weights.planner + ")");
  trainable_->parameters.allocate(0, trainable_->device);
  set_parameters(weights.parameters);
  trainable_->note = weights.note;
}

}  // namespace strato::learned

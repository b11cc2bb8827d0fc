#include "plugins/planners/learned/kit/network/weights.h"

#include "core/base/error.h"
#include "plugins/planners/learned/kit/network/old_weights.h"
#include "plugins/planners/learned/kit/network/strict_archive.h"

namespace strato::learned {
namespace {

constexpr const char* kParameters = "parameters";
constexpr const char* kWeightsRemedy =
    "give weights made by this version (stratoscope-cli train), or none to use the bundled ones";

// Versions 1 were files of each planner's own.
constexpr ContainerKind kWeights{"stratoscope-weights", 2, "the file of weights", kWeightsRemedy};

Weights read_new(std::string_view bytes, const std::string& file) {
  const ReadArchive archive = read_strictly(bytes, kWeights, file);
  Weights weights;
  weights.planner = archive.notes.at("planner").string();
  weights.size = json_text(archive.notes.at("size").json());
  if (const auto made = archive.notes.find("made")) weights.note = json_text(made->json());
  weights.parameters = archive.floats(kParameters);
  return weights;
}

}  // namespace

std::string write_weights(const Weights& weights) {
  TensorArchive archive;
  archive.notes = {{"planner", weights.planner}, {"size", Json::parse(weights.size)}};
  if (!weights.note.empty()) archive.notes["made"] = Json::parse(weights.note);
  archive.add_floats(kParameters, {std::ssize(weights.parameters)}, weights.parameters);
  return write_archive(kWeights, archive);
}

Weights parse_weights(std::string_view bytes, const std::string& planner, const std::string& file) {
  if (!is_archive(bytes) && !is_old_weights(bytes))
    throw InputError(file, "", "not a file of weights of the planner " + planner, kWeightsRemedy);
  Weights weights = is_archive(bytes) ? read_new(bytes, file) : read_old_weights(bytes, file);
  if (weights.planner != planner)
    throw InputError(file, "", "these are weights of the planner " + weights.planner,
                     kWeightsRemedy);
  return weights;
}

}  // namespace strato::learned

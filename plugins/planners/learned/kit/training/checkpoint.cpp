#include "plugins/planners/learned/kit/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/safetensors.h"
#include "plugins/planners/learned/kit/network/trained_network.h"

namespace strato::learned {
namespace {

constexpr const char* kRemedy = "start the training without it, or give another --checkpoint";

// Versions 1 and 2 were files of each planner's own.
ContainerKind kind_of(const std::string& name) { return {name, 3, "the checkpoint", kRemedy}; }
std::string name_of_kind(const std::string& planner) {
  return fmt::format("stratoscope-{}-training", planner);
}
InputError no_checkpoint(const std::string& planner, const std::string& file) {
  return {file, "", fmt::format("is no checkpoint of a training of '{}'", planner), kRemedy};
}

// The first line that differs, as it was and as it is.
std::string difference(const std::string& then, const std::string& now) {
  std::istringstream before(then), after(now);
  std::string was, is;
  while (before || after) {
    if (!std::getline(before, was)) was = "nothing";
    if (!std::getline(after, is)) is = "nothing";
    if (was != is) return fmt::format("it was made with {}, this is {}", was, is);
  }
  return "it was made with other options";
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

std::string_view without_digest(std::string_view bytes, const std::string& file) {
  const std::string_view content = bytes.substr(std::min(sizeof(Digest), bytes.size()));
  const Digest digest = digest_of(content);
  if (!bytes.starts_with({reinterpret_cast<const char*>(&digest), sizeof digest}))
    throw InputError(file, "", "the checkpoint is damaged or cut short", kRemedy);
  return content;
}

}  // namespace

std::string write_checkpoint(const Checkpoint& checkpoint, const std::string& planner) {
  TensorArchive archive;
  archive.notes = {{"fingerprint", checkpoint.fingerprint},
                   {"step", checkpoint.step},
                   {"elapsed_seconds", checkpoint.elapsed_seconds},
                   {"loss_sum", checkpoint.loss_sum},
                   {"losses", checkpoint.losses},
                   {"searches", checkpoint.collected.searches},
                   {"examples", checkpoint.collected.examples},
                   {"optimizer_steps", checkpoint.network.optimizer.steps}};
  const auto add = [&](const char* name, const std::vector<float>& values) {
    archive.add_floats(name, {std::ssize(values)}, values);
  };
  add("parameters", checkpoint.network.parameters);
  add("optimizer.mean", checkpoint.network.optimizer.mean);
  add("optimizer.square", checkpoint.network.optimizer.square);
  StoredTensor experience;
  experience.name = "experience";
  experience.type = DataType::U8;
  experience.shape.push_back(std::ssize(checkpoint.experience));
  archive.entries.push_back({std::move(experience), checkpoint.experience});
  const std::string name = name_of_kind(planner);
  return write_archive(kind_of(name), archive);
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& planner,
                            const std::string& file) {
  if (!is_archive(bytes)) throw no_checkpoint(planner, file);
  const std::string name = name_of_kind(planner);
  ReadArchive archive = read_strictly(bytes, kind_of(name), file);
  const auto whole = [&](const char* key) {
    return archive.notes.at(key).integer(0, std::int64_t{1} << 53);
  };
  Checkpoint checkpoint{archive.notes.at("fingerprint").string(),
                        whole("step"),
                        archive.notes.at("elapsed_seconds").number(),
                        archive.notes.at("loss_sum").number(),
                        whole("losses"),
                        {whole("searches"), whole("examples")},
                        {archive.floats("parameters"),
                         {whole("optimizer_steps"), archive.floats("optimizer.mean"),
                          archive.floats("optimizer.square")}},
                        {}};
  for (TensorArchive::Entry& entry : archive.entries)
    if (entry.tensor.name == "experience") checkpoint.experience = std::move(entry.elements);
  return checkpoint;
}

bool is_old_checkpoint(std::string_view bytes) { return bytes.starts_with("stratoscope-"); }

Checkpoint parse_old_checkpoint(std::string_view bytes, const std::string& planner,
                                const std::string& file,
                                const std::function<std::string(ByteReader&)>& experience) {
  const std::string name = name_of_kind(planner), magic = name + " 2\n";
  if (!bytes.starts_with(name)) throw no_checkpoint(planner, file);
  if (!bytes.starts_with(magic))
    throw InputError(file, "", "is a checkpoint of another version", kRemedy);
  ByteReader in(without_digest(bytes.substr(magic.size()), file), file,
                {"the checkpoint", kRemedy});
  Checkpoint checkpoint;
  checkpoint.fingerprint = in.text();
  checkpoint.step = in.number<std::int64_t>();
  checkpoint.collected.searches = in.number<std::int64_t>();
  checkpoint.collected.examples = in.number<std::int64_t>();
  checkpoint.elapsed_seconds = in.number<double>();
  checkpoint.loss_sum = in.number<double>();
  checkpoint.losses = in.number<std::int64_t>();
  checkpoint.network.parameters = parse_weights(in.text(), planner, file).parameters;
  checkpoint.network.optimizer = optimizer_of(in.text(), checkpoint.network.parameters.size(), in);
  checkpoint.experience = experience(in);
  return checkpoint;
}

void expect_same_training(const Checkpoint& checkpoint, const std::string& fingerprint,
                          const std::string& file) {
  if (checkpoint.fingerprint == fingerprint) return;
  throw InputError(file, "", difference(checkpoint.fingerprint, fingerprint),
                   "give the same again, or another --checkpoint");
}

}  // namespace strato::learned

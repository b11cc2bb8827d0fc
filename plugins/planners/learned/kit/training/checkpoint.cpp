#include "plugins/planners/learned/kit/training/checkpoint.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "plugins/planners/learned/kit/network/strict_archive.h"

namespace strato::learned {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;

// Versions 1 and 2 were files of each planner's own.
ContainerKind kind_of(const std::string& name) {
  return {name, 3, "the checkpoint", "start the training without it, or give another --checkpoint"};
}
std::string name_of_kind(const std::string& planner) {
  return "stratoscope-" + planner + "-training";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The first line that differs, as it was and as it is.
std::string difference(const std::string& then, const std::string& now) {
  const auto before = lines_of(then), after = lines_of(now);
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string was = i < before.size() ? before[i] : "nothing";
    const std::string is = i < after.size() ? after[i] : "nothing";
    if (was != is) return "it was made with " + was + ", this is " + is;
  }
  return "it was made with other options";
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
  const std::string name = name_of_kind(planner);
  if (!is_archive(bytes))
    throw InputError(file, "", "is no checkpoint of a training of '" + planner + "'",
                     kind_of(name).remedy);
  ReadArchive archive = read_strictly(bytes, kind_of(name), file);
  const auto whole = [&](const char* key) { return archive.notes.at(key).integer(0, kMost); };
  Checkpoint checkpoint;
  checkpoint.fingerprint = archive.notes.at("fingerprint").string();
  checkpoint.step = whole("step");
  checkpoint.elapsed_seconds = archive.notes.at("elapsed_seconds").number();
  checkpoint.loss_sum = archive.notes.at("loss_sum").number();
  checkpoint.losses = whole("losses");
  checkpoint.collected = {whole("searches"), whole("examples")};
  checkpoint.network.parameters = archive.floats("parameters");
  checkpoint.network.optimizer = {whole("optimizer_steps"), archive.floats("optimizer.mean"),
                                  archive.floats("optimizer.square")};
  for (TensorArchive::Entry& entry : archive.entries)
    if (entry.tensor.name == "experience") checkpoint.experience = std::move(entry.elements);
  return checkpoint;
}

void expect_same_training(const Checkpoint& checkpoint, const std::string& fingerprint,
                          const std::string& file) {
  if (checkpoint.fingerprint == fingerprint) return;
  throw InputError(file, "", difference(checkpoint.fingerprint, fingerprint),
                   "give the same again, or another --checkpoint");
}

}  // namespace strato::learned

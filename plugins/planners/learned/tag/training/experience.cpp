#include "plugins/planners/learned/tag/training/experience.h"

#include "plugins/planners/learned/kit/training/old_checkpoint.h"
#include "plugins/planners/learned/kit/training/packed_lists.h"

namespace strato::tag {
namespace {

constexpr const char* kWithout = "start the training without the checkpoint";
constexpr ContainerKind kExperience{"stratoscope-tag-experience", 1, "the experience of a training",
                                    kWithout};

Json packed_records(const std::deque<Record>& records) {
  std::vector<std::int32_t> models, clusters;
  std::vector<std::vector<std::int32_t>> decided, actions;
  std::vector<std::vector<float>> parts;
  for (const Record& record : records) {
    models.push_back(record.instance.model);
    clusters.push_back(record.instance.cluster);
    decided.push_back(record.decided);
    actions.emplace_back();
    parts.emplace_back();
    for (const auto& [action, part] : record.target) {
      actions.back().push_back(action);
      parts.back().push_back(part);
    }
  }
  return {{"models", packed(models)},
          {"clusters", packed(clusters)},
          {"decided", learned::packed_lists(decided)},
          {"actions", learned::packed_lists(actions)},
          {"parts", learned::packed_lists(parts)}};
}

std::deque<Record> unpacked_records(const JsonView& view) {
  const auto models = unpacked<std::int32_t>(view.at("models"));
  const auto clusters = unpacked<std::int32_t>(view.at("clusters"));
  auto decided = learned::unpacked_lists<std::int32_t>(view.at("decided"));
  const auto actions = learned::unpacked_lists<std::int32_t>(view.at("actions"));
  const auto parts = learned::unpacked_lists<float>(view.at("parts"));
  const std::size_t count = models.size();
  if (clusters.size() != count || decided.size() != count || actions.size() != count ||
      parts.size() != count)
    view.fail("has lists of several lengths", kWithout);
  std::deque<Record> records;
  for (std::size_t i = 0; i < count; ++i) {
    Record& record = records.emplace_back();
    record.instance = {models[i], clusters[i]};
    record.decided = std::move(decided[i]);
    if (actions[i].size() != parts[i].size()) view.fail("has an action without its part", kWithout);
    for (std::size_t a = 0; a < actions[i].size(); ++a)
      record.target.emplace_back(actions[i][a], parts[i][a]);
  }
  return records;
}

Record read_old_record(ByteReader& in) {
  Record record;
  record.instance.model = in.number<std::int32_t>();
  record.instance.cluster = in.number<std::int32_t>();
  record.decided.resize(in.count(sizeof(std::int32_t)));
  for (std::int32_t& action : record.decided) action = in.number<std::int32_t>();
  record.target.resize(in.count(sizeof(std::int32_t) + sizeof(float)));
  for (auto& [action, part] : record.target) {
    action = in.number<std::int32_t>();
    part = in.number<float>();
  }
  return record;
}

}  // namespace

std::string write_experience(const Experience& experience) {
  std::deque<Record> known;
  for (const auto& [instance, actions] : experience.known) known.push_back({instance, actions, {}});
  return write_container(kExperience, {{"records", packed_records(experience.records)},
                                       {"known", packed_records(known)}});
}

Experience read_experience(std::string_view bytes, const std::string& file) {
  const Contained contained = read_container(bytes, kExperience, file);
  Experience experience;
  experience.records = unpacked_records(contained.value.at("records"));
  for (Record& record : unpacked_records(contained.value.at("known")))
    experience.known[record.instance] = std::move(record.decided);
  return experience;
}

learned::Checkpoint read_old_checkpoint(std::string_view bytes, const std::string& file) {
  ByteReader in(learned::unsealed(bytes, "tag", file), file, {"the checkpoint", kWithout});
  learned::Checkpoint checkpoint;
  checkpoint.fingerprint = in.text();
  checkpoint.step = in.number<std::int64_t>();
  checkpoint.collected.searches = in.number<std::int64_t>();
  checkpoint.collected.examples = in.number<std::int64_t>();
  checkpoint.elapsed_seconds = in.number<double>();
  const auto mean_loss = in.number<double>();
  checkpoint.losses = in.number<std::int64_t>();
  checkpoint.loss_sum = mean_loss * static_cast<double>(checkpoint.losses);
  checkpoint.network = learned::read_old_network(in, "tag", file);
  Experience experience;
  const std::size_t records = in.count(1);
  for (std::size_t i = 0; i < records; ++i) experience.records.push_back(read_old_record(in));
  const std::size_t known = in.count(1);
  for (std::size_t i = 0; i < known; ++i) {
    Record record = read_old_record(in);
    experience.known[record.instance] = std::move(record.decided);
  }
  checkpoint.experience = write_experience(experience);
  return checkpoint;
}

}  // namespace strato::tag

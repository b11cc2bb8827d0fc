#include "plugins/planners/learned/tag/training/experience.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/tree/search_tree.h"

namespace strato::tag {
namespace {

constexpr const char* kWithout = "start the training without the checkpoint";
constexpr ContainerKind kExperience{"stratoscope-tag-experience", 1, "the experience of a training",
                                    kWithout};

constexpr std::size_t kKept = 64;  // an instance of a large model takes some megabytes

void refuse_single_gpus(const TrainingOptions& options) {
  for (const auto& cluster : options.clusters)
    if (cluster->device_count() < 2)
      throw InputError("", cluster->name(), "has a single GPU: there is nothing to decide",
                       "train on clusters of two GPUs or more");
}

// A search that does nothing tells how it would decide.
SearchTree empty_search(const Problem& problem, const TrainSettings& settings) {
  const auto evaluator = make_simulating_evaluator(problem, 1);
  PlannerOptions common;
  common.iterations = 0;
  Observer observer;
  return *tree_search({problem, *evaluator, common, observer}, settings.search).tree;
}

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

std::vector<std::span<const Record>> runs_of_one_instance(const std::vector<Record>& records) {
  std::vector<std::span<const Record>> runs;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && records[end].instance == records[begin].instance) ++end;
    runs.push_back(std::span(records).subspan(begin, end - begin));
  }
  return runs;
}

void check_instance(const TrainingInstances& instances, const ProblemKey& key) {
  const bool known = key.model >= 0 && key.model < instances.problems().model_count() &&
                     key.cluster >= 0 && key.cluster < instances.problems().cluster_count();
  if (!known)
    throw InputError("", "an example", "is of a model or cluster that is not there", kWithout);
}

}  // namespace

TrainingInstances::TrainingInstances(const TrainingOptions& options, const TrainSettings& settings)
    : settings_(settings), problems_((refuse_single_gpus(options), options), settings.groups) {}

std::shared_ptr<const TrainingInstance> TrainingInstances::make(const ProblemKey& key) const {
  Problem problem = problems_.problem(key);
  SearchTree tree = empty_search(problem, settings_);
  FeatureMaker maker(problem, std::move(tree.actions));
  return std::make_shared<const TrainingInstance>(TrainingInstance{
      std::move(problem), std::move(tree.order), std::move(maker), settings_.feedback});
}

std::shared_ptr<const TrainingInstance> TrainingInstances::instance(const ProblemKey& key) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(latest_, key, &decltype(latest_)::value_type::first);
    if (at != latest_.end()) {
      latest_.splice(latest_.begin(), latest_, at);
      return latest_.front().second;
    }
  }
  auto made = make(key);  // two threads may make the same: equal, and rare
  const std::lock_guard lock(mutex_);
  latest_.emplace_front(key, made);
  if (latest_.size() > kKept) latest_.pop_back();
  return made;
}

std::vector<KeptExample> with_features(TrainingInstances& instances,
                                       const std::vector<Record>& records, int threads) {
  const auto runs = runs_of_one_instance(records);
  for (const auto& run : runs) check_instance(instances, run.front().instance);
  std::vector<std::vector<Example>> made(runs.size());
  parallel_for(runs.size(), threads, [&](std::size_t r) {
    made[r] = make_examples(*instances.instance(runs[r].front().instance), runs[r]);
  });
  std::vector<KeptExample> kept;
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (std::size_t i = 0; i < runs[r].size(); ++i)
      if (!made[r][i].target.empty()) kept.push_back({runs[r][i], std::move(made[r][i])});
  return kept;
}

std::size_t ExampleBuffer::add(const std::vector<Record>& records) {
  std::vector<KeptExample> fresh = with_features(instances_, records, threads_);
  for (KeptExample& kept : fresh) kept_.push_back(std::move(kept));
  while (kept_.size() > most_) kept_.pop_front();
  return fresh.size();
}

std::vector<Example> ExampleBuffer::minibatch(int size, Random& random) const {
  std::vector<std::size_t> chosen;
  for (int i = 0; i < size; ++i) chosen.push_back(random.below(kept_.size()));
  std::ranges::sort(chosen, {},
                    [&](std::size_t i) { return std::pair(kept_[i].record.instance, i); });
  std::vector<Example> batch;
  for (const std::size_t i : chosen) batch.push_back(kept_[i].example);
  return batch;
}

std::deque<Record> ExampleBuffer::records() const {
  std::deque<Record> records;
  for (const KeptExample& kept : kept_) records.push_back(kept.record);
  return records;
}

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
  const auto experience = [](ByteReader& in) {
    Experience read;
    for (std::size_t left = in.count(1); left > 0; --left)
      read.records.push_back(read_old_record(in));
    for (std::size_t left = in.count(1); left > 0; --left) {
      Record record = read_old_record(in);
      read.known[record.instance] = std::move(record.decided);
    }
    return write_experience(read);
  };
  learned::Checkpoint checkpoint = learned::parse_old_checkpoint(bytes, "tag", file, experience);
  checkpoint.loss_sum *= static_cast<double>(checkpoint.losses);  // it has the mean
  return checkpoint;
}

}  // namespace strato::tag

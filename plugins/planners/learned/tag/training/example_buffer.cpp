#include "plugins/planners/learned/tag/training/example_buffer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace strato::tag {
namespace {

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
  if (known) return;
  throw InputError("", "an example", "is of a model or cluster that is not there",
                   "start the training without the checkpoint");
}

}  // namespace

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

}  // namespace strato::tag

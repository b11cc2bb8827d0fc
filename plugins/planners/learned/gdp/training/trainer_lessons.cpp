#include <algorithm>
#include <bit>
#include <exception>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "plugins/planners/learned/gdp/training/trainer.h"
#include "plugins/planners/learned/kit/training/checkpoint.h"

namespace strato::gdp {
namespace {

constexpr const char* kWithout = "start the training without the checkpoint";
constexpr ContainerKind kLessons{"stratoscope-gdp-lessons", 1, "the lessons of a training",
                                 kWithout};

// GDP places on up to eight devices (section 4.1).
RandomClusterOptions small_clusters() {
  RandomClusterOptions options;
  options.most_machines = 3;
  options.most_gpus = 4;
  return options;
}

std::int32_t choice_of(const std::vector<Decision>& choices, const Decision& decision) {
  const auto same = std::ranges::find(choices, decision);
  if (same != choices.end()) return static_cast<std::int32_t>(same - choices.begin());
  const auto many = [&](const Decision& choice) {
    return choice.devices.size() > 1 &&
           (choice.mode == Mode::ReplicatePs) == (decision.mode == Mode::ReplicatePs);
  };
  const auto all = std::ranges::find_if(choices, many);
  if (decision.devices.size() > 1 && all != choices.end())
    return static_cast<std::int32_t>(all - choices.begin());
  return decision.devices.front().device.value();  // choices begin with the devices
}

std::vector<Placement> heuristic_placements(const PlacementTask& task, const Problem& problem,
                                            Evaluator& evaluator, const TeacherOptions& options,
                                            const std::stop_token& stop) {
  std::vector<Placement> placements;
  if (options.heuristics == nullptr) return placements;
  for (const PluginInfo& plugin : options.heuristics->list(PluginKind::Planner)) {
    if (plugin.effort != Effort::Quick || stop.stop_requested()) continue;
    try {
      Observer quiet;
      const PlanResult result = options.heuristics->planner(plugin.name)
                                    ->plan(problem, evaluator, {}, quiet, stop, nullptr);
      if (!result.strategy.is_complete()) continue;
      Placement placement = nearest_placement(task, result.strategy);
      if (std::ranges::find(placements, placement) == placements.end())
        placements.push_back(std::move(placement));
    } catch (const std::exception&) {
      continue;  // it cannot serve this problem: one teacher fewer
    }
  }
  return placements;
}

// Changes of a placement.
class PlacementMoves {
 public:
  PlacementMoves(const PlacementTask& task, Random& random) : task_(task), random_(random) {}

  Placement of(const Placement& base) {
    Placement changed = base;
    switch (random_.below(4)) {
      case 0:
        run(changed);
        break;
      case 1:
        group(changed);
        break;
      default:
        border(changed);
    }
    return changed;
  }

 private:
  std::size_t any_unit(const Placement& placement) { return random_.below(placement.size()); }

  // Any choice, or that of a neighbour.
  std::int32_t answer_for(const Placement& placement, std::size_t unit) {
    const GraphFeatures& graph = task_.features();
    if (random_.below(2) == 0) {
      const auto near = static_cast<std::size_t>(
          graph.adjacent[unit * static_cast<std::size_t>(graph.neighbours) +
                         random_.below(static_cast<std::uint64_t>(graph.neighbours))]);
      if (near < placement.size() && placement[near] != placement[unit]) return placement[near];
    }
    return static_cast<std::int32_t>(random_.below(task_.choices().size()));
  }

  void run(Placement& placement) {
    const std::size_t length = std::size_t{1} << random_.below(
                                   static_cast<std::uint64_t>(std::bit_width(placement.size())));
    const std::size_t begin = any_unit(placement);
    const std::int32_t answer = answer_for(placement, begin);
    for (std::size_t u = begin; u < std::min(begin + length, placement.size()); ++u)
      placement[u] = answer;
  }

  void group(Placement& placement) {
    const std::size_t unit = any_unit(placement);
    const std::int32_t answer = answer_for(placement, unit);
    for (std::size_t u = 0; u < placement.size(); ++u)
      if (task_.group_of()[u] == task_.group_of()[unit]) placement[u] = answer;
  }

  // From the next place in unit order where the answer changes, some units get that of the other
  // side.
  void border(Placement& placement) {
    const std::size_t from = any_unit(placement);
    std::size_t at = from;
    while (at + 1 < placement.size() && placement[at + 1] == placement[at]) ++at;
    if (at + 1 == placement.size()) return run(placement);
    const std::size_t length = 1 + random_.below(std::max<std::size_t>(placement.size() / 16, 1));
    const std::int32_t left = placement[at], right = placement[at + 1];
    const std::span before = std::span(placement).first(at + 1);
    const std::span after = std::span(placement).subspan(at + 1);
    if (random_.below(2) == 0)
      std::ranges::replace(after.first(std::min(length, after.size())), right, left);
    else
      std::ranges::replace(before.last(std::min(length, before.size())), left, right);
  }

  const PlacementTask& task_;
  Random& random_;
};

}  // namespace

Placement nearest_placement(const PlacementTask& task, const Strategy& strategy) {
  Placement placement;
  for (std::size_t u = 0; u < task.group_of().size(); ++u) {
    const OpId leader = task.units().leader[u];
    const GroupId group =
        strategy.grouping ? strategy.grouping->group_of(leader) : GroupId(task.group_of()[u]);
    placement.push_back(choice_of(task.choices(), *strategy.groups[group]));
  }
  return placement;
}

void teach(PlacementTask& task, const Problem& problem, Evaluator& evaluator,
           const TeacherOptions& options, std::uint64_t seed, const std::stop_token& stop) {
  task.evaluate(task.known_placements());
  const std::vector<Placement> heuristics =
      heuristic_placements(task, problem, evaluator, options, stop);
  if (!heuristics.empty()) task.evaluate(heuristics);
  Random random(seed);
  PlacementMoves moves(task, random);
  for (int left = options.evaluations; left > 0 && !stop.stop_requested(); --left)
    task.evaluate({moves.of(task.best())});
}

TrainingPairs::TrainingPairs(const TrainingOptions& options, int groups, int held_out, double whole,
                             int neighbours)
    : options_(options),
      held_out_(options.random_clusters > 0 ? held_out : 0),
      whole_(whole),
      neighbours_(neighbours),
      problems_(options, groups, small_clusters(), held_out_) {}

Pair TrainingPairs::placed(const learned::ProblemKey& key, bool whole) const {
  return {key, {.replicate = !whole, .neighbours = neighbours_}};
}

Pair TrainingPairs::pair(std::int64_t number) const {
  Random random(learned::random_stream(options_.seed, "visit", number));
  const learned::ProblemKey key = problems_.draw(random, held_out_);
  return placed(key, random.uniform() < whole_);
}

Pair TrainingPairs::held_out_pair(std::int64_t number) const {
  const auto at = static_cast<std::int32_t>(number);
  const std::int32_t clusters = problems_.cluster_count();
  const std::int32_t first = held_out_ > 0 ? clusters - held_out_ : 0;
  return placed({at % problems_.model_count(), first + at % (clusters - first)}, at % 2 == 0);
}

std::string write_lessons(const std::deque<LessonRecord>& records) {
  std::vector<std::int64_t> numbers;
  std::vector<Placement> answers;
  for (const LessonRecord& record : records) {
    numbers.push_back(record.number);
    answers.push_back(record.answer);
  }
  return write_container(
      kLessons, {{"numbers", packed(numbers)}, {"answers", learned::packed_lists(answers)}});
}

std::deque<LessonRecord> read_lessons(std::string_view bytes, const std::string& file) {
  const Contained contained = read_container(bytes, kLessons, file);
  const auto numbers = unpacked<std::int64_t>(contained.value.at("numbers"));
  auto answers = learned::unpacked_lists<std::int32_t>(contained.value.at("answers"));
  if (numbers.size() != answers.size())
    contained.value.fail("has a number without its answer", kWithout);
  std::deque<LessonRecord> records;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    records.push_back({numbers[i], std::move(answers[i])});
  return records;
}

std::string read_old_lessons(ByteReader& in) {
  std::deque<LessonRecord> lessons;
  for (std::size_t left = in.count(sizeof(std::int64_t)); left > 0; --left) {
    LessonRecord& lesson = lessons.emplace_back();
    lesson.number = in.number<std::int64_t>();
    lesson.answer.resize(in.count(sizeof(std::int32_t)));
    for (std::int32_t& choice : lesson.answer) choice = in.number<std::int32_t>();
  }
  return write_lessons(lessons);
}

Lesson::Lesson(const TrainingPairs& pairs, const Pair& pair, int threads)
    : problem_(pairs.problems().problem(pair.key)),
      evaluator_(make_simulating_evaluator(problem_, threads)),
      task_(problem_, *evaluator_, pair.placing) {}

Placement Lesson::search(const TeacherOptions& teacher, std::uint64_t seed,
                         const std::stop_token& stop) {
  teach(task_, problem_, *evaluator_, teacher, seed, stop);
  if (stop.stop_requested() || !task_.best_score()->feasible) return {};
  return task_.canonical(task_.best());
}

double Lesson::ratio(const Probabilities& policy) {
  const double known = std::max(1e-9, to_seconds(task_.best_score()->step_time));
  double best = 10;
  for (const Placement& answer : answers(policy, task_)) {
    const Score score = evaluator_->evaluate(task_.strategy(answer));
    if (score.feasible) best = std::min(best, to_seconds(score.step_time) / known);
  }
  return best;
}

bool LessonMemory::search(std::int64_t first, int count, const TeacherOptions& teacher,
                          const std::stop_token& stop) {
  std::vector<Kept> found(static_cast<std::size_t>(count));
  const TrainingOptions& options = pairs_.options();
  parallel_for(found.size(), options.threads, [&](std::size_t i) {
    const std::int64_t number = first + static_cast<std::int64_t>(i);
    Lesson lesson(pairs_, pairs_.pair(number));
    found[i].record = {
        number,
        lesson.search(teacher, learned::random_stream(options.seed, "search", number), stop)};
    found[i].features = lesson.task().features();
  });
  if (stop.stop_requested()) return false;
  for (Kept& kept : found)
    if (!kept.record.answer.empty()) keep(std::move(kept));
  return true;
}

void LessonMemory::keep(Kept kept) {
  kept_.push_back(std::move(kept));
  while (kept_.size() > most_) kept_.pop_front();
}

void LessonMemory::restore(const std::deque<LessonRecord>& records) {
  std::vector<Kept> found(records.size());
  parallel_for(found.size(), pairs_.options().threads, [&](std::size_t i) {
    Lesson lesson(pairs_, pairs_.pair(records[i].number));
    const auto choices = static_cast<std::int32_t>(lesson.task().choices().size());
    const bool fits = std::ssize(records[i].answer) == lesson.task().units().count &&
                      std::ranges::all_of(records[i].answer, [&](std::int32_t choice) {
                        return choice >= 0 && choice < choices;
                      });
    if (!fits)
      throw InputError("", "lesson " + std::to_string(records[i].number),
                       "its answer is not for this model and cluster", kWithout);
    found[i] = {records[i], lesson.task().features()};
  });
  kept_.clear();
  for (Kept& kept : found) keep(std::move(kept));
}

std::deque<LessonRecord> LessonMemory::records() const {
  std::deque<LessonRecord> records;
  for (const Kept& kept : kept_) records.push_back(kept.record);
  return records;
}

std::vector<Answer> LessonMemory::minibatch(int size, Random& random) const {
  std::vector<Answer> answers;
  for (int i = 0; i < size && !kept_.empty(); ++i) {
    const Kept& kept = kept_[random.below(kept_.size())];
    answers.push_back({&kept.features, kept.record.answer});
  }
  return answers;
}

}  // namespace strato::gdp

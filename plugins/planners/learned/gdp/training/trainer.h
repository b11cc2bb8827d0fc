// The trainer of the planner `gdp` ("GDP-batch", GDP 3.3 and 4.3): one policy learns from many
// graphs on many clusters, and is measured on pairs that nothing is learned from.
//
// method=replay (not in the paper): pairs of a model and a cluster are searched for good placements
// (lessons, below), and every step learns from a few of all pairs met so far, so that nothing is
// forgotten. method=ppo, as in the paper: a visit takes a random model to a random cluster and
// plays a few rounds of PPO there; then the next.
#pragma once

#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/plugin/load/plugin_registry.h"
#include "plugins/planners/learned/gdp/policy/ppo.h"
#include "plugins/planners/learned/kit/training/training.h"

namespace strato {
class ByteReader;
}

namespace strato::gdp {

// `heuristics`: whose quick planners are teachers; null: none. Must outlive the trainer.
std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics = nullptr);

// ---- Lessons: pairs of a model and a cluster with their best known placements.

// The answers that the policy imitates: for a task, the best placement that heuristics and a short
// search find. Not in the paper, whose policy learns from its own trials alone. Deterministic in
// the task, the options and the seed.
struct TeacherOptions {
  int evaluations = 200;  // of the search, beside what is known and what heuristics find
  // Whose quick planners are asked; null: none. Must outlive the call.
  const PluginRegistry* heuristics = nullptr;
};

// Returns what a complete strategy of the task's problem says to each unit's leader. Where the task
// has no such choice: all devices if the strategy says several, else the first that it names.
Placement nearest_placement(const PlacementTask& task, const Strategy& strategy);

// Evaluates what is known, what the heuristics find, and changes of the best: a run of units, an op
// group, or one side of the border between two devices is told something else. The best is then
// task.best(); those of a task that was stopped amid are worth nothing.
void teach(PlacementTask& task, const Problem& problem, Evaluator& evaluator,
           const TeacherOptions& options, std::uint64_t seed, const std::stop_token& stop);

struct Pair {
  learned::ProblemKey key;
  PlacementOptions placing;
};

// The pairs by number. Immutable after construction; safe from any thread.
class TrainingPairs {
 public:
  // Draws the random clusters. `whole`: the part of the pairs on which every unit goes to one
  // device. Throws InputError where there is no model or no cluster.
  TrainingPairs(const TrainingOptions& options, int groups, int held_out, double whole,
                int neighbours);

  Pair pair(std::int64_t number) const;  // equal numbers, equal pair
  // One model after another, each on a random cluster of its own; without random clusters, on those
  // of the training.
  Pair held_out_pair(std::int64_t number) const;
  const learned::TrainingProblems& problems() const { return problems_; }
  const TrainingOptions& options() const { return options_; }

 private:
  Pair placed(const learned::ProblemKey& key, bool whole) const;

  const TrainingOptions& options_;
  const std::int32_t held_out_;  // clusters; they come last
  const double whole_;
  const int neighbours_;
  const learned::TrainingProblems problems_;
};

// All that is needed to make the lesson again, for a checkpoint.
struct LessonRecord {
  std::int64_t number = 0;  // of its pair
  Placement answer;         // canonical
};
// As a value of a container. Reading throws InputError when it is damaged; `file` in messages.
std::string write_lessons(const std::deque<LessonRecord>& records);
std::deque<LessonRecord> read_lessons(std::string_view bytes, const std::string& file);
// As checkpoints of earlier versions have them (parse_old_checkpoint); returns today's form.
std::string read_old_lessons(ByteReader& in);

// A pair with its task. Refers to itself: not to be moved.
class Lesson {
 public:
  Lesson(const TrainingPairs& pairs, const Pair& pair, int threads = 1);
  Lesson(const Lesson&) = delete;
  Lesson& operator=(const Lesson&) = delete;
  // The canonical best placement; empty where nothing fits, or when stopped amid.
  Placement search(const TeacherOptions& teacher, std::uint64_t seed, const std::stop_token& stop);
  // Step time of the policy's best answer over that of the best known placement; after search().
  // An answer that does not fit counts 10.
  double ratio(const Probabilities& policy);

  PlacementTask& task() { return task_; }

 private:
  const Problem problem_;
  const std::unique_ptr<Evaluator> evaluator_;
  PlacementTask task_;
};

// The latest lessons.
class LessonMemory {
 public:
  LessonMemory(const TrainingPairs& pairs, std::size_t most) : pairs_(pairs), most_(most) {}

  // Searches `count` pairs from number `first` on, side by side, and keeps what was found; false
  // when stopped amid: then nothing is kept.
  bool search(std::int64_t first, int count, const TeacherOptions& teacher,
              const std::stop_token& stop);
  // Throws InputError for records of another training.
  void restore(const std::deque<LessonRecord>& records);
  std::deque<LessonRecord> records() const;  // oldest first

  std::size_t size() const { return kept_.size(); }
  // Drawn with replacement; valid until the next search.
  std::vector<Answer> minibatch(int size, Random& random) const;

 private:
  struct Kept {
    LessonRecord record;
    GraphFeatures features;
  };
  void keep(Kept kept);

  const TrainingPairs& pairs_;
  const std::size_t most_;
  std::deque<Kept> kept_;
};

}  // namespace strato::gdp

#include "core/search/run/tournament.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/run/problem_change.h"

namespace strato {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Notes when the best came, and passes on what the tournament's observer wants to know.
class CellObserver final : public Observer {
 public:
  explicit CellObserver(std::function<void(const Progress&)> tell) : tell_(std::move(tell)) {}
  void on_progress(const Progress& progress) override { tell_(progress); }
  void on_improvement(const Strategy&, const Score& score, const Progress& progress) override {
    if (best_ && !score.better_than(*best_)) return;
    best_ = score;
    seconds_ = seconds_since(start_);
    tell_(progress);
  }
  // A result that it was not told of came last.
  double seconds_to(const Score& result) const {
    return best_ && !result.better_than(*best_) ? seconds_ : seconds_since(start_);
  }

 private:
  std::function<void(const Progress&)> tell_;
  Clock::time_point start_ = Clock::now();
  std::optional<Score> best_;
  double seconds_ = 0;
};

class TournamentRun {
 public:
  TournamentRun(const TournamentSetup& setup, const PlannerFactory& make_planner,
                TournamentObserver& observer, std::stop_token stop)
      : setup_(setup),
        cells_(setup.problems.size() * setup.planners.size()),
        make_planner_(make_planner),
        observer_(observer),
        stop_(std::move(stop)),
        known_(setup.problems.size()),
        options_(setup.options) {
    options_.threads = 1;
    result_.facts.resize(setup.problems.size());
    result_.cells.assign(setup.problems.size(),
                         std::vector<std::optional<TournamentCell>>(setup.planners.size()));
  }

  Tournament operator()() {
    const std::size_t threads = setup_.options.threads > 0
                                    ? static_cast<std::size_t>(setup_.options.threads)
                                    : std::thread::hardware_concurrency();
    {
      std::vector<std::jthread> pool;
      for (std::size_t t = 1; t < std::min(threads, cells_); ++t)
        pool.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(result_);
  }

 private:
  bool ended() const { return stop_.stop_requested() || abort_.stop_requested(); }

  // Problem by problem, so that whole rows come first. Every cell belongs to who took its number.
  void work() {
    for (std::size_t i; !ended() && (i = next_.fetch_add(1)) < cells_;) {
      try {
        run(i / setup_.planners.size(), i % setup_.planners.size());
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        abort_.request_stop();
      }
    }
  }

  TournamentFacts facts_of(std::size_t p) {
    std::call_once(known_[p], [&] {
      const Problem& problem = setup_.problems[p].problem;
      const Strategy plain = data_parallel(problem);
      TournamentFacts facts{simulate_outline(problem, plain, false).score, lower_bound(problem)};
      const std::lock_guard lock(mutex_);
      result_.facts[p] = std::move(facts);
    });
    const std::lock_guard lock(mutex_);
    return *result_.facts[p];
  }

  void run(std::size_t p, std::size_t planner) {
    const TournamentFacts facts = facts_of(p);
    {
      const std::lock_guard lock(mutex_);
      observer_.on_start(p, planner);
    }
    TournamentCell cell = planned(p, planner);
    if (cell.has_result()) measure(cell, facts);
    const std::lock_guard lock(mutex_);
    auto& place = result_.cells[p][planner];
    place = std::move(cell);
    ++done_;
    observer_.on_cell(*place, {done_, cells_, seconds_since(start_)});
  }

  TournamentCell planned(std::size_t p, std::size_t planner) {
    TournamentCell cell;
    cell.problem = p;
    cell.planner = planner;
    CellObserver watch([&](const Progress& progress) {
      const std::lock_guard lock(mutex_);
      observer_.on_progress(p, planner, progress);
    });
    std::stop_source stop;  // of both: a person's wish, and another cell's failure
    const auto pass = [&stop] { stop.request_stop(); };
    const std::stop_callback asked(stop_, pass), aborted(abort_.get_token(), pass);
    const Clock::time_point start = Clock::now();
    try {
      const std::unique_ptr<Planner> maker = make_planner_(setup_.planners[planner]);
      cell.result =
          run_planner(*maker, setup_.problems[p].problem, options_, watch, stop.get_token());
      cell.result.tree.reset();  // large, and nobody's
    } catch (const InputError& error) {
      cell.error = error.what();
    }
    cell.wall_seconds = seconds_since(start);
    cell.stopped = stop.stop_requested();
    if (cell.has_result())
      cell.seconds_to_best = std::min(watch.seconds_to(cell.result.score), cell.wall_seconds);
    return cell;
  }

  void measure(TournamentCell& cell, const TournamentFacts& facts) const {
    const Problem& problem = setup_.problems[cell.problem].problem;
    const Nanos time = std::max(cell.result.score.step_time, Nanos(1));
    cell.speedup = facts.data_parallel.step_time / time;
    if (facts.lower_bound > Nanos(0)) cell.above_bound = time / facts.lower_bound - 1;
    const Outcome outcome = simulate_outline(problem, cell.result.strategy, false);
    const DeviceUse& fullest = outcome.timeline->devices[fullest_device(*outcome.timeline)];
    cell.memory_part = fullest.peak / std::max(fullest.capacity, Bytes(1));
    cell.memory_peak = fullest.peak;
  }

  const TournamentSetup& setup_;
  const std::size_t cells_;
  const PlannerFactory& make_planner_;
  TournamentObserver& observer_;
  const std::stop_token stop_;
  std::vector<std::once_flag> known_;
  PlannerOptions options_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::size_t> next_ = 0;
  std::stop_source abort_;
  std::mutex mutex_;  // of all below, and of the observer
  Tournament result_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

// Tells whether a is a better cell than b: one without a result is behind all others.
bool beats(const TournamentCell& a, const TournamentCell& b) {
  if (a.has_result() != b.has_result()) return a.has_result();
  return a.has_result() && a.result.score.better_than(b.result.score);
}

}  // namespace

const TournamentCell* Tournament::cell(std::size_t problem, std::size_t planner) const {
  const auto& place = cells[problem][planner];
  return place ? &*place : nullptr;
}

std::size_t Tournament::rank(std::size_t problem, std::size_t planner) const {
  const TournamentCell* own = cell(problem, planner);
  if (own == nullptr) return 0;
  return 1 + static_cast<std::size_t>(std::ranges::count_if(
                 cells[problem], [&](const auto& other) { return other && beats(*other, *own); }));
}

const TournamentCell* Tournament::best(std::size_t problem) const {
  const TournamentCell* best = nullptr;
  for (const auto& place : cells[problem])
    if (place && place->has_result() && (best == nullptr || beats(*place, *best))) best = &*place;
  return best;
}

std::vector<TournamentRow> Tournament::ranking() const {
  std::vector<TournamentRow> rows(cells.empty() ? 0 : cells.front().size());
  for (std::size_t planner = 0; planner < rows.size(); ++planner) {
    TournamentRow& row = rows[planner];
    row.planner = planner;
    double logarithms = 0;
    for (std::size_t p = 0; p < cells.size(); ++p) {
      const TournamentCell* own = cell(p, planner);
      if (own == nullptr) continue;
      const std::size_t place = rank(p, planner);
      ++row.cells;
      row.mean_rank += static_cast<double>(place);
      row.wall_seconds += own->wall_seconds;
      if (place == 1 && own->has_result()) ++row.wins;
      if (!own->has_result() || !own->result.score.feasible) continue;
      ++row.fits;
      logarithms += std::log(std::max(own->speedup, 1e-12));
    }
    if (row.cells > 0) row.mean_rank /= static_cast<double>(row.cells);
    if (row.fits > 0) row.speedup = std::exp(logarithms / static_cast<double>(row.fits));
  }
  std::ranges::stable_sort(rows, [](const TournamentRow& a, const TournamentRow& b) {
    if ((a.cells > 0) != (b.cells > 0)) return a.cells > 0;
    if (a.mean_rank != b.mean_rank) return a.mean_rank < b.mean_rank;
    return a.speedup > b.speedup;
  });
  return rows;
}

Tournament run_tournament(const TournamentSetup& setup, const PlannerFactory& make_planner,
                          TournamentObserver& observer, std::stop_token stop) {
  return TournamentRun(setup, make_planner, observer, std::move(stop))();
}

}  // namespace strato

#include "core/program/sfb/sfb.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/io/byte_io.h"
#include "core/program/sfb/sites.h"

namespace strato {

using SfbAnswer = std::shared_ptr<const SfbSolution>;  // one for all equal programs

struct SfbKnown {  // of one site under certain decisions
  double gain = 0;
  std::vector<int> kept;  // see reduce()
  SfbAnswer answer;
};

namespace {

constexpr std::size_t kMostKnown = 200'000;  // answers; some 100 MB. Beyond, all are forgotten

std::string signature(const SfbProblem& program) {
  ByteWriter text;
  text.number(program.gain).number(program.time.size());
  for (const double time : program.time) text.number(time);
  for (const SfbTensor& tensor : program.tensors) {
    text.number(tensor.maker).number(tensor.cost).number(tensor.readers.size());
    for (const int reader : tensor.readers) text.number(reader);
  }
  return std::move(text).take();
}

bool needs_cbc(const SfbSolution& of_cut, const SfbOptions& options) {
  return of_cut.objective < 0 && options.method == SfbMethod::Cbc;
}

// Both find an optimum; the cut's is taken, so that the answer is the same whichever of several Cbc
// comes upon, and however much time it has.
SfbAnswer solve_program(const SfbProblem& program, const SfbOptions& options,
                        std::stop_token stop) {
  const auto solved = std::make_shared<SfbSolution>(solve_by_cut(program));
  if (!needs_cbc(*solved, options)) return solved;
  const SfbSolution found = solve_by_cbc(program, options.seconds_per_program, std::move(stop));
  const double better = solved->objective - found.objective, rounding = 1e-4 * program.gain;
  CHECK(better < rounding, "Cbc finds a better choice than the minimum cut");
  CHECK(!found.optimal || better > -rounding, "Cbc's optimum is worse than the minimum cut");
  solved->optimal = found.optimal;
  return solved;
}

}  // namespace

std::vector<OpId> SfbReport::duplicated() const {
  std::vector<OpId> ops;
  for (const SfbGradient& gradient : gradients)
    ops.insert(ops.end(), gradient.duplicate.begin(), gradient.duplicate.end());
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops;
}

struct SfbSolver::State {
  State(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
        const SfbOptions& with)
      : tables(std::move(graph), std::move(grouping), std::move(cluster), std::move(cost)),
        sites(sfb_sites(tables, with.max_distance)),
        options(with) {}

  struct Asked {  // a site that needs synchronisation
    std::size_t site;
    SiteState state;
    std::string key;
    std::shared_ptr<const SfbKnown> known;
    // Otherwise:
    ReducedSfbProblem reduced;
    std::string signature;
    SfbAnswer answer;
  };

  std::vector<Asked> ask(const Strategy& complete, const Replicas& replicas) {
    std::vector<Asked> asked;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      SiteState state = state_of(sites[s], tables, complete, replicas);
      if (!state.synchronises()) continue;
      std::string key(reinterpret_cast<const char*>(&s), sizeof s);
      key += key_of(state, replicas.group(sites[s].producer));
      asked.push_back({s, std::move(state), std::move(key), nullptr, {}, {}, nullptr});
    }
    const std::lock_guard lock(mutex);
    if (by_key.size() > kMostKnown) by_key.clear(), by_signature.clear();
    for (Asked& each : asked)
      if (const auto at = by_key.find(each.key); at != by_key.end()) each.known = at->second;
    return asked;
  }

  double tau_of(const std::vector<DeviceId>& devices) {
    const std::lock_guard lock(mutex);
    const auto [at, fresh] = taus.try_emplace(devices);
    if (fresh) at->second = bottleneck_bandwidth(tables, devices);
    return at->second;
  }

  void write_programs(const std::vector<Asked*>& unknown, const Replicas& replicas) {
    parallel_for(unknown.size(), options.threads, [&](std::size_t i) {
      Asked& each = *unknown[i];
      const SfbSite& site = sites[each.site];
      const Replicas::Group& group = replicas.group(site.producer);
      each.reduced = reduce(
          sfb_problem_of(site, each.state, tables, group, options.costs, tau_of(group.devices)));
      each.signature = signature(each.reduced.program);
    });
  }

  // Of equal programs the first.
  std::vector<Asked*> not_yet_solved(const std::vector<Asked*>& unknown) {
    const std::lock_guard lock(mutex);
    std::vector<Asked*> first;
    std::unordered_set<std::string_view> seen;
    for (Asked* each : unknown) {
      if (const auto at = by_signature.find(each->signature); at != by_signature.end()) {
        each->answer = at->second;
      } else if (seen.insert(each->signature).second) {
        first.push_back(each);
      }
    }
    return first;
  }

  // Gives equal programs the answer of the first. Of two threads that solved one at once the
  // earlier answer stays.
  void remember(const std::vector<Asked*>& unknown, const std::vector<Asked*>& solved,
                bool stopped) {
    const std::lock_guard lock(mutex);
    std::unordered_map<std::string_view, SfbAnswer> now;
    for (Asked* each : solved) {
      if (!stopped)
        each->answer = by_signature.try_emplace(each->signature, each->answer).first->second;
      now.emplace(each->signature, each->answer);
    }
    for (Asked* each : unknown) {
      if (!each->answer) each->answer = now.at(each->signature);
      each->known = std::make_shared<const SfbKnown>(
          SfbKnown{each->reduced.program.gain, std::move(each->reduced.kept), each->answer});
      if (!stopped) by_key.try_emplace(each->key, each->known);
    }
  }

  SfbGradient describe(const Asked& asked) const {
    const SfbSite& site = sites[asked.site];
    const SfbKnown& known = *asked.known;
    const SfbSolution& solution = *known.answer;
    SfbGradient gradient;
    gradient.producer = site.producer;
    gradient.before = gradient.after = nanos_from(known.gain);
    gradient.optimal = solution.optimal;
    gradient.ops = static_cast<int>(site.ops.size());
    for (std::size_t i = 0; i < site.updates.size(); ++i)
      if (asked.state.sync[i] != SiteState::Sync::None) gradient.updates.push_back(site.updates[i]);
    if (!solution.choice[SfbProblem::kGradient]) return gradient;
    gradient.after = nanos_from(std::max(0.0, known.gain + solution.objective));
    for (std::size_t i = 0; i < known.kept.size(); ++i)
      if (solution.choice[i] && i != SfbProblem::kUpdate)
        gradient.duplicate.push_back(site.ops[site_op(known.kept[i])]);
    for (std::size_t i = 0; i < site.updates.size(); ++i)  // a server's is to run everywhere
      if (asked.state.sync[i] == SiteState::Sync::Ps) gradient.duplicate.push_back(site.updates[i]);
    std::ranges::sort(gradient.duplicate);
    return gradient;
  }

  const Tables tables;  // only facts are read, so any thread may
  const std::vector<SfbSite> sites;
  const SfbOptions options;
  std::mutex mutex;  // guards what follows
  std::unordered_map<std::string, std::shared_ptr<const SfbKnown>> by_key;
  std::unordered_map<std::string, SfbAnswer> by_signature;
  std::map<std::vector<DeviceId>, double> taus;
};

SfbSolver::SfbSolver(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                     std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost,
                     const SfbOptions& options)
    : state_(std::make_unique<State>(std::move(graph), std::move(grouping), std::move(cluster),
                                     std::move(cost), options)) {}
SfbSolver::~SfbSolver() = default;

SfbReport SfbSolver::solve(const Strategy& complete, std::stop_token stop) {
  State& state = *state_;
  SfbReport report;
  const Replicas replicas(state.tables, complete);
  std::vector<State::Asked> asked = state.ask(complete, replicas);
  std::vector<State::Asked*> unknown;
  for (State::Asked& each : asked)
    if (!each.known) unknown.push_back(&each);
  state.write_programs(unknown, replicas);

  const std::vector<State::Asked*> fresh = state.not_yet_solved(unknown);
  parallel_for(fresh.size(), state.options.threads, [&](std::size_t i) {
    fresh[i]->answer = solve_program(fresh[i]->reduced.program, state.options, stop);
  });
  report.solved = static_cast<int>(fresh.size());
  for (const State::Asked* each : fresh) report.by_cbc += needs_cbc(*each->answer, state.options);
  state.remember(unknown, fresh, stop.stop_requested());
  std::unordered_map<const SfbSolution*, int> number;
  for (const State::Asked& each : asked) {
    report.gradients.push_back(state.describe(each));
    const int next = static_cast<int>(number.size());
    report.gradients.back().subgraph =
        number.try_emplace(each.known->answer.get(), next).first->second;
  }
  report.subgraphs = static_cast<int>(number.size());
  return report;
}

SfbReport SfbSolver::apply(Strategy& complete, std::stop_token stop) {
  SfbReport report = solve(complete, std::move(stop));
  const std::vector<OpId> found = report.duplicated();
  std::vector<OpId> all;
  std::ranges::set_union(complete.duplicated, found, std::back_inserter(all));
  complete.duplicated = std::move(all);
  return report;
}

}  // namespace strato

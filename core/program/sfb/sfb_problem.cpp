#include "core/program/sfb/sfb_problem.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace strato {

double objective(const SfbProblem& program, const SfbChoice& choice) {
  double sum = 0;
  for (std::size_t i = 0; i < program.time.size(); ++i)
    if (choice[i]) sum += program.time[i];
  for (const SfbTensor& tensor : program.tensors) {
    if (tensor.maker >= 0 && choice[static_cast<std::size_t>(tensor.maker)]) continue;
    const bool read = std::ranges::any_of(
        tensor.readers, [&](int reader) { return choice[static_cast<std::size_t>(reader)] != 0; });
    if (read) sum += tensor.cost;
  }
  return choice[SfbProblem::kGradient] ? sum - program.gain : sum;
}

bool is_feasible(const SfbProblem& program, const SfbChoice& choice) {
  std::vector<char> wanted(program.time.size(), 0);
  wanted[SfbProblem::kUpdate] = 1;
  wanted[SfbProblem::kGradient] = choice[SfbProblem::kUpdate];
  for (const SfbTensor& tensor : program.tensors)
    for (const int reader : tensor.readers)
      if (tensor.maker >= 0 && choice[static_cast<std::size_t>(reader)])
        wanted[static_cast<std::size_t>(tensor.maker)] = 1;
  for (std::size_t i = 0; i < choice.size(); ++i)
    if (choice[i] && !wanted[i]) return false;
  return true;
}

namespace {

// For each op, the least time of a way from the gradient to it, both included, and the update.
std::vector<double> times_of_ways(const SfbProblem& program) {
  const std::size_t ops = program.time.size();
  std::vector<std::vector<std::size_t>> makers(ops);
  for (const SfbTensor& tensor : program.tensors)
    for (const int reader : tensor.readers)
      if (tensor.maker >= 0)
        makers[static_cast<std::size_t>(reader)].push_back(static_cast<std::size_t>(tensor.maker));
  std::vector<double> way(ops, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> open = {SfbProblem::kGradient};
  way[SfbProblem::kGradient] =
      program.time[SfbProblem::kGradient] + program.time[SfbProblem::kUpdate];
  std::vector<char> done(ops, 0);
  while (!open.empty()) {
    const auto nearest =
        std::ranges::min_element(open, {}, [&](std::size_t each) { return way[each]; });
    const std::size_t op = *nearest;
    open.erase(nearest);
    if (std::exchange(done[op], 1)) continue;
    for (const std::size_t maker : makers[op]) {
      if (done[maker] || way[op] + program.time[maker] >= way[maker]) continue;
      way[maker] = way[op] + program.time[maker];
      open.push_back(maker);
    }
  }
  return way;
}

}  // namespace

ReducedSfbProblem reduce(const SfbProblem& program) {
  const std::vector<double> way = times_of_ways(program);
  ReducedSfbProblem reduced;
  reduced.program.gain = program.gain;
  std::vector<int> number(program.time.size(), -1);
  for (std::size_t i = 0; i < program.time.size(); ++i) {
    if (i > SfbProblem::kUpdate && way[i] >= program.gain) continue;
    number[i] = static_cast<int>(reduced.kept.size());
    reduced.kept.push_back(static_cast<int>(i));
    reduced.program.time.push_back(program.time[i]);
  }
  for (const SfbTensor& tensor : program.tensors) {
    SfbTensor kept{-1, tensor.cost, {}};
    if (tensor.maker >= 0) kept.maker = number[static_cast<std::size_t>(tensor.maker)];
    for (const int reader : tensor.readers)
      if (const int to = number[static_cast<std::size_t>(reader)]; to >= 0)
        kept.readers.push_back(to);
    if (!kept.readers.empty()) reduced.program.tensors.push_back(std::move(kept));
  }
  return reduced;
}

}  // namespace strato

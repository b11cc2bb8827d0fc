// Rank programs of random models under random strategies: they can be built, end also when every
// instruction blocks, touch no memory at the same time, and survive being stored but no damage.
#include "core/program/rank/rank_program.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/error.h"
#include "core/program/lower/lower.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_file.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/timeline.h"
#include "tests/core/strategy/random_variables.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/property/random_model.h"
#include "tests/property/rank_checker.h"

namespace strato {
namespace {

struct Case {
  RandomProblem problem;
  std::shared_ptr<const Program> program;
  RankPrograms ranks;
};

std::shared_ptr<const Graph> mixture() {
  static const std::vector<SmallNet> nets = small_nets(8, Optimizer::Adam);
  return std::ranges::find(nets, "mixture", &SmallNet::name)->graph;
}

Case random_case(std::uint64_t seed, Random& random) {
  Case result;
  const bool real_ops = seed % 4 != 0;
  const bool experts = seed % 24 == 1;  // on meshes
  result.problem = experts    ? problem_of(mixture(), random)
                   : real_ops ? random_model_problem(random)
                              : random_problem(random);
  Strategy strategy = seed % 3 != 0 ? random_strategy(result.problem, random)
                                    : random_data_parallel(result.problem, random);
  if (seed % 12 == 1) strategy = with_meshes(result.problem, strategy, random);
  if (experts) strategy = with_experts(result.problem, strategy, random).value_or(strategy);
  if (seed % 10 == 5) strategy = with_shared_states(result.problem, strategy, random);
  if (seed % 5 == 1) strategy.recomputed = random_recomputed(*result.problem.graph, random);
  if (seed % 10 < 2)
    strategy.offloaded = random_offloaded(*result.problem.graph, strategy.recomputed, random);
  if (real_ops) strategy.splits = random_splits(result.problem, strategy, random);
  const RandomProblem& problem = result.problem;
  if (seed % 2 == 0 && real_ops) {
    std::mt19937_64 numbers(seed);
    strategy = complete(strategy, *problem.cluster);
    strategy.variables =
        RandomVariables{*problem.graph, *problem.grouping, *problem.cluster, numbers, true}
            .variables(strategy);
  }
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  LowerOptions options;
  options.verify = true;
  result.program = std::make_shared<const Program>(lowering.lower(strategy, options));
  SimulateOptions how;
  how.fair_links = seed % 5 == 0;
  how.priorities = seed % 7 != 0;
  Simulator simulator;
  const Timeline timeline = simulator.simulate(result.program, how);
  result.ranks = rank_programs(*result.program, execution_order(timeline));
  return result;
}

bool is_refused(const RankPrograms& ranks) {
  try {
    check_termination(ranks, "job");
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "job");
    EXPECT_TRUE(error.place().starts_with("rank ")) << error.what();
    return true;
  }
  return false;
}

TEST(RankPrograms, AreBuiltAndEndAndHaveNoRaces) {
  std::array<std::size_t, 14> kinds{};
  std::size_t in_rows = 0;
  for (std::uint64_t seed = 0; seed < 1500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Case built = random_case(seed, random);
    EXPECT_NO_THROW(check_termination(built.ranks, "job"));
    EXPECT_TRUE(ends_when_blocking(built.ranks));
    EXPECT_TRUE(ends_when_blocking(built.ranks, Behind::OnStream));
    for (std::size_t r = 0; r < built.ranks.ranks.size(); ++r) {
      EXPECT_EQ(built.ranks.ranks[r].rank, static_cast<int>(r));
      EXPECT_EQ(problem_of(built.ranks, r), "");
      for (const Instruction& what : built.ranks.ranks[r].instructions) {
        ++kinds[static_cast<std::size_t>(what.kind)];
        in_rows += what.stream == Stream::TensorCommunication ? 1 : 0;
      }
    }
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    EXPECT_GT(kinds[kind], 100u) << name_of(static_cast<InstructionKind>(kind));
  EXPECT_GT(in_rows, 100u);
}

// The waits are what keeps them apart: with those of one instruction left out, most have one.
TEST(RankPrograms, HaveRacesWithoutTheirWaits) {
  std::size_t races = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Case built = random_case(seed, random);
    RankProgram& rank = built.ranks.ranks.front();
    const std::size_t at = random.below(rank.instructions.size());
    if (rank.waits[at].empty()) continue;
    Rows<std::uint32_t> waits;
    for (std::size_t i = 0; i < rank.instructions.size(); ++i)
      waits.push_row(i == at ? std::span<const std::uint32_t>() : rank.waits[i]);
    rank.waits = waits;
    ++(problem_of(built.ranks, 0).empty() ? others : races);
  }
  EXPECT_GT(races, 4 * others);
  EXPECT_GT(races, 20u);
}

// Every task is executed by the ranks that it concerns, once.
TEST(RankPrograms, HaveEveryTaskOnce) {
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Case built = random_case(seed, random);
    IdVector<TaskId, int> times(built.program->tasks.size());
    for (const RankProgram& rank : built.ranks.ranks)
      for (std::size_t i = 0; i < rank.instructions.size(); ++i) {
        const Instruction& what = rank.instructions[i];
        if (what.kind == InstructionKind::View || what.kind == InstructionKind::Receive) continue;
        const auto members = rank.members[i];
        if (members.empty() || members.front() == rank.device) ++times[what.task];
      }
    for (const int count : times) EXPECT_EQ(count, 1);
  }
}

// Those that are not refused end as well when the streams go on without each other.
TEST(RankPrograms, TamperedOnesAreRefusedExactlyWhenTheyGetStuck) {
  std::size_t stuck = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Case built = random_case(seed, random);
    for (int i = 0; i < 20; ++i) {
      const RankPrograms other = tampered(built.ranks, random);
      const bool ends = ends_when_blocking(other);
      EXPECT_EQ(is_refused(other), !ends) << "change " << i;
      EXPECT_TRUE(!ends || ends_when_blocking(other, Behind::OnStream)) << "change " << i;
      ++(ends ? others : stuck);
    }
  }
  EXPECT_GT(stuck, 500u);
  EXPECT_GT(others, 500u);
}

TEST(RankPrograms, AreStoredAsTheyAre) {
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Case built = random_case(seed, random);
    RankPrograms again{built.ranks.graph, {}};
    for (const RankProgram& rank : built.ranks.ranks) {
      const std::string bytes = write_rank_program(rank);
      again.ranks.push_back(read_rank_program(bytes, *built.problem.graph, "rank.bin"));
      EXPECT_EQ(write_rank_program(again.ranks.back()), bytes);
      EXPECT_EQ(again.ranks.back().instructions, rank.instructions);
    }
    EXPECT_EQ(again.digest(), built.ranks.digest());
  }
}

TEST(RankPrograms, DamagedFilesAreRefused) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Case built = random_case(seed, random);
    const std::string bytes = write_rank_program(built.ranks.ranks.front());
    const std::size_t step = 1 + bytes.size() / 400;
    const auto refused = [&](const std::string& damaged) {
      EXPECT_THROW(read_rank_program(damaged, *built.problem.graph, "rank.bin"), InputError);
    };
    for (std::size_t size = 0; size < bytes.size(); size += step) refused(bytes.substr(0, size));
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << random.below(8)));
      refused(flipped);
    }
    refused(bytes + '\0');
  }
}

// With a valid check sum, too: what is read then is used without looking again.
TEST(RankPrograms, ForgedFilesAreRefusedOrSound) {
  constexpr std::size_t kHead = 28;
  std::size_t refused = 0, accepted = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const Case built = random_case(seed, random);
    const std::string bytes = write_rank_program(built.ranks.ranks.front());
    for (int i = 0; i < 40; ++i) {
      std::string forged = bytes;
      const std::size_t at = kHead + random.below(bytes.size() - kHead);
      forged[at] = static_cast<char>(random.below(256));
      const Digest check = digest_of(std::string_view(forged).substr(kHead));
      for (int byte = 0; byte < 8; ++byte) {
        forged[static_cast<std::size_t>(12 + byte)] = static_cast<char>(check.high >> (8 * byte));
        forged[static_cast<std::size_t>(20 + byte)] = static_cast<char>(check.low >> (8 * byte));
      }
      try {
        const RankProgram read = read_rank_program(forged, *built.problem.graph, "rank.bin");
        EXPECT_EQ(write_rank_program(read), forged);
        ++accepted;
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(accepted, 100u);  // times and sizes that were simulated can be any
}

}  // namespace
}  // namespace strato

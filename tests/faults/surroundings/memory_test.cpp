// A rank that may not have the memory that it needs.
#include "tests/faults/fault_kit.h"
#include "tests/paths.h"

namespace strato {
namespace {

// As much as it takes to start, and a fraction of what the tensors take. Each thread may set 64 MB
// apart for its small allocations, on a busy machine so many that none is left for tensors or
// threads: one such place is enough here.
TEST_F(Faults, ARankThatRunsOutOfMemoryNamesWhatItWasAllocating) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer maps terabytes for itself";
  job = toy::job(kRanks, std::int64_t{1} << 24);
  job.options.engine = "replay";
  job.options.steps = 2;
  stage_job(folder.path(), job);
  const auto launched = launcher->launch(with_worker(
      "export MALLOC_ARENA_MAX=1\n[ $4 = 1 ] && ulimit -v 600000\nexec \"$worker\" \"$@\""));
  const std::string problem = problem_of(*launched);
  EXPECT_EQ(problem.find("rank 1: "), 0u) << problem;
  EXPECT_NE(problem.find("memory does not suffice"), std::string::npos) << problem;
  EXPECT_NE(problem.find(" bytes"), std::string::npos) << problem;
  EXPECT_TRUE(problem.find("tensor \"") != std::string::npos ||
              problem.find("instruction ") != std::string::npos)
      << problem;
}

}  // namespace
}  // namespace strato

// A rank that may not have the memory that it needs.
#include "tests/faults/fault_kit.h"
#include "tests/paths.h"

namespace strato {
namespace {

// As much as it takes to start, and less than the tensors take.
TEST_F(Faults, ARankThatRunsOutOfMemoryNamesWhatItWasAllocating) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer maps terabytes for itself";
  job = toy::job(kRanks, std::int64_t{1} << 22);
  job.options.engine = "replay";
  job.options.steps = 2;
  stage_job(folder.path(), job);
  const auto launched =
      launcher->launch(with_worker("[ $4 = 1 ] && ulimit -v 450000\nexec \"$worker\" \"$@\""));
  const std::string problem = problem_of(*launched);
  EXPECT_EQ(problem.find("rank 1: "), 0u) << problem;
  EXPECT_NE(problem.find("memory does not suffice"), std::string::npos) << problem;
  EXPECT_NE(problem.find("bytes"), std::string::npos) << problem;
  EXPECT_TRUE(problem.find("tensor \"") != std::string::npos ||
              problem.find("instruction ") != std::string::npos)
      << problem;
}

}  // namespace
}  // namespace strato

// Ranks that do not fit together: other plans, secrets and versions.
#include "core/launch/job/run_files.h"
#include "tests/faults/fault_kit.h"

namespace strato {
namespace {

TEST_F(Faults, ARankOfAnotherPlanIsNamed) {
  job.options.steps = 3;
  stage_job(folder.path(), job);
  const TemporaryFolder elsewhere;
  Job other = job;
  for (RankProgram& rank : other.programs.ranks) rank.instructions.front().duration = Nanos(77);
  stage_job(elsewhere / "job", other);
  fs::remove(elsewhere / "job" / "secret");
  fs::copy_file(folder / "secret", elsewhere / "job" / "secret");
  fs::create_symlink(folder / "meeting.json", elsewhere / "job" / "meeting.json");
  const auto launched = launcher->launch(
      with_worker("[ $4 = 2 ] && exec \"$worker\" --job '" + (elsewhere / "job").string() +
                  "' --rank 2 --leash --interface 127.0.0.1\nexec \"$worker\" \"$@\""));
  expect_problem(*launched, "rank 2: has another plan", "same job folder");
}

TEST_F(Faults, ARankWithAnotherSecretIsRefused) {
  stage_job(folder.path(), job);
  const TemporaryFolder elsewhere;
  stage_job(elsewhere / "job", job);
  fs::create_symlink(folder / "meeting.json", elsewhere / "job" / "meeting.json");
  const auto launched = launcher->launch(
      with_worker("[ $4 = 1 ] && exec \"$worker\" --job '" + (elsewhere / "job").string() +
                  "' --rank 1 --leash --interface 127.0.0.1\nexec \"$worker\" \"$@\""));
  expect_problem(*launched, "rank 1 ", "ended with status 3");
  EXPECT_NE(find_failure(elsewhere / "job")->text.find("the secret is not this job's"),
            std::string::npos);
}

TEST_F(Faults, AJobOfAnotherVersionIsNamed) {
  stage_job(folder.path(), job);
  std::string description = read_file(folder / "job.json");
  const std::string own = "\"version\": " + std::to_string(Job::kVersion);
  description.replace(description.find(own), own.size(), "\"version\": 9");
  write_file(folder / "job.json", description);
  expect_problem(*launcher->launch(request()), "rank ", "version");
}

TEST_F(Faults, AProgramOfAnotherVersionIsNamed) {
  stage_job(folder.path(), job);
  std::string program = read_file(folder / "rank-1.bin");
  program[8] = 99;  // behind the magic
  const std::string before = read_file(folder / "job.json");
  write_file(folder / "rank-1.bin", program);
  expect_problem(*launcher->launch(request()), "rank 1: ", "rank-1.bin");
}

// Whoever may write to the folder cannot have a file of its owner's emptied.
TEST_F(Faults, ALogThatIsALinkIsNotFollowed) {
  write_file(programs / "mine", "kept");
  stage_job(folder.path(), job);
  fs::create_symlink(programs / "mine", folder / "log-1.txt");
  EXPECT_THROW(launcher->launch(request()), InputError);
  EXPECT_EQ(read_file(programs / "mine"), "kept");
  expect_none_left();
}

}  // namespace
}  // namespace strato

// A disk that is full when something is to be written.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/launch/job/job_result.h"
#include "tests/faults/fault_kit.h"

namespace strato {
namespace {

// A small disk, which only this test's processes see.
class SmallDisk {
 public:
  explicit SmallDisk(const fs::path& at) : at_(at) {
    if (::geteuid() == 0 && ::unshare(CLONE_NEWNS) == 0 &&
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0)
      mounted_ = ::mount("none", at.c_str(), "tmpfs", 0, "size=2m,mode=0700") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  bool there() const { return mounted_; }
  void fill() const {
    const int file = ::open((at_ / "filler").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (const std::size_t size : {std::size_t{65536}, std::size_t{4096}, std::size_t{1}}) {
      const std::string bytes(size, 'x');
      while (::write(file, bytes.data(), size) > 0) continue;
    }
    ::close(file);
  }
  void make_room() const { fs::remove(at_ / "filler"); }

 private:
  fs::path at_;
  bool mounted_ = false;
};

TEST_F(Faults, AFullDiskIsNamedWhateverIsWritten) {
  const SmallDisk disk(folder.path());
  if (!disk.there()) GTEST_SKIP() << "may not mount";
  {
    SCOPED_TRACE("before the start: logs, and where the ranks meet");
    stage_job(folder.path(), job);
    disk.fill();
    expect_problem(*launcher->launch(request()), "rank 0", "No space left");
    disk.make_room();
  }
  {
    SCOPED_TRACE("a checkpoint");
    endless();
    job.options.checkpoint_every = 20;
    const auto launched = launch();
    wait_for(*launched, JobEvent::Kind::Step);
    disk.fill();
    const std::string problem = problem_of(*launched);
    EXPECT_EQ(problem.find("rank "), 0u) << problem;
    EXPECT_NE(problem.find("No space left"), std::string::npos) << problem;
    EXPECT_NE(problem.find("checkpoint-"), std::string::npos) << problem;
    disk.make_room();
    job.options.resume = newest_checkpoint(folder.path());
  }
  {
    SCOPED_TRACE("the result; and staging");
    slow(Nanos(1'000'000));
    job.options.checkpoint_every = 0;
    job.options.steps = 60;
    const auto launched = launch();
    wait_for(*launched, JobEvent::Kind::Step);
    disk.fill();
    expect_problem(*launched, "rank 0", "No space left");
    disk.fill();
    EXPECT_THROW(stage_job(folder / "another", job), InputError);
    disk.make_room();
    job.options.steps = 80;
    const auto again = launch();
    events_of(*again);
    EXPECT_EQ(again->state(), JobState::Finished) << again->problem();
  }
}

}  // namespace
}  // namespace strato

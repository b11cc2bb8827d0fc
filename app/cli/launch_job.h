// A plan as a job: staged in a folder, started by a launcher, followed to its end.
#pragma once

#include <filesystem>
#include <string>

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "core/launch/job/job.h"
#include "core/plugin/use/launching.h"

namespace strato::cli {

// A folder for the job: `given`, made when it is not there, or a temporary one, in the working
// folder when other machines have to see it.
class JobFolder {
 public:
  JobFolder(const std::string& given, bool shared);
  ~JobFolder();  // takes a temporary one away, unless it is kept
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void keep() { temporary_ = false; }

 private:
  std::filesystem::path path_;
  bool temporary_;
};

// Shows the events of a job until it ends; Ctrl-C cancels it. The folder of one that cannot be
// followed to its end is kept: its ranks may still write there.
JobEnd follow(LaunchedJob& job, const JobOptions& options, const Interrupt& interrupt,
              JobFolder& folder);

// Of a job that has not finished: tells a person and with --json a script, keeps the logs of one
// that failed, and returns the exit status. `failed`: "the job failed".
int report_unfinished(const JobEnd& end, const std::string& failed, JobFolder& folder,
                      const Command& command);

}  // namespace strato::cli

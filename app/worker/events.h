// What rank 0 tells the launcher while the job runs: JSON lines on a file handle (standard output).
// The other ranks tell nothing. Any thread.
#pragma once

#include <mutex>
#include <string>

#include "core/launch/job/job_result.h"

namespace strato::worker {

class Events {
 public:
  // `handle`: -1 tells nothing.
  explicit Events(int handle) : handle_(handle) {}
  void tell(const JobEvent& event);
  void tell_line(const std::string& line);  // an event as JSON, without the newline
  // Only the first time.
  void tell_failure(int rank, const std::string& text);

 private:
  std::mutex mutex_;
  int handle_;
  bool failed_ = false;
};

}  // namespace strato::worker

#include "app/worker/events.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "core/launch/job/job_result.h"

namespace strato::worker {
namespace {

// A reader that has gone must not end the job: what it would have read is lost.
void write_all(int handle, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(handle, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void Events::tell(const JobEvent& event) { tell_line(to_json_line(event)); }

void Events::tell_line(const std::string& line) {
  if (handle_ < 0) return;
  const std::lock_guard lock(mutex_);
  write_all(handle_, line + "\n");
}

void Events::tell_failure(int rank, const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    failed_ = true;
  }
  JobEvent event;
  event.kind = JobEvent::Kind::Failed;
  event.rank = rank;
  event.text = text;
  tell(event);
}

}  // namespace strato::worker

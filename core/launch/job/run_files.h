// Files of a job's folder by which its processes find each other and tell what went wrong, while it
// runs:
//
//   meeting.json   where rank 0 listens
//   failure.json   the first failure of any rank, and its cause
//
// Both are written whole or not at all. Safe from any process and thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace strato {

struct MeetingPlace {
  std::string host;
  std::uint16_t port = 0;
};
void write_meeting(const std::filesystem::path& folder, const MeetingPlace& place);
// Nothing: it is not there yet. Throws InputError when it is damaged.
std::optional<MeetingPlace> find_meeting(const std::filesystem::path& folder);

struct RankFailure {
  int rank = 0;
  std::string text;
};
// Takes room in the folder for what record_failure() of this process may have to write once its
// disk is full. Does nothing where the file system cannot (NFS).
void reserve_failure(const std::filesystem::path& folder) noexcept;
// Does nothing when a failure is there already, or when the folder cannot be written: the log has
// it too.
void record_failure(const std::filesystem::path& folder, const RankFailure& failure) noexcept;
std::optional<RankFailure> find_failure(const std::filesystem::path& folder);

// The last thing that a rank wrote to its log, for a person; empty when it wrote none.
std::string last_log_line(const std::filesystem::path& folder, int rank);

// Takes away what an earlier run left of the above. Throws InputError.
void clear_run_files(const std::filesystem::path& folder);

}  // namespace strato

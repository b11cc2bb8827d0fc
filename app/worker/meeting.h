// Where the ranks of a job meet: an address that was given, or one that rank 0 takes and writes into
// the job's folder for the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "app/worker/worker.h"
#include "core/job/run_files.h"

namespace strato::worker {

// A port that nobody listens on at this address (empty: at any). Throws InputError when the address
// is not this machine's.
std::uint16_t free_port(const std::string& address);

// Blocks at most `timeout`. Throws InputError when rank 0 writes nothing.
MeetingPlace meeting_place(const WorkerArguments& arguments, std::chrono::milliseconds timeout);

}  // namespace strato::worker

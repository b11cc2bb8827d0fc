// Where the ranks of a job meet: an address that was given, or one that rank 0 takes and writes
// into the job's folder for the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "app/worker/worker.h"
#include "core/launch/job/run_files.h"

namespace strato::worker {

// "eth0" as its address, an address as it is. Throws InputError when the interface has none.
std::string address_of_interface(const std::string& interface);

// Where other machines reach this one: the address of its name, unless that is one that only this
// machine knows (127.0.1.1); then that of its first network. The loopback where there is no other.
std::string own_address();

// A port that nobody listens on at this address (empty: at any). Throws InputError when the address
// is not this machine's.
std::uint16_t free_port(const std::string& address);

// Blocks at most `timeout`. Throws InputError when rank 0 writes nothing.
MeetingPlace meeting_place(const WorkerArguments& arguments, std::chrono::milliseconds timeout);

}  // namespace strato::worker

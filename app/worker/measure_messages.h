// What rank 0 and the others say to each other while they measure. Throws PeerFailure, and
// InputError for a message that is damaged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cost/value/profile.h"
#include "core/launch/profiling/op_times.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

// From rank 0 to everyone who takes part in a measurement.
struct MeasureCommand {
  enum class What : std::int64_t { Stop, Ops, Probe } what = What::Stop;
  std::int64_t index = 0;    // of the job's graph or probe
  std::int64_t time_ns = 0;  // that it may take
  std::int64_t largest = 0;  // bytes of a message
};
void send_command(Transport& transport, int to, MeasureCommand command);
MeasureCommand receive_command(Transport& transport);

void send_text(Transport& transport, int to, std::string text);
std::string receive_text(Transport& transport, int from);

// What the rank that measured a graph's ops, or led a probe, tells rank 0.
struct OpsReply {
  ProfiledGraph measured;
  std::string problem;  // empty: none
};
std::string pack(const OpsReply& reply);
OpsReply unpack_ops(const std::string& text);

std::string pack(const std::vector<SizedMeasurement>& points);
std::vector<SizedMeasurement> unpack_points(const std::string& text);

// Before anything is measured, all to rank 0.
struct MeasureGreeting {
  std::string version, digest;  // must be the same everywhere
  std::string host;             // ranks that share its cores say the same
  std::string hardware;         // for people
  Bytes memory;                 // for messages, of all ranks of the host together
  Bytes largest;                // message that the device can hold
};
std::string pack(const MeasureGreeting& greeting);
MeasureGreeting unpack_greeting(const std::string& text);

}  // namespace strato::worker

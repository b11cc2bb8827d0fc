// What the communicators of a run say of its parallelism.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

enum class GroupRole : std::uint8_t { World, Tensor, Data, Pipeline, Expert, Context, Unknown };
const char* name_of(GroupRole role);

// Communicators of one size whose ranks are equally far apart, and what runs in them.
struct GroupFamily {
  std::int64_t size = 0;
  std::int64_t stride = 0;                        // between ranks; 0: not even
  std::vector<std::vector<std::int64_t>> groups;  // ranks, each once, ascending
  bool partition = false;                    // together they are all ranks of the world, each once
  std::map<Collective, std::int64_t> calls;  // of all ranks that were read
  Bytes sent;                                // by them
  std::int64_t ranks_read = 0;               // that have calls in it
  std::string description;                   // as the framework calls it; may be empty

  GroupRole role = GroupRole::Unknown;
  std::string evidence;  // why, as a sentence
};

// Families with calls, the most calls first. Empty when no file says which ranks are in a group.
//
// A role is the framework's own word for the groups, else what their collectives are typical of:
// sends and receives of pipelines; all-to-all of experts; of what remains, calls that are several
// times as frequent as the others' and smaller, between neighbours, of tensor parallelism; the
// rest of data parallelism. What is ambiguous is Unknown.
std::vector<GroupFamily> group_families(std::span<const Trace> traces);

// Sentences: "Tensor parallelism of 4: ..."; each with its evidence.
std::vector<std::string> parallelism_sentences(std::span<const GroupFamily> families);

}  // namespace strato::trace

#include "core/trace/value/kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace strato::trace {
namespace {

// In small letters, without what separates words: "_reduce_scatter_base" is "reducescatterbase".
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name.substr(0, 256))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

const char* name_of(EventKind kind) {
  constexpr std::array<const char*, kEventKinds> names = {
      "operators", "Python functions", "runtime calls",      "kernels", "copies", "fills",
      "waits",     "annotations",      "device annotations", "other"};
  return names[static_cast<std::size_t>(kind)];
}

KernelType kernel_type(EventKind kind, std::string_view name) {
  if (name.find("nccl") != std::string_view::npos || name.starts_with("hccl"))
    return KernelType::Communication;
  if (kind == EventKind::Copy || kind == EventKind::Fill ||
      begins_with_any(name, {"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma"}))
    return KernelType::Memory;
  // What an MTIA's queues do around the kernels.
  if (begins_with_any(name, {"runFunction", "job_exe", "packet", "pe_exe", "cpum_exe_subgraph",
                             "collective_subgraph_execution"}))
    return KernelType::Other;
  return KernelType::Computation;
}

const char* name_of(KernelType type) {
  constexpr std::array<const char*, kKernelTypes> names = {"computation", "communication", "memory",
                                                           "other"};
  return names[static_cast<std::size_t>(type)];
}

const char* name_of(Collective collective) {
  constexpr std::array<const char*, kCollectives> names = {
      "AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv", "Broadcast",
      "Reduce",    "Gather",    "Scatter",       "Barrier",  "unknown"};
  return names[static_cast<std::size_t>(collective)];
}

Collective collective_of(std::string_view name) {
  const std::string letters = letters_of(name);
  using Row = std::pair<std::string_view, Collective>;
  // The first that is in the name counts: "reducescatter" before "reduce".
  constexpr std::array<Row, 13> rows = {{{"allreduce", Collective::AllReduce},
                                         {"allgather", Collective::AllGather},
                                         {"reducescatter", Collective::ReduceScatter},
                                         {"alltoall", Collective::AllToAll},
                                         {"sendrecv", Collective::SendReceive},
                                         {"broadcast", Collective::Broadcast},
                                         {"barrier", Collective::Barrier},
                                         {"send", Collective::SendReceive},
                                         {"recv", Collective::SendReceive},
                                         {"gather", Collective::Gather},
                                         {"scatter", Collective::Scatter},
                                         {"reduce", Collective::Reduce},
                                         {"coalesced", Collective::SendReceive}}};
  for (const auto& [word, collective] : rows)
    if (letters.find(word) != std::string::npos) return collective;
  return Collective::Unknown;
}

std::int64_t element_bytes(std::string_view dtype) {
  std::string letters = letters_of(dtype);
  if (letters.starts_with("c10")) letters.erase(0, 3);
  using Row = std::pair<std::string_view, std::int64_t>;
  constexpr std::array<Row, 21> rows = {
      {{"float", 4},   {"half", 2},         {"bfloat16", 2},   {"double", 8},       {"long", 8},
       {"longint", 8}, {"int", 4},          {"short", 2},      {"byte", 1},         {"char", 1},
       {"bool", 1},    {"unsignedchar", 1}, {"signedchar", 1}, {"float32", 4},      {"float16", 2},
       {"float64", 8}, {"float8e4m3fn", 1}, {"float8e5m2", 1}, {"complexfloat", 8}, {"int32", 4},
       {"int64", 8}}};
  const auto* row = std::ranges::find(rows, letters, &Row::first);
  return row == rows.end() ? 0 : row->second;
}

}  // namespace strato::trace

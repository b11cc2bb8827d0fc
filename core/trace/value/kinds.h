// What kinds of events, kernels and collectives there are in a trace, and how they are told apart
// by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strato::trace {

enum class EventKind : std::uint8_t {
  Operator,    // of a framework, on the host
  Python,      // a function of Python
  Runtime,     // a call of CUDA's, HIP's or another runtime
  Kernel,      // on a device; so are the next two
  Copy,        // memcpy
  Fill,        // memset
  Wait,        // a stream or device that is synchronised with
  Annotation,  // of a person or a framework, on the host
  DeviceAnnotation,
  Other
};
inline constexpr int kEventKinds = 10;

constexpr bool runs_on_device(EventKind kind) {
  return kind == EventKind::Kernel || kind == EventKind::Copy || kind == EventKind::Fill;
}
const char* name_of(EventKind kind);

// As HolisticTraceAnalysis tells kernels apart (hta/common/types.py): by their names.
enum class KernelType : std::uint8_t { Computation, Communication, Memory, Other };
inline constexpr int kKernelTypes = 4;
KernelType kernel_type(EventKind kind, std::string_view name);
const char* name_of(KernelType type);

enum class Collective : std::uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  SendReceive,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Barrier,
  Unknown
};
inline constexpr int kCollectives = 11;
const char* name_of(Collective collective);
// Of a framework's name ("_allgather_base", "all_to_all"), or a kernel's ("ncclDevKernel_AllReduce_
// Sum_f32_RING_LL"). Unknown: it names none.
Collective collective_of(std::string_view name);

// Bytes of an element of a framework's type ("Float", "BFloat16", "c10::Half"); 0: not known.
std::int64_t element_bytes(std::string_view dtype);

}  // namespace strato::trace

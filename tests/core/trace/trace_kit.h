// Small traces as text, and what is read of them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/trace/read/read_trace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato::trace {

inline std::string event(const std::string& category, const std::string& name, double start,
                         double duration, const std::string& arguments = "") {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":2,"ts":{},"dur":{},"args":{{{}}}}})",
      category, name, start, duration, arguments);
}

inline std::string kernel(const std::string& name, double start, double duration, int stream = 7,
                          std::int64_t correlation = 0) {
  return event("kernel", name, start, duration,
               fmt::format(R"("device":0,"stream":{},"correlation":{})", stream, correlation));
}

inline std::string launch(double start, double duration, std::int64_t correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", start, duration,
               fmt::format(R"("correlation":{})", correlation));
}

// A collective's kernel as newer profilers write it.
inline std::string all_reduce(double start, double duration, const std::string& ranks,
                              const std::string& group = "0", int stream = 8) {
  return event(
      "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, duration,
      fmt::format(R"("device":0,"stream":{},"Collective name":"allreduce","dtype":"Float",)"
                  R"("In msg nelems":1000,"Out msg nelems":1000,"Process Group Name":"{}",)"
                  R"("Process Group Ranks":"{}")",
                  stream, group, ranks));
}

inline std::string joined(const std::vector<std::string>& events) {
  return fmt::format("{}", fmt::join(events, ",\n"));
}

inline std::string kineto(const std::vector<std::string>& events, int rank = 0, int world = 1) {
  return fmt::format(
      R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},)"
      "\n\"traceEvents\":[\n{}\n]}}",
      rank, world, joined(events));
}

inline void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline Trace read_text(const std::string& text) {
  const TemporaryFolder folder;
  write(folder / "trace", text);
  return std::move(read_trace(folder / "trace").front());
}

inline TraceSet read_texts(const std::vector<std::string>& texts) {
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < texts.size(); ++i)
    write(folder / fmt::format("{}.json", i), texts[i]);
  return read_traces(folder.path());
}

inline std::string remarks_of(const Trace& trace) {
  return fmt::format("{}", fmt::join(trace.remarks, "\n"));
}

}  // namespace strato::trace

// Traces of profilers as values, whatever wrote them: recognised by their content.
//
// Files are read as streams: memory goes with what is kept of them. What is merely wrong (a file
// that ends too soon, events without a time) is a sentence in the trace's remarks. Throws
// InputError for what is no trace. Different files may be read at the same time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

// Nothing: the file is no trace, or cannot be read.
std::optional<Format> recognise(const std::filesystem::path& file);

// A file that is a trace, or a folder with at least one in it or in its folders.
bool holds_traces(const std::filesystem::path& path);

// Several where the file has several processes with devices (Nsight Systems).
std::vector<Trace> read_trace(const std::filesystem::path& file);

struct TraceSet {
  std::vector<Trace> traces;         // by rank; none: reading was stopped
  std::vector<std::string> remarks;  // sentences on files and ranks
};
// Of a file, or of all traces in a folder. Every trace gets a rank: that in the file, else in its
// name ("rank-3", "worker3"), else its place. `read_one` is told of each file that has been read
// and of how many there are, from any thread. `stop` ends reading within a moment.
using ReadOne = std::function<void(const std::filesystem::path& file, std::size_t of_files)>;
TraceSet read_traces(const std::filesystem::path& path, const ReadOne& read_one = {},
                     const std::stop_token& stop = {});

}  // namespace strato::trace

#include "core/trace/read/read_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <set>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/parallel.h"
#include "core/trace/read/chakra.h"
#include "core/trace/read/chrome_reader.h"
#include "core/trace/read/execution_trace.h"
#include "core/trace/read/nsight.h"
#include "core/trace/read/trace_builder.h"
#include "core/trace/text/text_source.h"

namespace strato::trace {
namespace {

constexpr std::size_t kLookedAt = std::size_t{1} << 20;
constexpr std::size_t kMostFiles = 16384;

std::optional<Format> format_of_json(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (has("\"traceEvents\"") || has("\"deviceProperties\"") || has("\"distributedInfo\""))
    return Format::Kineto;
  if (has("\"workload_graph\"") || (has("\"schema\"") && has("\"nodes\"")))
    return Format::ExecutionTrace;
  if (has("\"ph\"")) return Format::Chrome;
  return std::nullopt;
}

// Of any program that gives its files no number of its own, as Nsight Systems.
bool is_database_of_nobody(std::string_view text) {
  constexpr std::size_t kNumberAt = 68, kNumberSize = 4;  // in SQLite's header
  return text.starts_with(std::string_view("SQLite format 3\0", 16)) &&
         text.substr(0, kNumberAt + kNumberSize).ends_with(std::string_view("\0\0\0\0", 4));
}

std::optional<Format> format_of(std::string_view text) {
  if (is_database_of_nobody(text)) return Format::NsightSystems;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  if (text[first] == '{' || text[first] == '[') return format_of_json(text);
  return begins_as_chakra(text) ? std::optional(Format::Chakra) : std::nullopt;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  using std::filesystem::directory_options;
  for (std::filesystem::recursive_directory_iterator
           at(folder, directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path());
    if (files.size() > kMostFiles)
      throw InputError(folder.string(), "", fmt::format("has more than {} files", kMostFiles),
                       "give the folder with the traces");
  }
  std::ranges::sort(files);
  return files;
}

// Behind "rank" or "worker" and at most one sign.
std::optional<std::int64_t> rank_in_name(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  for (const std::string_view word : {"rank", "worker"}) {
    std::size_t at = name.find(word);
    if (at == std::string::npos) continue;
    at += word.size();
    if (at < name.size() && (name[at] == '-' || name[at] == '_')) ++at;
    const std::size_t end = std::min(name.find_first_not_of("0123456789", at), name.size());
    if (const auto rank = number_from<std::int64_t>(std::string_view(name).substr(at, end - at)))
      return rank;
  }
  return std::nullopt;
}

// In the order of their numbers, each once.
void give_ranks(TraceSet& set) {
  std::set<std::int64_t> taken;
  std::vector<std::string> without;
  for (Trace& trace : set.traces) {
    if (!trace.rank) trace.rank = rank_in_name(trace.file);
    if (trace.rank && taken.insert(*trace.rank).second) continue;
    if (trace.rank)
      set.remarks.push_back(
          fmt::format("There are several traces of rank {}; {} has another number here.",
                      *trace.rank, trace.file));
    trace.rank.reset();
  }
  std::int64_t next = 0;
  for (Trace& trace : set.traces) {
    if (trace.rank) continue;
    while (!taken.insert(next).second) ++next;
    trace.rank = next;
  }
  std::ranges::stable_sort(set.traces, {}, &Trace::rank);
}

std::vector<Trace> read_until(const std::filesystem::path& file, const std::stop_token& stop) {
  const auto format = format_of(beginning_of(file, kLookedAt));
  if (!format)
    throw InputError(
        file.string(), "", "is no trace that is known here",
        "give a trace of a profiler: Kineto, Chrome, Chakra or Nsight Systems (SQLite)");
  std::vector<Trace> traces;
  switch (*format) {
    case Format::Kineto:
    case Format::Chrome:
      traces.push_back(read_chrome(file, stop));
      break;
    case Format::ExecutionTrace:
      traces.push_back(read_execution_trace(file, stop));
      break;
    case Format::Chakra:
      traces.push_back(read_chakra(file, stop));
      break;
    case Format::NsightSystems:
      traces = read_nsight(file, stop);
      break;
  }
  return traces;
}

}  // namespace

std::optional<Format> recognise(const std::filesystem::path& file) {
  try {
    return format_of(beginning_of(file, kLookedAt));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool holds_traces(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return recognise(path).has_value();
  return std::ranges::any_of(files_in(path),
                             [](const auto& file) { return recognise(file).has_value(); });
}

std::vector<Trace> read_trace(const std::filesystem::path& file) { return read_until(file, {}); }

TraceSet read_traces(const std::filesystem::path& path, const ReadOne& read_one,
                     const std::stop_token& stop) try {
  std::error_code error;
  TraceSet set;
  if (!std::filesystem::is_directory(path, error)) {
    set.traces = read_until(path, stop);
    give_ranks(set);
    return set;
  }
  std::vector<std::filesystem::path> files = files_in(path);
  std::erase_if(files, [&](const auto& file) { return stop.stop_requested() || !recognise(file); });
  if (stop.stop_requested()) return {};
  if (files.empty())
    throw InputError(path.string(), "", "has no trace in it",
                     "give a folder with the traces of a run");
  std::vector<std::vector<Trace>> read(files.size());
  std::vector<std::string> problems(files.size());
  parallel_for(files.size(), 0, [&](std::size_t i) {
    if (stop.stop_requested()) throw ReadingStopped{};
    try {
      read[i] = read_until(files[i], stop);
    } catch (const InputError& problem) {
      problems[i] = problem.what();
    }
    if (read_one) read_one(files[i], files.size());
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!problems[i].empty()) set.remarks.push_back("Left out: " + problems[i] + ".");
    std::ranges::move(read[i], std::back_inserter(set.traces));
  }
  if (set.traces.empty())
    throw InputError(path.string(), "", problems.front(), "give other traces");
  give_ranks(set);
  return set;
} catch (const ReadingStopped&) {
  return {};
}

}  // namespace strato::trace

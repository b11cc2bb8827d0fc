#include "core/cluster/slurm/slurm_configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/base/words.h"
#include "core/cluster/slurm/hostlist.h"

namespace strato {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::size_t kMostNames = 4 * kMaxDevices;  // in all lists together

bool begins_with(std::string_view text, std::string_view prefix) {
  return same_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// What stands between two characters, or all that follows where the second one is not there.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "8 x 400": a count and what it counts; the count is 1 where there is none.
std::pair<std::int64_t, std::string_view> counted_at(std::string_view text, bool behind) {
  const std::size_t at = behind ? text.rfind(" x ") : text.find(" x ");
  if (at == std::string_view::npos) return {1, text};
  const std::string_view before = trimmed_word(text.substr(0, at)),
                         after = trimmed_word(text.substr(at + 3));
  const auto count = number_from<std::int64_t>(behind ? after : before, 1, kMaxDevices);
  if (!count) return {0, text};
  return {*count, behind ? before : after};
}

struct Line {
  std::size_t number;  // from 1
  std::string text;
};

// Lines that end with a backslash go on in the next one.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  bool goes_on = false;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed_word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const bool more = line.ends_with('\\');
    if (more) line.remove_suffix(1);
    if (!goes_on) lines.push_back({number, {}});
    lines.back().text += line;
    goes_on = more;
  }
  return lines;
}

// By key, in lower case; what stands in quotes may have spaces.
std::map<std::string, std::string> settings_in(std::string_view line) {
  std::map<std::string, std::string> settings;
  while (!(line = trimmed_word(line)).empty()) {
    const std::size_t equals = line.find_first_of("= \t");
    std::string key(line.substr(0, equals));
    std::ranges::transform(key, key.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    line.remove_prefix(std::min(key.size(), line.size()));
    if (!line.starts_with('=')) continue;
    line.remove_prefix(1);
    const bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    const std::size_t end = std::min(line.find_first_of(quoted ? "\"" : kSpaces), line.size());
    settings[key] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return settings;
}

class ConfigurationReader {
 public:
  ConfigurationReader(const std::string& file, const GpuCatalogue& catalogue)
      : file_(file), catalogue_(catalogue) {}

  SlurmConfiguration read(std::string_view text) && {
    for (const Line& line : lines_of(text)) read_line(line);
    check_switches();
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& problem,
                           const std::string& remedy) const {
    throw InputError(file_, fmt::format("line {}", line), problem, remedy);
  }

  void read_line(const Line& line) {
    const std::size_t hash = line.text.find('#');
    const std::string_view all = line.text, before = trimmed_word(all.substr(0, hash));
    if (before.empty() && hash != std::string::npos) {
      read_note(trimmed_word(all.substr(hash + 1)), line.number);
      return;
    }
    if (read_note(before, line.number)) return;
    const auto settings = settings_in(before);
    const auto has = [&](const char* key) { return settings.contains(key); };
    if (has("switchname") || has("blockname")) return read_switch(settings, line.number);
    if (has("nodename")) read_nodes(settings, line.number);
  }

  // "gpu: NAME x COUNT" and others that Slurm does not have.
  bool read_note(std::string_view text, std::size_t line) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view key = text.substr(0, colon),
                           value = trimmed_word(text.substr(colon + 1));
    if (same_ignoring_case(key, "gpu")) {
      const auto [count, name] = counted_at(value, true);
      made_.counted = name.size() != value.size();
      made_.usual = {known_gpu(name, line), count};
    } else if (same_ignoring_case(key, "nic")) {
      made_.nic = rate_from(value, line);
    } else if (same_ignoring_case(key, "uplinks")) {
      made_.uplinks = rate_from(value, line);
    } else if (same_ignoring_case(key, "oversubscription")) {
      const auto factor = number_from<double>(value.substr(0, value.find_first_of(": ")), 1, 1024);
      if (!factor)
        refuse(line, "has no oversubscription from 1 to 1024", "write \"# oversubscription: 3\"");
      made_.oversubscription = *factor;
    } else {
      return false;
    }
    return true;
  }

  // 10^6 bits per second.
  double rate_from(std::string_view text, std::size_t line) const {
    const auto [count, rate] = counted_at(text, false);
    const std::size_t end = std::min(rate.find_first_not_of("0123456789."), rate.size());
    const auto number = number_from<double>(rate.substr(0, end), 0, 1e6);
    const std::string_view unit = trimmed_word(rate.substr(end));
    const bool bytes = unit.starts_with("GB");
    if (count == 0 || !number || *number <= 0 || !begins_with(unit, "gb"))
      refuse(line, fmt::format("\"{}\" is no bandwidth", text.substr(0, 64)),
             "write \"8 x 400 Gb/s\", or the sum");
    return *number * static_cast<double>(count) * (bytes ? 8e3 : 1e3);
  }

  std::string known_gpu(std::string_view name, std::size_t line) const {
    if (const GpuType* type = catalogue_.find(name)) return type->name;
    refuse(line, fmt::format("the GPU \"{}\" is not known", name.substr(0, 64)),
           fmt::format("nearest: {}; or another of stratoscope-cli list gpus",
                       fmt::join(catalogue_.nearest(name), ", ")));
  }

  std::vector<std::string> hosts(std::string_view list, std::size_t line) {
    auto names = hosts_in(list, kMostNames - names_);
    if (!names)
      refuse(line,
             fmt::format("\"{}\" is no list of hosts, or one of too many", list.substr(0, 64)),
             fmt::format("write n[01-32,40]; a cluster has at most {} devices", kMaxDevices));
    names_ += names->size();
    return *std::move(names);
  }

  void read_switch(const std::map<std::string, std::string>& settings, std::size_t line) {
    SlurmSwitch added;
    added.line = line;
    for (const auto& [key, value] : settings) {
      if (key == "switchname" || key == "blockname") added.name = value;
      if (key == "nodes") added.nodes = hosts(value, line);
      if (key == "switches") added.switches = hosts(value, line);
    }
    added.block = settings.contains("blockname");
    made_.has_speeds |= settings.contains("linkspeed");
    if (!switch_names_.insert(added.name).second)
      refuse(line, fmt::format("has a second switch {}", added.name.substr(0, 64)),
             "give every switch once");
    // Slurm lets a node hang on several switches: the first one has it here.
    made_.several |= std::erase_if(added.nodes, [&](const std::string& node) {
                       return !in_switch_.insert(node).second;
                     }) > 0;
    made_.switches.push_back(std::move(added));
  }

  void read_nodes(const std::map<std::string, std::string>& settings, std::size_t line) {
    const std::string& list = settings.at("nodename");
    const auto gres = settings.find("gres");
    SlurmNode node{line, gres == settings.end() ? default_gpus_ : gpus_in(gres->second, line)};
    if (same_ignoring_case(list, "default")) {
      default_gpus_ = node.gpus;
      return;
    }
    for (const std::string& name : hosts(list, line)) {
      if (!made_.nodes.try_emplace(name, node).second)
        refuse(line, fmt::format("has a second node {}", name.substr(0, 64)),
               "give every node once");
      made_.order.emplace_back(name, line);
    }
  }

  // "gpu:h100:8(S:0-1),gpu:a100:2,nvme:4"; a bare "gpu:8" has an empty type.
  std::vector<GpuCount> gpus_in(std::string_view gres, std::size_t line) const {
    std::vector<GpuCount> gpus;
    int depth = 0;
    std::string plain;
    for (const char c : gres) {
      depth += (c == '(') - (c == ')');
      if (depth == 0 && c != ')') plain += c;
    }
    for (const std::string_view each : parts_of(plain, ",")) {
      const auto parts = parts_of(each, ":");
      if (parts.empty() || !same_ignoring_case(parts[0], "gpu")) continue;
      const auto count = number_from<std::int64_t>(parts.back());
      const bool typed = parts.size() > 2 || (parts.size() == 2 && !count);
      if (count && (*count < 0 || *count > kMaxDevices))
        refuse(line, fmt::format("has {} GPUs in a node", *count), "give the number there is");
      if (count.value_or(1) == 0) continue;
      gpus.push_back({typed ? known_gpu(parts[1], line) : std::string(), count.value_or(1)});
    }
    return gpus;
  }

  void check_switches() const {
    for (const SlurmSwitch& each : made_.switches)
      for (const std::string& below : each.switches)
        if (!switch_names_.contains(below))
          refuse(each.line, fmt::format("switch {} is not there", below.substr(0, 64)),
                 "give the whole topology.conf");
  }

  const std::string& file_;
  const GpuCatalogue& catalogue_;
  SlurmConfiguration made_;
  std::set<std::string> switch_names_, in_switch_;
  std::vector<GpuCount> default_gpus_;  // of NodeName=DEFAULT
  std::size_t names_ = 0;               // of hosts, so far
};

}  // namespace

bool is_slurm_configuration(std::string_view text) {
  for (const char* key : {"switchname=", "blockname=", "nodename="})
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (begins_with(trimmed_word(text.substr(begin, end - begin)), key)) return true;
      begin = end + 1;
    }
  return false;
}

SlurmConfiguration parse_slurm_configuration(std::string_view text, const std::string& file,
                                             const GpuCatalogue& catalogue) {
  return ConfigurationReader(file, catalogue).read(text);
}

}  // namespace strato

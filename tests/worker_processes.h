// Workers that run on this machine, whoever started them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace strato {

inline std::vector<std::string> strings_of(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::vector<std::string> strings;
  for (std::string each; std::getline(input, each, '\0');) strings.push_back(each);
  return strings;
}

// What "--rank" says, or the environment that the launcher made; -1: it is not known yet.
inline int rank_of_process(const std::filesystem::path& process,
                           const std::vector<std::string>& words) {
  if (words.size() > 4 && words[3] == "--rank") return std::stoi(words[4]);
  for (const std::string& each : strings_of(process / "environ")) {
    for (const std::string name : {"SLURM_PROCID=", "OMPI_COMM_WORLD_RANK="})
      if (each.starts_with(name)) return std::stoi(each.substr(name.size()));
  }
  return -1;
}

// Processes that run the job of this folder, by rank.
inline std::map<int, pid_t> workers_of(const std::filesystem::path& folder) {
  std::map<int, pid_t> workers;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto words = strings_of(entry.path() / "cmdline");
    if (words.size() > 2 && words[1] == "--job" && words[2] == folder.string())
      workers[rank_of_process(entry.path(), words)] = std::stoi(name);
  }
  return workers;
}

}  // namespace strato

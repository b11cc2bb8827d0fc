// A python3 with PyTorch, and other programs that tests run.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace strato {

// Its exit status; what it says goes to `log`.
inline int run_program(std::vector<std::string> words, const std::filesystem::path& log) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen(log.c_str(), "w", stdout) == nullptr || ::dup2(1, 2) < 0) ::_exit(126);
    ::setenv("OMP_NUM_THREADS", "1", 1);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// The system's python3 may have torch where another one in the path has none.
inline const std::string& python() {
  static const std::string found = [] {
    for (const std::string name : {"python3", "/usr/bin/python3"}) {
      const std::string test = "import torch, numpy, torch.distributed.run";
      if (run_program({name, "-c", test}, "/dev/null") == 0) return name;
    }
    return std::string();
  }();
  return found;
}

}  // namespace strato

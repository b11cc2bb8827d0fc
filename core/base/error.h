// The two ways to fail. InputError: a person gave something wrong (file, flag, plan, profile) and
// can mend it. CHECK: an invariant of ours is broken, a bug; stays on in release builds. An
// infeasible problem is neither: it is a result.
#pragma once

#include <stdexcept>
#include <string>

namespace strato {

class InputError : public std::runtime_error {
 public:
  // what() is one line: "file: place: problem; remedy", with empty parts left out.
  InputError(std::string file, std::string place, std::string problem, std::string remedy);

  const std::string& file() const { return file_; }
  const std::string& place() const { return place_; }
  const std::string& problem() const { return problem_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string file_, place_, problem_, remedy_;
};

class InvariantError : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);

}  // namespace strato

// CHECK(condition, "what is broken"): the message may be any expression that makes a std::string.
#define CHECK(condition, message)                                        \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::strato::check_failed(#condition, __FILE__, __LINE__, (message)); \
  } while (false)

// The names that constraints use, as ops, devices and decisions of a problem. Internal to
// bound_constraints.cpp. All throw InputError, which quotes the constraint (`line`).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/search/api/problem.h"
#include "core/search/constraints/constraints.h"

namespace strato {

class ConstraintBinder {
 public:
  explicit ConstraintBinder(const Problem& problem);

  // Ascending, each once, at least one. Of listed ops those that the model has.
  std::vector<OpId> ops_of(const ConstrainedOps& of, const std::string& line);
  std::vector<OpId> ops_of(const std::vector<ConstrainedOps>& all, const std::string& line);
  std::vector<DeviceId> devices_of(const std::string& name, const std::string& line) const;
  Decision decision_of(const Constraints::Pin& pin, const std::string& line) const;

 private:
  void add_listed(const ConstrainedOps& of, const std::string& line, std::vector<OpId>& ops);
  void add_named(const ConstrainedOps& of, const std::string& line, std::vector<OpId>& ops);
  std::pair<std::vector<DeviceId>, std::int32_t> share_of(
      const std::pair<std::string, std::int32_t>& named, const std::string& line) const;
  [[noreturn]] void unknown_device(const std::string& name, const std::string& line) const;

  const Problem& problem_;
  std::unordered_map<std::string_view, OpId> by_name_;
};

}  // namespace strato

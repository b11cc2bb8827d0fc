// Names of events, each kept once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"

namespace strato::trace {

struct NameTag;
using NameId = Id<NameTag>;

class Names {
 public:
  Names() = default;
  Names(Names&&) = default;
  Names& operator=(Names&&) = default;

  NameId add(std::string_view name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    texts_.push_back(std::make_unique<const std::string>(name));
    const NameId id(texts_.size() - 1);
    ids_.emplace(*texts_.back(), id);
    return id;
  }
  const std::string& operator[](NameId id) const { return *texts_[id.index()]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::vector<std::unique_ptr<const std::string>> texts_;  // that stay where they are
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace strato::trace

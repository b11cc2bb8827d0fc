// An engine that replays has no device to measure ops on: a profile of it would be what it was
// given.
#pragma once

#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/engine.h"

namespace strato::replay {

class MeasuresNothing final : public Engine {
 public:
  explicit MeasuresNothing(std::string name) : name_(std::move(name)) {}
  std::vector<EngineDevice> devices() const override { return {}; }
  std::string software() const override { return name_; }
  bool supports(const Graph&, OpId) const override { return false; }
  std::unique_ptr<Execution> prepare(std::shared_ptr<const Graph>,
                                     const EngineOptions& options) const override {
    throw InputError("", "--device", "there is no device \"" + options.device + "\"",
                     "take another engine: this one computes nothing");
  }

 private:
  std::string name_;
};

}  // namespace strato::replay

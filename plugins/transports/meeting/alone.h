// A job of one rank: nobody to talk to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::admission {

class Done final : public Pending {
 public:
  void wait() override {}
};

class AloneTransport final : public Transport {
 public:
  using Bytes = std::span<std::byte>;
  std::unique_ptr<Pending> send(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> receive(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> all_reduce(std::span<const int>, std::uint32_t, DataType,
                                      std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> all_gather(std::span<const int>, std::uint32_t,
                                      std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> reduce_scatter(std::span<const int>, std::uint32_t, DataType,
                                          std::vector<Bytes>) override {
    return std::make_unique<Done>();
  }
  void barrier() override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }

 private:
  [[noreturn]] static std::unique_ptr<Pending> nobody() { CHECK(false, "a job of one rank"); }
};

}  // namespace strato::admission

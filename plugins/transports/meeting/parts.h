// Parts of every transport: a job of one rank, and texts of all ranks at rank 0.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::admission {

// Nothing is left to wait for.
class Done final : public Pending {
 public:
  void wait() override {}
};

// A job of one rank: nobody to talk to.
class AloneTransport final : public Transport {
 public:
  using Bytes = std::span<std::byte>;
  std::unique_ptr<Pending> send(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> receive(int, std::uint32_t, Bytes) override { return nobody(); }
  std::unique_ptr<Pending> all_reduce(std::span<const int>, std::uint32_t, DataType,
                                      std::vector<Bytes>) override {
    return done();
  }
  std::unique_ptr<Pending> all_gather(std::span<const int>, std::uint32_t,
                                      std::vector<Bytes>) override {
    return done();
  }
  std::unique_ptr<Pending> reduce_scatter(std::span<const int>, std::uint32_t, DataType,
                                          std::vector<Bytes>) override {
    return done();
  }
  void barrier() override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }

 private:
  static std::unique_ptr<Pending> done() { return std::make_unique<Done>(); }
  [[noreturn]] static std::unique_ptr<Pending> nobody() { CHECK(false, "a job of one rank"); }
};

// ---- over a transport's own messages

// Moves bytes to or from a rank and blocks until that is done; of no bytes, nothing happens.
using MoveBytes = std::function<void(int peer, std::span<std::byte> bytes)>;

// By rank; on other ranks than 0 none. Every rank calls it. A text goes after its size.
std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                      const MoveBytes& send, const MoveBytes& receive);

}  // namespace strato::admission

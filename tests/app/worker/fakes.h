// An engine that notes what it is asked, and a transport between threads of one process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

class FakeExecution : public RankExecution {
 public:
  FakeExecution(const Graph& graph, const RankProgram& program)
      : graph_(graph), program_(program), memory_(program.values.size()) {}

  std::function<void(std::size_t)> on_run = [](std::size_t) {};
  std::optional<double> loss_now;

  void begin_step(std::int64_t step) override {
    const std::lock_guard lock(mutex_);
    steps_.push_back(step);
  }
  void run(std::size_t instruction) override {
    on_run(instruction);
    const std::lock_guard lock(mutex_);
    ran_.push_back(instruction);
  }
  std::span<std::byte> memory(ValueId value) override {
    const std::lock_guard lock(mutex_);
    std::string& bytes = memory_[value.index()];
    const Value& what = program_.values[value];
    bytes.resize(static_cast<std::size_t>(bytes_of(graph_, what).value));
    return std::as_writable_bytes(std::span(bytes));
  }
  void release(ValueId value) override {
    const std::lock_guard lock(mutex_);
    released_.push_back(value.index());
  }
  std::string read(ValueId value) const override { return memory_[value.index()]; }
  void write(ValueId value, const std::string& elements) override {
    memory_[value.index()] = elements;
  }
  std::optional<double> loss() const override { return loss_now; }
  Bytes peak_memory() const override { return Bytes(1000 + program_.rank); }

  std::span<float> floats(std::size_t value) {
    const auto bytes = memory(ValueId(value));
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }
  std::vector<std::size_t> ran() const {
    const std::lock_guard lock(mutex_);
    return ran_;
  }
  std::vector<std::size_t> released() const {
    const std::lock_guard lock(mutex_);
    return released_;
  }
  std::vector<std::int64_t> steps() const { return steps_; }

 private:
  const Graph& graph_;
  const RankProgram& program_;
  mutable std::mutex mutex_;
  std::vector<std::string> memory_;
  std::vector<std::size_t> ran_, released_;
  std::vector<std::int64_t> steps_;
};

// Its values cannot be touched by the host, whose transport is below.
struct FakeDevice final : FakeExecution, DeviceMemory {
  using FakeExecution::FakeExecution;
  void copy(const RowCopy&) override {}
  std::shared_ptr<std::byte> scratch(std::size_t) override { return nullptr; }
};
inline constexpr const char* kOutOfReach =
    "--transport: this one moves only what is in the host's memory, and the engine's values are on "
    "a GPU; give nccl";

// Transfers meet: a send is done when its receive has the bytes.
class Hub {
 public:
  explicit Hub(int ranks) : ranks_(ranks) {}

  // Everything that waits or will wait throws this.
  void break_down(const std::string& text) {
    const std::lock_guard lock(mutex_);
    broken_ = text;
    changed_.notify_all();
  }
  // Nothing is delivered until it is opened.
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  struct Message {
    std::span<std::byte> from, to;
    bool sent = false, received = false, done = false;
  };
  struct Meet {
    std::map<int, std::vector<std::span<std::byte>>> parts;
    int left = 0;
    bool done = false;
  };
  using Key = std::tuple<int, int, std::uint32_t, int>;  // from, to, tag, how many before

  Message& message(int from, int to, std::uint32_t tag, int count) {
    return messages_[{from, to, tag, count}];
  }

  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
    changed_.wait(lock, [&] { return !broken_.empty() || (!held_ && ready()); });
    if (!broken_.empty()) throw InputError("", "", broken_, "");
  }

  std::mutex& mutex() { return mutex_; }
  void notify() { changed_.notify_all(); }
  int ranks() const { return ranks_; }
  std::map<std::pair<std::string, int>, Meet> meets;

 private:
  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string broken_;
  bool held_ = false;
  std::map<Key, Message> messages_;
};

class FakeTransport final : public Transport {
 public:
  FakeTransport(Hub& hub, int rank) : hub_(hub), rank_(rank) {}

  std::unique_ptr<Pending> send(int to, std::uint32_t tag, std::span<std::byte> bytes) override {
    return transfer(rank_, to, tag, bytes, true);
  }
  std::unique_ptr<Pending> receive(int from, std::uint32_t tag,
                                   std::span<std::byte> bytes) override {
    return transfer(from, rank_, tag, bytes, false);
  }
  std::unique_ptr<Pending> all_reduce(const Members& members, std::uint32_t tag, DataType,
                                      std::vector<std::span<std::byte>> values) override {
    streams_by_tag[tag] = members.stream;
    return meet("reduce" + std::to_string(tag), members, std::move(values), [](Hub::Meet& all) {
      for (std::size_t i = 0; i < all.parts.begin()->second.size(); ++i) add(all, i, -1);
    });
  }
  std::unique_ptr<Pending> all_gather(const Members& members, std::uint32_t tag,
                                      std::vector<std::span<std::byte>> pieces) override {
    return meet("gather" + std::to_string(tag), members, std::move(pieces), [](Hub::Meet& all) {
      std::size_t place = 0;
      for (auto& [owner, own] : all.parts) {
        for (auto& [other, pieces] : all.parts) {
          if (other != owner)
            std::memcpy(pieces[place].data(), own[place].data(), own[place].size());
        }
        ++place;
      }
    });
  }
  std::unique_ptr<Pending> reduce_scatter(const Members& members, std::uint32_t tag, DataType,
                                          std::vector<std::span<std::byte>> pieces) override {
    return meet("scatter" + std::to_string(tag), members, std::move(pieces), [](Hub::Meet& all) {
      int place = 0;
      for (auto& [owner, own] : all.parts) {
        add(all, static_cast<std::size_t>(place), owner);
        ++place;
      }
    });
  }
  std::unique_ptr<Pending> all_to_all(const Members& members, std::uint32_t tag,
                                      std::vector<std::span<std::byte>> sent,
                                      std::vector<std::span<std::byte>> received) override {
    streams_by_tag[tag] = members.stream;
    const std::size_t count = sent.size();
    sent.insert(sent.end(), received.begin(), received.end());
    return meet("swap" + std::to_string(tag), members, std::move(sent), [count](Hub::Meet& all) {
      std::size_t from = 0;
      for (auto& [owner, own] : all.parts) {
        std::size_t to = 0;
        for (auto& [other, theirs] : all.parts) {
          if (other != owner)
            std::memcpy(theirs[count + from].data(), own[to].data(), own[to].size());
          ++to;
        }
        ++from;
      }
    });
  }
  void barrier() override { gather(""); }
  std::vector<std::string> gather(const std::string& text) override {
    std::string own = text;
    std::vector<int> all;
    for (int rank = 0; rank < hub_.ranks(); ++rank) all.push_back(rank);
    std::vector<std::string> result;
    meet(
        "texts", all, {std::as_writable_bytes(std::span(own))}, [](Hub::Meet&) {},
        [&](Hub::Meet& meet) {
          if (rank_ != 0 || !result.empty()) return;
          for (auto& [rank, parts] : meet.parts)
            result.emplace_back(reinterpret_cast<const char*>(parts[0].data()), parts[0].size());
        })
        ->wait();
    return result;
  }

  std::map<std::uint32_t, Stream> streams_by_tag;  // of AllReduces and AllToAlls

 private:
  class Wait final : public Pending {
   public:
    explicit Wait(std::function<void()> wait) : wait_(std::move(wait)) {}
    void wait() override { wait_(); }

   private:
    std::function<void()> wait_;
  };

  std::unique_ptr<Pending> transfer(int from, int to, std::uint32_t tag, std::span<std::byte> bytes,
                                    bool sends) {
    const std::unique_lock lock(hub_.mutex());
    const int count = counts_[{from, to, tag}]++;
    Hub::Message& message = hub_.message(from, to, tag, count);
    (sends ? message.from : message.to) = bytes;
    (sends ? message.sent : message.received) = true;
    hub_.notify();
    return std::make_unique<Wait>([this, &message] {
      std::unique_lock lock(hub_.mutex());
      hub_.wait(lock, [&] { return message.done || (message.sent && message.received); });
      if (message.done) return;
      CHECK(message.from.size() == message.to.size(), "a transfer's sizes differ");
      std::memcpy(message.to.data(), message.from.data(), message.from.size());
      message.done = true;
    });
  }

  // Who comes last does the work, and everyone leaves only then; `after` is for who reads the
  // others' parts before they are gone.
  std::unique_ptr<Pending> meet(
      std::string name, std::span<const int> members, std::vector<std::span<std::byte>> parts,
      std::function<void(Hub::Meet&)> work,
      std::function<void(Hub::Meet&)> after = [](Hub::Meet&) {}) {
    for (const int member : members) name += "," + std::to_string(member);
    const std::unique_lock lock(hub_.mutex());
    Hub::Meet& meet = hub_.meets[{name, meet_counts_[name]++}];
    meet.parts[rank_] = std::move(parts);
    hub_.notify();
    const std::size_t expected = members.size();
    return std::make_unique<Wait>([this, &meet, expected, work, after] {
      std::unique_lock lock(hub_.mutex());
      hub_.wait(lock, [&] { return meet.parts.size() == expected; });
      if (!meet.done) work(meet);
      meet.done = true;
      after(meet);
      ++meet.left;
      hub_.notify();
      hub_.wait(lock, [&] { return meet.left == static_cast<int>(expected); });
    });
  }

  // Sums part `place` of all members, into one of them or (-1) into all.
  static void add(Hub::Meet& all, std::size_t place, int into) {
    const std::size_t size = all.parts.begin()->second[place].size() / sizeof(float);
    std::vector<float> sum(size, 0);
    const auto floats = [&](std::vector<std::span<std::byte>>& parts) {
      return reinterpret_cast<float*>(parts[place].data());
    };
    for (auto& [rank, parts] : all.parts) {
      for (std::size_t i = 0; i < size; ++i) sum[i] += floats(parts)[i];
    }
    for (auto& [rank, parts] : all.parts) {
      if (into < 0 || rank == into) std::copy(sum.begin(), sum.end(), floats(parts));
    }
  }

  Hub& hub_;
  int rank_;
  std::map<std::tuple<int, int, std::uint32_t>, int> counts_;
  std::map<std::string, int> meet_counts_;
};

}  // namespace strato::worker

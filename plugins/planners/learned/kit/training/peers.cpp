// LibTorch's logging defines a CHECK of its own.
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#undef CHECK

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/number_from.h"
#include "plugins/planners/learned/kit/training/peers.h"

namespace strato::learned {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
constexpr auto kHeartbeat = std::chrono::seconds(1);
constexpr double kMeeting = 60;                      // seconds beside `patience` for all to start
constexpr std::size_t kPart = std::size_t{1} << 20;  // the store takes no more than 8 MiB at once
using Seconds = std::chrono::duration<double>;

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

Address parse_address(const std::string& master) {
  const std::size_t colon = master.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    if (const auto port = number_from<std::uint16_t>(master.substr(colon + 1), 1))
      return {master.substr(0, colon), *port};
  }
  throw InputError("", "--master", fmt::format("\"{}\" is not of the form host:port", master),
                   "give the first process's machine and a free port, for example node1:29500");
}

[[noreturn]] void lost(const std::string& who, const std::string& how) {
  throw PeerLost("", "training", fmt::format("{} is lost ({})", who, how),
                 "the checkpoint is kept: start all processes again to go on from it");
}

c10::intrusive_ptr<c10d::TCPStore> connect(const Address& address, bool server, int processes,
                                           double patience) {
  c10d::TCPStoreOptions options;
  options.port = address.port;
  options.isServer = server;
  if (processes > 0) options.numWorkers = static_cast<std::size_t>(processes);
  options.waitWorkers = processes > 0;
  options.timeout = Milliseconds(static_cast<std::int64_t>(1e3 * patience));
  return c10::make_intrusive<c10d::TCPStore>(address.host, options);
}

std::string alive_key(int rank) { return fmt::format("alive/{}", rank); }
std::string data_key(std::int64_t round, int rank) {
  return fmt::format("data/{}/{}", round, rank);
}

struct Standing {
  std::int64_t step = 0;
  double elapsed_seconds = 0;
  std::uint64_t digest = 0, size = 0;  // of the network's bytes
};

std::vector<Standing> standings(Peers& peers, const SharedState& own) {
  const Standing mine{own.step, own.elapsed_seconds, Hasher().text(own.network).finish().low,
                      own.network.size()};
  std::vector<Standing> all;
  for (const std::string& row :
       peers.exchange_bytes({reinterpret_cast<const char*>(&mine), sizeof mine})) {
    CHECK(row.size() == sizeof mine, "all processes are of one version");
    std::memcpy(&all.emplace_back(), row.data(), sizeof mine);
  }
  return all;
}

// Returns what the leader has; the others give nothing.
std::string receive(Peers& peers, std::size_t leader, std::size_t size, const std::string& own) {
  std::string bytes;
  while (bytes.size() < size)
    bytes += peers.exchange_bytes(own.empty() ? own : own.substr(bytes.size(), kPart))[leader];
  return bytes;
}

}  // namespace

struct Peers::State {
  int rank = 0, processes = 1;
  double patience = 30;
  std::int64_t round = 0;
  c10::intrusive_ptr<c10d::TCPStore> store;
  std::jthread pulse;  // has a connection of its own: the store serves one call at a time

  std::string name(int peer) const { return fmt::format("process {} of {}", peer, processes); }
  void start_pulse(const Address& address) {
    auto connection = connect(address, false, 0, patience + kMeeting);
    pulse = std::jthread([connection, key = alive_key(rank)](const std::stop_token& end) {
      try {
        while (!end.stop_requested()) {
          connection->add(key, 1);
          const auto until = Clock::now() + kHeartbeat;
          while (!end.stop_requested() && Clock::now() < until)
            std::this_thread::sleep_for(Milliseconds(50));
        }
      } catch (const std::exception&) {  // the first process is gone: the next exchange says so
      }
    });
  }
  // Polls, so that a peer's silence is seen: get() would wait without looking.
  void wait_for(const std::string& key, int peer) {
    auto pause = Milliseconds(1);
    std::int64_t beats = -1;
    auto heard = Clock::now(), looked = heard;
    while (!store->check({key})) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, Milliseconds(50));
      if (Clock::now() - looked < kHeartbeat) continue;
      looked = Clock::now();
      const std::int64_t count = store->add(alive_key(peer), 0);
      if (std::exchange(beats, count) != count) heard = looked;
      if (looked - heard > Seconds(patience))
        lost(name(peer), fmt::format("silent for {:.0f} s", patience));
    }
  }
};

Peers::Peers(int rank, int processes, const std::string& master, double patience)
    : state_(new State{rank, processes, patience, 0, {}, {}}) {
  if (processes < 1 || rank < 0 || rank >= processes)
    throw InputError("", "--rank", fmt::format("rank {} of {} processes", rank, processes),
                     "ranks go from 0 to the number of processes less one");
  if (processes == 1) return;
  const Address address = parse_address(master);
  try {
    state_->store = connect(address, rank == 0, processes, patience + kMeeting);
    state_->start_pulse(address);
  } catch (const std::exception&) {
    throw InputError("", "--master " + master,
                     rank == 0 ? "not all processes came, or the port is in use"
                               : "the first process does not answer",
                     "start all ranks with the same --master and --processes");
  }
}

Peers::~Peers() = default;
int Peers::rank() const { return state_->rank; }
int Peers::processes() const { return state_->processes; }

std::vector<std::vector<float>> Peers::exchange(std::span<const float> own) {
  std::vector<std::vector<float>> rows;
  for (const std::string& row :
       exchange_bytes({reinterpret_cast<const char*>(own.data()), own.size_bytes()})) {
    std::vector<float>& values = rows.emplace_back(row.size() / sizeof(float));
    std::copy(row.begin(), row.end(), reinterpret_cast<char*>(values.data()));
  }
  return rows;
}

std::vector<std::string> Peers::exchange_bytes(std::string_view own) {
  State& state = *state_;
  if (state.processes == 1) return {std::string(own)};
  const std::int64_t round = state.round++;
  std::vector<std::string> rows;
  try {
    state.store->set(data_key(round, state.rank), {own.begin(), own.end()});
    for (int peer = 0; peer < state.processes; ++peer) {
      const std::string key = data_key(round, peer);
      state.wait_for(key, peer);
      const std::vector<std::uint8_t> row = state.store->get(key);
      rows.emplace_back(row.begin(), row.end());
    }
    // Whoever is in this round has read the one before.
    if (round > 0) state.store->deleteKey(data_key(round - 1, state.rank));
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
    lost(state.rank == 0 ? "another process" : state.name(0), "the connection broke");
  }
  return rows;
}

void Peers::leave() {
  State& state = *state_;
  if (state.processes == 1) return;
  try {
    state.store->add("left", 1);
    if (state.rank != 0) return;
    const auto start = Clock::now();
    while (state.store->add("left", 0) < state.processes &&
           Clock::now() - start < Seconds(state.patience))
      std::this_thread::sleep_for(Milliseconds(10));
  } catch (const std::exception&) {  // gone already: nothing more to say to each other
  }
}

Going agree(Peers& peers, Going here) {
  const float own = static_cast<float>(here);
  for (const auto& row : peers.exchange({&own, 1}))
    here = std::max(here, static_cast<Going>(row.at(0)));
  return here;
}

std::pair<std::vector<float>, double> share_gradients(Peers& peers, std::vector<float> gradients,
                                                      double rate) {
  const std::size_t count = gradients.size();
  gradients.push_back(static_cast<float>(rate));
  const auto rows = peers.exchange(gradients);
  std::vector<float> mean(count, 0.0F);
  for (const auto& row : rows) {
    CHECK(row.size() == count + 1, "all processes have the same network");
    for (std::size_t i = 0; i < count; ++i) mean[i] += row[i];
  }
  for (float& value : mean) value /= static_cast<float>(rows.size());
  return {std::move(mean), rows.front()[count]};
}

std::optional<SharedState> agree_on_start(Peers& peers, const SharedState& own) {
  if (peers.processes() == 1) return std::nullopt;
  const std::vector<Standing> all = standings(peers, own);
  const auto leading = std::ranges::max_element(all, {}, &Standing::step);  // the first of equals
  const bool same = std::ranges::all_of(all, [&](const Standing& one) {
    return one.step == leading->step && one.digest == leading->digest;
  });
  if (same) return std::nullopt;
  const auto leader = static_cast<std::size_t>(leading - all.begin());
  const bool leads = leader == static_cast<std::size_t>(peers.rank());
  SharedState state{leading->step, leading->elapsed_seconds, {}};
  state.network = receive(peers, leader, leading->size, leads ? own.network : "");
  return leads ? std::nullopt : std::optional(std::move(state));
}

}  // namespace strato::learned

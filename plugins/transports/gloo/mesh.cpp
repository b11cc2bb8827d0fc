#include "plugins/transports/gloo/mesh.h"

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <new>

#include "core/base/error.h"

namespace strato::gloo_transport {
namespace {

using admission::equal;
using admission::exchange;
using admission::packed;
using admission::unpacked;
using gloo::transport::UnboundBuffer;

// Gloo's own way to meet asks a store that all ranks reach: here the admitted connections are one.
class Mesh final : public gloo::Context {
 public:
  Mesh(const Meeting& meeting, const Roster& roster) : gloo::Context(meeting.rank, meeting.ranks) {
    const gloo::transport::tcp::attr address(roster.address.c_str());
    device_ = gloo::transport::tcp::CreateDevice(address);
    transportContext_ = device_->createContext(meeting.rank, meeting.ranks);
    // All listen by now. Gloo waits five times as long for a connection.
    const auto most = std::min(meeting.connect, meeting.timeout);
    transportContext_->setTimeout(std::max(most / 5, std::chrono::milliseconds(1)));
    const std::vector<std::string> ports = exchange(meeting, roster, packed(own_ports()));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const auto theirs = unpacked(ports.at(static_cast<std::size_t>(peer)));
      const std::string& port = theirs.at(static_cast<std::size_t>(rank));
      transportContext_->getPair(peer)->connect({port.begin(), port.end()});
    }
    transportContext_->setTimeout(meeting.patience());
    setTimeout(meeting.patience());
  }

 private:
  // Returns, for each peer, the address where this rank waits for it.
  std::vector<std::string> own_ports() {
    std::vector<std::string> ports(static_cast<std::size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> bytes = transportContext_->createPair(peer)->address().bytes();
      ports[static_cast<std::size_t>(peer)].assign(bytes.begin(), bytes.end());
    }
    return ports;
  }
};

// Leaves out where in Gloo's sources an error comes from.
std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t place = text.find("] ");
  return text.substr(text.starts_with('[') && place != std::string::npos ? place + 2 : 0);
}

void verify(const Meeting& meeting, const Roster& roster, gloo::Context& context) {
  const std::uint64_t slot = slot_of(Lane::Token, 0);
  std::vector<std::string> own = roster.tokens;
  std::vector<std::unique_ptr<UnboundBuffer>> sent(own.size());
  const auto each_peer = [&](const auto& visit) {
    for (int peer = 0; peer < meeting.ranks; ++peer) {
      const auto at = static_cast<std::size_t>(peer);
      if (peer != meeting.rank) visit(peer, own[at], sent[at]);
    }
  };
  const auto answered = [&](int peer, const auto& wait) {
    try {
      wait();
    } catch (const std::exception&) {
      admission::refuse_rank(meeting, peer, "does not answer");
    }
  };
  each_peer([&](int peer, std::string& token, auto& buffer) {
    buffer = context.createUnboundBuffer(token.data(), token.size());
    buffer->send(peer, slot);
  });
  each_peer([&](int peer, const std::string& token, auto&) {
    std::string theirs(token.size(), '\0');
    const auto buffer = context.createUnboundBuffer(theirs.data(), theirs.size());
    answered(peer, [&] {
      buffer->recv(peer, slot);
      buffer->waitRecv(meeting.timeout);
    });
    if (!equal(theirs, token)) admission::refuse_rank(meeting, peer, "is not of this job");
  });
  each_peer([&](int peer, const std::string&, auto& buffer) {
    answered(peer, [&] { buffer->waitSend(meeting.timeout); });
  });
}

// ---- groups

int place_in(const std::vector<int>& members, int rank) {
  const auto found = std::lower_bound(members.begin(), members.end(), rank);
  CHECK(found != members.end() && *found == rank, "a group without this rank");
  return static_cast<int>(found - members.begin());
}

class GroupBuffer final : public UnboundBuffer {
 public:
  GroupBuffer(const std::vector<int>& members, std::unique_ptr<UnboundBuffer> buffer)
      : UnboundBuffer(buffer->ptr, buffer->size), members_(members), buffer_(std::move(buffer)) {}

  bool waitRecv(int* rank, std::chrono::milliseconds timeout) override {
    return in_group(buffer_->waitRecv(rank, timeout), rank);
  }
  bool waitSend(int* rank, std::chrono::milliseconds timeout) override {
    return in_group(buffer_->waitSend(rank, timeout), rank);
  }
  void abortWaitRecv() override { buffer_->abortWaitRecv(); }
  void abortWaitSend() override { buffer_->abortWaitSend(); }
  void send(int to, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    buffer_->send(global(to), slot, offset, bytes);
  }
  void recv(int from, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    buffer_->recv(global(from), slot, offset, bytes);
  }
  void recv(std::vector<int> from, std::uint64_t slot, std::size_t offset,
            std::size_t bytes) override {
    for (int& rank : from) rank = global(rank);
    buffer_->recv(std::move(from), slot, offset, bytes);
  }

 private:
  bool in_group(bool done, int* rank) const {
    if (done && rank != nullptr) *rank = place_in(members_, *rank);
    return done;
  }
  int global(int place) const { return members_[static_cast<std::size_t>(place)]; }

  const std::vector<int>& members_;  // the group's, which outlives its buffers
  std::unique_ptr<UnboundBuffer> buffer_;
};

class GroupTransport final : public gloo::transport::Context {
 public:
  GroupTransport(std::shared_ptr<gloo::Context> all, const std::vector<int>& members)
      : gloo::transport::Context(place_in(members, all->rank), static_cast<int>(members.size())),
        all_(std::move(all)),
        members_(members) {}

  std::unique_ptr<gloo::transport::Pair>& createPair(int) override {
    CHECK(false, "a group makes no connections");
  }
  std::unique_ptr<gloo::transport::Pair>& getPair(int place) override {
    return all_->getPair(members_[static_cast<std::size_t>(place)]);
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* data, std::size_t size) override {
    return std::make_unique<GroupBuffer>(members_, all_->createUnboundBuffer(data, size));
  }

 private:
  std::shared_ptr<gloo::Context> all_;
  std::vector<int> members_;
};

class Group final : public gloo::Context {
 public:
  Group(const std::shared_ptr<gloo::Context>& all, const std::vector<int>& members)
      : gloo::Context(place_in(members, all->rank), static_cast<int>(members.size())) {
    transportContext_ = std::make_shared<GroupTransport>(all, members);
    setTimeout(all->getTimeout());
  }
};

}  // namespace

std::shared_ptr<gloo::Context> connect_all(const Meeting& meeting, const Roster& roster) {
  std::shared_ptr<gloo::Context> context;
  try {
    context = std::make_shared<Mesh>(meeting, roster);
    verify(meeting, roster, *context);
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    admission::refuse(meeting, "cannot connect to all other ranks: " + reason_of(error),
                      "see their logs, and whether a firewall is between the machines");
  }
  return context;
}

std::shared_ptr<gloo::Context> make_group(const std::shared_ptr<gloo::Context>& all,
                                          const std::vector<int>& members) {
  return std::make_shared<Group>(all, members);
}

}  // namespace strato::gloo_transport

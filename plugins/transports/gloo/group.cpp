#include "plugins/transports/gloo/group.h"

#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>

#include "core/base/error.h"

namespace strato::gloo_transport {
namespace {

using gloo::transport::UnboundBuffer;

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
    const bool done = buffer_->waitRecv(rank, timeout);
    if (done && rank != nullptr) *rank = place_in(members_, *rank);
    return done;
  }
  bool waitSend(int* rank, std::chrono::milliseconds timeout) override {
    const bool done = buffer_->waitSend(rank, timeout);
    if (done && rank != nullptr) *rank = place_in(members_, *rank);
    return done;
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

std::shared_ptr<gloo::Context> make_group(const std::shared_ptr<gloo::Context>& all,
                                          const std::vector<int>& members) {
  return std::make_shared<Group>(all, members);
}

}  // namespace strato::gloo_transport

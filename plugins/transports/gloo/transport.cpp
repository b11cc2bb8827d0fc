// The plugin's entry: Gloo over TCP. Transfers are Gloo's messages, which its own thread moves;
// collectives run in a thread of ours for each stream, one after another.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/common/error.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <thread>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "plugins/transports/gloo/mesh.h"
#include "plugins/transports/meeting/admission.h"

namespace strato::gloo_transport {
namespace {

using admission::Watch;
using gloo::transport::UnboundBuffer;
using Bytes = std::span<std::byte>;

constexpr auto kLeaveTime = std::chrono::seconds(2);
// Up to here a few rounds (log2 of the members) beat the ring's, which fill links better.
constexpr std::size_t kFewRounds = std::size_t{1} << 20;

// The ranks of a job as Gloo knows them, and what is known of their lives.
class Connections {
 public:
  explicit Connections(const Meeting& meeting) : meeting_(meeting) {
    Roster roster = admission::admit(meeting);
    context_ = connect_all(meeting, roster);
    downwards_ = connect_all(meeting, roster);
    watch_ = std::make_unique<Watch>(meeting, std::move(roster.connections));
  }
  ~Connections() {
    if (!failed_) watch_->leave(kLeaveTime);
  }

  const Meeting& meeting() const { return meeting_; }
  const std::shared_ptr<gloo::Context>& context() const { return context_; }
  // Returns the context for messages from one rank to another. A receiver tells Gloo's sender on
  // their connection that it is ready; were it the one on which the receiver sends to this sender,
  // the word would wait behind all that is queued there. So each way has connections of its own.
  gloo::Context& context(int from, int to) const { return from < to ? *context_ : *downwards_; }
  std::optional<LostRank> lost() const { return watch_->lost(); }

  // Runs what uses Gloo; its errors in our words, naming who died or else who does not answer.
  template <class Body>
  void guarded(std::span<const int> others, Body body) {
    try {
      body();
    } catch (const InputError&) {
      throw;
    } catch (const gloo::Exception&) {
      failed_ = true;
      admission::throw_failure(meeting_, *watch_, others);
    }
  }

 private:
  Meeting meeting_;
  std::shared_ptr<gloo::Context> context_, downwards_;
  std::unique_ptr<Watch> watch_;
  std::atomic<bool> failed_ = false;
};

class Queued final : public Pending {
 public:
  explicit Queued(std::future<void> done) : done_(std::move(done)) {}
  void wait() override { done_.get(); }

 private:
  std::future<void> done_;
};

// One thread that runs tasks in the order in which they came. What is queued is done before it
// ends.
class TaskQueue {
 public:
  std::future<void> push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    std::future<void> done = tasks_.emplace_back(std::move(task)).get_future();
    news_.notify_one();
    return done;
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (news_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any news_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

// A message under way to a peer, or from it; of no bytes, none is.
class Message final : public Pending {
 public:
  Message(Connections& connections, Lane lane, std::uint32_t tag, int peer, Bytes bytes, bool sends)
      : connections_(connections), peer_(peer), sends_(sends) {
    if (bytes.empty()) return;
    connections_.guarded({&peer_, 1}, [&] {
      const int own = connections_.meeting().rank;
      gloo::Context& context = connections_.context(sends ? own : peer, sends ? peer : own);
      buffer_ = context.createUnboundBuffer(bytes.data(), bytes.size());
      const std::uint64_t slot = slot_of(lane, tag);
      sends ? buffer_->send(peer, slot) : buffer_->recv(peer, slot);
    });
  }

  void wait() override {
    if (buffer_ == nullptr) return;
    const auto timeout = connections_.meeting().patience();
    connections_.guarded({&peer_, 1},
                         [&] { sends_ ? buffer_->waitSend(timeout) : buffer_->waitRecv(timeout); });
    buffer_.reset();
  }

 private:
  Connections& connections_;
  int peer_;
  bool sends_;
  std::unique_ptr<UnboundBuffer> buffer_;
};

void set_output(gloo::AllreduceOptions& options, Bytes bytes, DataType type) {
  const auto elements = bytes.size() / static_cast<std::size_t>(size_of(type));
  switch (size_of(type)) {  // Gloo wants a type for its size only
    case 8:
      return options.setOutput(reinterpret_cast<std::uint64_t*>(bytes.data()), elements);
    case 4:
      return options.setOutput(reinterpret_cast<std::uint32_t*>(bytes.data()), elements);
    case 2:
      return options.setOutput(reinterpret_cast<std::uint16_t*>(bytes.data()), elements);
    default:
      return options.setOutput(reinterpret_cast<std::uint8_t*>(bytes.data()), elements);
  }
}

using Ranks = std::vector<int>;

// The collectives of one stream, in the order in which they are asked for. Their work is done in a
// thread of its own.
class CollectiveStream {
 public:
  explicit CollectiveStream(Connections& connections) : connections_(connections) {}

  // `work` is called with the members.
  std::unique_ptr<Pending> queued(std::span<const int> members,
                                  std::function<void(const Ranks&)> work) {
    return std::make_unique<Queued>(
        queue_.push([this, ranks = Ranks(members.begin(), members.end()), work = std::move(work)] {
          connections_.guarded(ranks, [&] { work(ranks); });
        }));
  }

  // ---- what work may call

  Ring ring(const Ranks& members, Lane lane, std::uint32_t tag) const {
    const auto own = std::ranges::find(members, connections_.meeting().rank);
    CHECK(own != members.end(), "a collective without this rank");
    return {*connections_.context(), members, static_cast<std::size_t>(own - members.begin()),
            slot_of(lane, tag), connections_.meeting().patience()};
  }

  void reduce(const Ranks& members, std::uint32_t tag, DataType type, const SumFunction& sum,
              Bytes bytes) {
    if (!std::is_sorted(members.begin(), members.end()))
      return reduce_around(members, tag, type, sum, bytes);
    auto& group = groups_[members];
    if (!group) group = make_group(connections_.context(), members);
    gloo::AllreduceOptions options(group);
    options.setTag(tag);
    options.setTimeout(connections_.meeting().patience());
    options.setReduceFunction(sum);
    set_output(options, bytes, type);
    using Algorithm = gloo::AllreduceOptions::Algorithm;
    const bool few = bytes.size() <= kFewRounds && members.size() > 2;  // of two, both are the same
    options.setAlgorithm(few ? Algorithm::BCUBE : Algorithm::RING);
    gloo::allreduce(options);
  }

  // Fused tensors lie one after the other in memory that is kept: new pages for each sum cost about
  // as much as the sum.
  void reduce_together(const Ranks& members, std::uint32_t tag, DataType type,
                       const SumFunction& sum, const std::vector<Bytes>& values) {
    together_.clear();
    for (const Bytes each : values) together_.insert(together_.end(), each.begin(), each.end());
    reduce(members, tag, type, sum, together_);
    auto from = together_.cbegin();
    for (const Bytes each : values) {
      std::copy_n(from, each.size(), each.begin());
      from += std::ssize(each);
    }
  }

 private:
  // In the order of the members, each sending to the next one: who asks for an order has counted on
  // these links. Gloo's own ring goes the other way.
  void reduce_around(const Ranks& members, std::uint32_t tag, DataType type, const SumFunction& sum,
                     Bytes bytes) {
    const auto element = static_cast<std::size_t>(size_of(type));
    const std::size_t elements = bytes.size() / element, count = members.size();
    std::vector<Bytes> pieces;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = elements * i / count, end = elements * (i + 1) / count;
      pieces.push_back(bytes.subspan(begin * element, (end - begin) * element));
    }
    ring_reduce_scatter(ring(members, Lane::Scatter, tag), pieces, sum, element);
    ring_all_gather(ring(members, Lane::Gather, tag), pieces);
  }

  Connections& connections_;
  std::map<Ranks, std::shared_ptr<gloo::Context>> groups_;  // the queue's thread's
  std::vector<std::byte> together_;                         // the queue's thread's
  TaskQueue queue_;
};

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(const Meeting& meeting) : connections_(meeting) {}

  std::unique_ptr<Pending> send(int to, std::uint32_t tag, Bytes bytes) override {
    return transfer(Lane::Transfer, to, tag, bytes, true);
  }
  std::unique_ptr<Pending> receive(int from, std::uint32_t tag, Bytes bytes) override {
    return transfer(Lane::Transfer, from, tag, bytes, false);
  }

  std::unique_ptr<Pending> all_reduce(const Members& members, std::uint32_t tag, DataType type,
                                      std::vector<Bytes> values) override {
    const SumFunction sum = sum_of(type);
    std::erase_if(values, [](Bytes each) { return each.empty(); });
    if (members.size() < 2 || values.empty()) return std::make_unique<admission::Done>();
    CollectiveStream& stream = on(members.stream);
    return stream.queued(members,
                         [&stream, tag, type, sum, values = std::move(values)](const Ranks& ranks) {
                           if (values.size() == 1)
                             return stream.reduce(ranks, tag, type, sum, values[0]);
                           stream.reduce_together(ranks, tag, type, sum, values);
                         });
  }

  std::unique_ptr<Pending> all_gather(const Members& members, std::uint32_t tag,
                                      std::vector<Bytes> pieces) override {
    CHECK(pieces.size() == members.size(), "one piece a member");
    CollectiveStream& stream = on(members.stream);
    return stream.queued(members, [&stream, tag, pieces = std::move(pieces)](const Ranks& ranks) {
      ring_all_gather(stream.ring(ranks, Lane::Gather, tag), pieces);
    });
  }

  std::unique_ptr<Pending> reduce_scatter(const Members& members, std::uint32_t tag, DataType type,
                                          std::vector<Bytes> pieces) override {
    const SumFunction sum = sum_of(type);
    CHECK(pieces.size() == members.size(), "one piece a member");
    const auto element = static_cast<std::size_t>(size_of(type));
    CollectiveStream& stream = on(members.stream);
    const auto work = [&stream, tag, sum, element, pieces = std::move(pieces)](const Ranks& ranks) {
      ring_reduce_scatter(stream.ring(ranks, Lane::Scatter, tag), pieces, sum, element);
    };
    return stream.queued(members, work);
  }

  std::unique_ptr<Pending> all_to_all(const Members& members, std::uint32_t tag,
                                      std::vector<Bytes> sent,
                                      std::vector<Bytes> received) override {
    CHECK(sent.size() == members.size() && received.size() == members.size(), "one piece a member");
    CollectiveStream& stream = on(members.stream);
    const auto work = [&stream, tag, sent = std::move(sent),
                       received = std::move(received)](const Ranks& ranks) {
      swap_pairwise(stream.ring(ranks, Lane::Swap, tag), sent, received);
    };
    return stream.queued(members, work);
  }

  void barrier() override {
    Ranks all(static_cast<std::size_t>(connections_.meeting().ranks));
    std::iota(all.begin(), all.end(), 0);
    communication_
        .queued(all,
                [this](const Ranks&) {
                  gloo::BarrierOptions options(connections_.context());
                  options.setTimeout(connections_.meeting().patience());
                  gloo::barrier(options);
                })
        ->wait();
  }

  std::vector<std::string> gather(const std::string& text) override {
    return admission::gather_texts(connections_.meeting(), text,
                                   [this](int peer, Bytes bytes, bool sends) {
                                     transfer(Lane::Text, peer, 0, bytes, sends)->wait();
                                   });
  }
  std::optional<LostRank> lost() const override { return connections_.lost(); }

 private:
  CollectiveStream& on(Stream stream) {
    return stream == Stream::TensorCommunication ? tensor_communication_ : communication_;
  }

  std::unique_ptr<Pending> transfer(Lane lane, int peer, std::uint32_t tag, Bytes bytes,
                                    bool sends) {
    return std::make_unique<Message>(connections_, lane, tag, peer, bytes, sends);
  }

  Connections connections_;
  CollectiveStream communication_{connections_}, tensor_communication_{connections_};
};

}  // namespace
}  // namespace strato::gloo_transport

STRATOSCOPE_TRANSPORT(strato::admission::make_transport<strato::gloo_transport::GlooTransport>)

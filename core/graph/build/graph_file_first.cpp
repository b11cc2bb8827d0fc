#include <fmt/format.h>

#include <utility>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/build/graph_file.h"
#include "core/io/byte_io.h"

namespace strato {
namespace {

constexpr std::string_view kMagic = "STRATOGR";
constexpr std::uint32_t kVersion = 1;

class FirstGraphReader {
 public:
  FirstGraphReader(std::string_view bytes, const std::string& file)
      : in_(bytes, file), file_(file) {}

  Graph read() {
    std::string name = in_.text();
    const auto batch = in_.number<std::int64_t>();
    GraphBuilder builder(std::move(name), batch, file_);
    tensors_ = in_.count(16);
    for (std::size_t i = 0; i < tensors_; ++i) builder.add_tensor(tensor());
    ops_ = in_.count(20);
    for (std::size_t i = 0; i < ops_; ++i) builder.add_op(op());
    if (!in_.at_end()) in_.damaged("bytes are left over");
    return std::move(builder).build();
  }

 private:
  template <class T>
  std::vector<T> list() {
    std::vector<T> result(in_.count(sizeof(T)));
    for (T& element : result) element = in_.number<T>();
    return result;
  }

  template <class I>
  I id(std::size_t count, bool may_be_none) {
    const auto value = in_.number<std::int32_t>();
    if (value == -1 && may_be_none) return I();
    if (value < 0 || static_cast<std::size_t>(value) >= count)
      in_.damaged("a reference is out of range");
    return I(static_cast<std::size_t>(value));
  }

  std::vector<TensorId> ids(bool may_be_none) {
    std::vector<TensorId> result(in_.count(4));
    for (TensorId& element : result) element = id<TensorId>(tensors_, may_be_none);
    return result;
  }

  Tensor tensor() {
    Tensor result = {.name = in_.text(),
                     .type = in_.enumerated(DataType::Bool),
                     .role = in_.enumerated(TensorRole::Gradient),
                     .shape = list<std::int64_t>()};
    result.batch.kind = in_.enumerated(BatchKind::Partial);
    result.batch.axis = in_.number<std::int32_t>();
    const auto rank = static_cast<std::int32_t>(result.shape.size());
    if (result.batch.axis < -1 || result.batch.axis >= rank) in_.damaged("an axis is out of range");
    if (in_.number<std::uint8_t>() != 0)
      result.data = std::make_shared<const std::string>(in_.text());
    return result;
  }

  Attribute attribute() {
    switch (in_.number<std::uint8_t>()) {
      case 0:
        return in_.number<std::int64_t>();
      case 1:
        return in_.number<double>();
      case 2:
        return in_.text();
      case 3:
        return list<std::int64_t>();
      case 4:
        return list<double>();
      default:
        in_.damaged("an attribute's kind is unknown");
    }
  }

  Op op() {
    Op result;
    result.name = in_.text();
    result.type = in_.text();
    result.phase = in_.enumerated(Phase::Update);
    result.forward = id<OpId>(ops_, true);
    result.inputs = ids(true);
    result.outputs = ids(false);
    for (std::size_t left = in_.count(6); left > 0; --left) {
      std::string key = in_.text();
      result.attributes.emplace_back(std::move(key), attribute());
    }
    return result;
  }

  ByteReader in_;
  const std::string& file_;
  std::size_t tensors_ = 0, ops_ = 0;
};

}  // namespace

bool is_first_graph_file(std::string_view bytes) { return bytes.starts_with(kMagic); }

Graph parse_first_graph_file(std::string_view bytes, const std::string& file) {
  ByteReader head(bytes.substr(kMagic.size()), file);
  const auto version = head.number<std::uint32_t>();
  if (version != kVersion)
    throw InputError(file, "", fmt::format("is a graph of format version {}", version),
                     "open it with the program version that wrote it, or import the model again");
  Digest check;
  check.high = head.number<std::uint64_t>();
  check.low = head.number<std::uint64_t>();
  const std::string_view content = bytes.substr(kMagic.size() + 20);
  if (digest_of(content) != check) head.damaged("the check sum is wrong");
  return FirstGraphReader(content, file).read();
}

}  // namespace strato

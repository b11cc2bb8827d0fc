#include "core/data/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/data/tensor_folder.h"

namespace strato {
namespace {

constexpr std::size_t kTold = 5;  // names in a message

using Index = std::unordered_map<std::string, std::size_t>;

Index index_of(const TensorSource& source) {
  Index index;
  for (std::size_t i = 0; i < source.tensors().size(); ++i)
    index.emplace(source.tensors()[i].name, i);
  return index;
}

bool takes(const Tensor& tensor) {
  return tensor.role == TensorRole::Parameter || is_unknown_constant(tensor);
}

void check_fit(const Tensor& tensor, const StoredTensor& stored, const std::string& file) {
  const std::string place = fmt::format("\"{}\"", tensor.name);
  if (stored.shape != tensor.shape)
    throw InputError(file, place,
                     fmt::format("has shape [{}], and the model's parameter [{}]",
                                 fmt::join(stored.shape, ", "), fmt::join(tensor.shape, ", ")),
                     "give the weights of this model");
  if (!widens(stored.type, tensor.type))
    throw InputError(file, place,
                     fmt::format("is {}, and the model's parameter {}", name_of(stored.type),
                                 name_of(tensor.type)),
                     fmt::format("store it as {}", name_of(tensor.type)));
}

// Pieces of whole elements: what is left of one goes before the next.
class Converter {
 public:
  Converter(DataType from, DataType to, const PutPart& put) : from_(from), to_(to), put_(put) {}
  void operator()(std::string_view bytes) {
    if (from_ == to_ && rest_.empty() && bytes.size() % width() == 0) return pass(bytes);
    rest_ += bytes;
    const std::size_t whole = rest_.size() / width() * width();
    pass(std::string_view(rest_).substr(0, whole));
    rest_.erase(0, whole);
  }
  bool not_finite() const { return not_finite_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t width() const { return static_cast<std::size_t>(size_of(from_)); }
  void pass(std::string_view elements) {
    not_finite_ = not_finite_ || has_not_finite(elements, from_);
    bytes_ += elements.size();
    if (from_ == to_) return put_(elements);
    const auto wide = converted(elements, from_, to_);
    CHECK(wide.has_value(), "a weight that does not fit");
    put_(*wide);
  }

  DataType from_, to_;
  const PutPart& put_;
  std::string rest_;
  bool not_finite_ = false;
  std::size_t bytes_ = 0;
};

// True: it holds a NaN or an infinity.
bool stage_one(TensorFolderWriter& writer, const Tensor& tensor, const TensorSource& source,
               std::size_t index) {
  const StoredTensor& stored = source.tensors()[index];
  bool not_finite = false;
  const char* role = tensor.role == TensorRole::Parameter ? "parameter" : "constant";
  writer.add({tensor.name, tensor.type, tensor.shape}, role, [&](const PutPart& put) {
    Converter convert(stored.type, tensor.type, put);
    source.read(index, [&convert](std::string_view bytes) { convert(bytes); });
    const auto expected = static_cast<std::size_t>(tensor.elements() * size_of(stored.type));
    if (convert.bytes() != expected)
      throw InputError(source.file(), "\"" + tensor.name + "\"",
                       fmt::format("has {} bytes instead of {}", convert.bytes(), expected),
                       "write or copy the file again");
    not_finite = convert.not_finite();
  });
  return not_finite;
}

}  // namespace

std::string names_text(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kTold));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kTold) text += fmt::format(" and {} more", names.size() - kTold);
  return text;
}

bool is_unknown_constant(const Tensor& tensor) {
  return tensor.role == TensorRole::Constant && !tensor.data && !tensor.producer.valid() &&
         tensor.elements() > 1;
}

std::vector<std::string> missing_parameters(const Graph& graph, const TensorSource& source) {
  const Index index = index_of(source);
  std::vector<std::string> missing;
  for (const Tensor& tensor : graph.tensors())
    if (tensor.role == TensorRole::Parameter && !index.contains(tensor.name))
      missing.push_back(tensor.name);
  return missing;
}

void check_weights(const Graph& graph, const TensorSource& source) {
  const std::vector<std::string> missing = missing_parameters(graph, source);
  if (!missing.empty()) {
    const std::string note = source.note().empty() ? "" : " (" + source.note() + ")";
    throw InputError(source.file(), "", "has no values for " + names_text(missing) + note,
                     "give the weights of this model, or --weights seeded");
  }
  const Index index = index_of(source);
  for (const Tensor& tensor : graph.tensors()) {
    const auto at = index.find(tensor.name);
    if (takes(tensor) && at != index.end())
      check_fit(tensor, source.tensors()[at->second], source.file());
  }
}

WeightsReport stage_weights(const std::filesystem::path& job, const Graph& graph,
                            const TensorSource& source) {
  check_weights(graph, source);
  const Index index = index_of(source);
  std::unordered_set<std::string> used;
  WeightsReport report;
  TensorFolderWriter writer(weights_folder(job));
  for (const Tensor& tensor : graph.tensors()) {
    const auto at = index.find(tensor.name);
    if (!takes(tensor) || at == index.end() || !used.insert(tensor.name).second) continue;
    if (stage_one(writer, tensor, source, at->second)) report.not_finite.push_back(tensor.name);
    if (tensor.role == TensorRole::Parameter) ++report.parameters;
    report.bytes += tensor.bytes().value;
  }
  for (const StoredTensor& stored : source.tensors())
    if (!used.contains(stored.name)) report.unused.push_back(stored.name);
  writer.finish(0);
  return report;
}

}  // namespace strato

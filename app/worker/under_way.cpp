#include "app/worker/under_way.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>

#include "app/worker/cut_layout.h"
#include "core/base/error.h"
#include "core/data/npy.h"

namespace strato::worker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "resume from a checkpoint of the same model";

bool is_updated_with(const RankProgram& program, ValueId value) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const auto reads = program.reads[i];
    if (program.instructions[i].kind == InstructionKind::Update &&
        std::find(reads.begin(), reads.end(), value) != reads.end())
      return true;
  }
  return false;
}

// The first sample of the term of this name; nothing: it is none of the tensor's.
std::optional<std::int32_t> first_sample(const std::string& name, const Tensor& tensor) {
  std::string start = name_under_way(tensor, Part::partial_sum(0, 0));
  start.resize(start.rfind('[') + 1);
  if (!name.starts_with(start)) return std::nullopt;
  std::int32_t sample = 0;
  const char* begin = name.data() + start.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), sample);
  if (error != std::errc() || *end != ',') return std::nullopt;
  return sample;
}

std::string elements_of(const fs::path& path, const Tensor& tensor) {
  const NpyFile file(path);
  if (file.type() != tensor.type || file.shape() != tensor.shape)
    throw InputError(path.string(), "", "is of another type or shape than the plan's gradient",
                     kRemedy);
  return std::string(file.elements());
}

template <class Number>
void add_numbers(std::string& to, const std::string& other) {
  for (std::size_t at = 0; at + sizeof(Number) <= to.size(); at += sizeof(Number)) {
    Number a, b;
    std::memcpy(&a, to.data() + at, sizeof a);
    std::memcpy(&b, other.data() + at, sizeof b);
    a += b;
    std::memcpy(to.data() + at, &a, sizeof a);
  }
}

void add(std::string& to, const std::string& other, DataType type, const fs::path& path) {
  if (type == DataType::F32) return add_numbers<float>(to, other);
  if (type == DataType::F64) return add_numbers<double>(to, other);
  throw InputError(path.string(), "", "has 16 bits, and would have to be added to others",
                   "resume with the shares of the batch that it was written with");
}

class Filler {
 public:
  Filler(const CheckpointRank& rank, const TensorFolder& index) : rank_(rank) {
    for (const FolderTensor& stored : index.tensors)
      if (stored.role == "under way") files_[stored.tensor.name] = stored.file;
  }

  void fill() {
    for (std::size_t i = 0; i < rank_.program.values.size(); ++i) {
      const Value& value = rank_.program.values[ValueId(i)];
      const Tensor& tensor = rank_.graph.tensor(value.tensor);
      if (!value.resident || !is_under_way(tensor)) continue;
      const Part part = part_under_way(rank_, ValueId(i));
      std::string elements =
          part.is_partial_sum() ? terms_in(tensor, part.first()) : part_of_sum(tensor, part);
      if (elements.empty())
        elements.assign(static_cast<std::size_t>(bytes_of(rank_.graph, value).value), '\0');
      rank_.execution.write(ValueId(i), elements);
    }
  }

 private:
  // In the order of their samples.
  std::string terms_in(const Tensor& tensor, const AxisRange& samples) const {
    std::map<std::int32_t, fs::path> terms;
    for (const auto& [name, file] : files_) {
      const auto first = first_sample(name, tensor);
      if (first && samples.begin <= *first && *first < samples.end) terms[*first] = file;
    }
    std::string sum;
    for (const auto& [first, file] : terms) {
      std::string term = elements_of(file, tensor);
      if (sum.empty())
        sum = std::move(term);
      else
        add(sum, term, tensor.type, file);
    }
    return sum;
  }

  std::string part_of_sum(const Tensor& tensor, const Part& part) const {
    const auto file = files_.find(name_under_way(tensor, {}));
    if (file == files_.end()) {
      refuse_older_parts(tensor);
      return "";
    }
    const std::string whole = elements_of(file->second, tensor);
    return part.is_whole() ? whole : SliceLayout(tensor, part).take(whole);
  }

  // Once each part of a sum was a file of its own.
  void refuse_older_parts(const Tensor& tensor) const {
    for (const auto& [name, file] : files_)
      if (name.starts_with(tensor.name + ", axis ") || name.starts_with(tensor.name + ", axes "))
        throw InputError(file.string(), "",
                         "is a part of a gradient's sum, which is no longer written so",
                         "resume with the version of Stratoscope that wrote it, or from an earlier "
                         "step's checkpoint");
  }

  const CheckpointRank& rank_;
  std::map<std::string, fs::path> files_;  // by name
};

}  // namespace

bool is_under_way(const Tensor& tensor) { return tensor.producer.valid(); }

Part part_under_way(const CheckpointRank& rank, ValueId value) {
  const Part& part = rank.program.values[value].part;
  if (!part.is_whole() || is_updated_with(rank.program, value)) return part;
  return Part::partial_sum(0, static_cast<std::int32_t>(rank.graph.batch()));
}

std::string name_under_way(const Tensor& tensor, const Part& part) {
  return tensor.name + ", " + describe(part);
}

void fill_under_way(const CheckpointRank& rank, const TensorFolder& index) {
  Filler(rank, index).fill();
}

}  // namespace strato::worker

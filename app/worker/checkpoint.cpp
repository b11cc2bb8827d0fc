#include "app/worker/checkpoint.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <vector>

#include "app/worker/bytes.h"
#include "app/worker/cut_layout.h"
#include "app/worker/under_way.h"
#include "core/base/error.h"
#include "core/data/npy.h"
#include "core/data/tensor_folder.h"
#include "core/io/file.h"

namespace strato::worker {
namespace {

namespace fs = std::filesystem;

bool is_kept(const Tensor& tensor) {
  return tensor.role == TensorRole::Parameter || tensor.role == TensorRole::OptimizerState;
}

fs::path rank_file(const fs::path& folder, int rank) {
  return folder / ("rank-" + std::to_string(rank) + ".bin");
}

void write_own(const CheckpointRank& rank, const fs::path& folder) {
  std::string out;
  for (std::size_t i = 0; i < rank.program.values.size(); ++i) {
    const Value& value = rank.program.values[ValueId(i)];
    const Tensor& tensor = rank.graph.tensor(value.tensor);
    if (!value.resident || !(is_kept(tensor) || is_under_way(tensor))) continue;
    const std::string elements = rank.execution.read(ValueId(i));
    put(out, value.tensor.value());
    put(out, is_kept(tensor) ? value.part : part_under_way(rank, ValueId(i)));
    put(out, elements.size());
    out += elements;
  }
  write_file(rank_file(folder, rank.rank), out);
}

// Puts the ranks' parts together, one tensor at a time. They are the parts of one division of it:
// equal, or apart. What overlaps others in another way does not count as there.
class Merger {
 public:
  Merger(const Graph& graph, const fs::path& folder)
      : graph_(graph), folder_(folder), writer_(folder) {}

  void add_rank(int rank) {
    const std::string content = read_file(rank_file(folder_, rank), kAnySize);
    Taker taker(content, rank_file(folder_, rank).string());
    while (!taker.empty()) {
      const auto index = taker.take<std::int32_t>();
      const auto part = taker.take<Part>();
      const auto size = taker.take<std::size_t>();
      add(TensorId(static_cast<std::size_t>(index)), part, taker.take(size));
    }
  }

  void finish(std::int64_t step) {
    if (!partial_.empty()) {
      throw InputError(folder_.string(), "",
                       "no rank holds all of " + graph_.tensor(partial_.begin()->first).name,
                       "this is a fault of the plan: please report it");
    }
    writer_.finish(step);
  }

 private:
  struct Partial {
    std::string bytes;
    std::vector<Part> there;  // those that overlap no other
    std::size_t count = 0;    // bytes of them
  };

  void add(TensorId id, const Part& part, std::string_view elements) {
    if (part.is_partial_sum()) return write_term(id, part, elements);
    if (written_.contains(id)) return;
    if (part.is_whole()) return write(id, elements);
    const Tensor& tensor = graph_.tensor(id);
    const SliceLayout slice(tensor, part);
    Partial& partial = partial_[id];
    partial.bytes.resize(static_cast<std::size_t>(tensor.bytes().value));
    slice.put(elements, partial.bytes);
    const auto overlaps = [&](const Part& other) { return overlap(other, part); };
    if (std::ranges::any_of(partial.there, overlaps)) return;
    partial.there.push_back(part);
    partial.count += slice.bytes();
    if (partial.count == partial.bytes.size()) write(id, std::string(std::move(partial.bytes)));
  }

  // Of a gradient that is under way.
  void write_term(TensorId id, const Part& part, std::string_view elements) {
    const Tensor& tensor = graph_.tensor(id);
    writer_.add({name_under_way(tensor, part), tensor.type, tensor.shape}, "under way",
                [elements](const PutPart& put) { put(elements); });
  }

  void write(TensorId id, std::string_view elements) {
    const Tensor& tensor = graph_.tensor(id);
    const bool under_way = is_under_way(tensor);  // a sum
    const char* role = under_way                              ? "under way"
                       : tensor.role == TensorRole::Parameter ? "parameter"
                                                              : "state";
    writer_.add({under_way ? name_under_way(tensor, {}) : tensor.name, tensor.type, tensor.shape},
                role, [elements](const PutPart& put) { put(elements); });
    written_[id] = true;
    partial_.erase(id);
  }

  const Graph& graph_;
  fs::path folder_;
  TensorFolderWriter writer_;
  std::map<TensorId, bool> written_;
  std::map<TensorId, Partial> partial_;
};

void merge(const CheckpointRank& rank, const fs::path& folder, std::int64_t step) {
  Merger merger(rank.graph, folder);
  for (int other = 0; other < rank.ranks; ++other) merger.add_rank(other);
  merger.finish(step);
  std::error_code ignored;
  for (int other = 0; other < rank.ranks; ++other) fs::remove(rank_file(folder, other), ignored);
}

std::map<std::string, fs::path> files_of(const TensorFolder& index) {
  std::map<std::string, fs::path> files;
  for (const FolderTensor& tensor : index.tensors) files[tensor.tensor.name] = tensor.file;
  return files;
}

// What a rank holds of a tensor; only that is read of the file.
std::string part_of(const fs::path& path, const Tensor& tensor, const Part& part,
                    const char* remedy) {
  const NpyFile file(path);
  if (file.type() != tensor.type || file.shape() != tensor.shape) {
    throw InputError(path.string(), "", "is of another type or shape than the plan's tensor",
                     remedy);
  }
  if (part.is_whole()) return std::string(file.elements());
  return SliceLayout(tensor, part).take(file.elements());
}

// Fills what this rank holds of the tensors that `is_wanted`. `remedy`: for a folder of another
// model.
template <class Wanted>
void fill(const CheckpointRank& rank, const fs::path& folder, const TensorFolder& index,
          const Wanted& is_wanted, const char* remedy) {
  const auto files = files_of(index);
  for (std::size_t i = 0; i < rank.program.values.size(); ++i) {
    const Value& value = rank.program.values[ValueId(i)];
    const Tensor& tensor = rank.graph.tensor(value.tensor);
    if (!value.resident || !is_wanted(tensor)) continue;
    const auto file = files.find(tensor.name);
    if (file != files.end()) {
      rank.execution.write(ValueId(i), part_of(file->second, tensor, value.part, remedy));
    } else if (tensor.role != TensorRole::Constant) {
      throw InputError((folder / "index.json").string(), "", "has no tensor " + tensor.name,
                       remedy);
    }
  }
}

}  // namespace

void save_checkpoint(const CheckpointRank& rank, std::int64_t step,
                     const std::function<void()>& barrier) {
  const fs::path folder = rank.job / ("checkpoint-" + std::to_string(step));
  make_folder(folder);
  std::error_code ignored;
  if (rank.rank == 0) fs::remove(folder / "index.json", ignored);
  write_own(rank, folder);
  barrier();
  if (rank.rank == 0) merge(rank, folder, step);
  barrier();
}

std::int64_t resume_checkpoint(const CheckpointRank& rank, const std::string& name) {
  if (name.find('/') != std::string::npos || name == "..") {
    throw InputError(name, "", "is not a folder inside the job's",
                     "give the name of a checkpoint, such as checkpoint-5");
  }
  const fs::path folder = rank.job / name;
  const TensorFolder index = read_tensor_folder(folder);
  fill(rank, folder, index, is_kept, "resume from a checkpoint of the same model");
  fill_under_way(rank, index);
  return index.step;
}

void load_weights(const CheckpointRank& rank) {
  const fs::path folder = weights_folder(rank.job);
  const auto is_wanted = [](const Tensor& tensor) {
    return tensor.role == TensorRole::Parameter || is_unknown_constant(tensor);
  };
  fill(rank, folder, read_tensor_folder(folder), is_wanted, "launch the plan again");
}

}  // namespace strato::worker

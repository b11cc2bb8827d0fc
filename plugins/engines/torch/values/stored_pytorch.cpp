// Files of torch.save().
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/engines/torch/values/stored.h"

// This stands after aten.h, for the same reason as there.
#pragma push_macro("CHECK")
#undef CHECK
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/pickle.h>
#undef CHECK
#pragma pop_macro("CHECK")

namespace strato::torch_engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSaveTensors =
    "save tensors only, as with torch.save(dict(model.state_dict()), \"weights.pt\")";

// What follows an opcode of a pickle: bytes, or a length of so many bytes and what it counts, or
// lines.
struct Argument {
  std::size_t bytes = 0, length = 0;
  int lines = 0;
};

Argument argument_of(char opcode) {
  const auto is_one_of = [opcode](std::string_view list) {
    return list.find(opcode) != std::string_view::npos;
  };
  if (is_one_of("hqK\x80\x82")) return {.bytes = 1};
  if (is_one_of("M\x83")) return {.bytes = 2};
  if (is_one_of("jrJ\x84")) return {.bytes = 4};
  if (is_one_of("G\x95")) return {.bytes = 8};
  if (is_one_of("UC\x8a\x8c")) return {.length = 1};
  if (is_one_of("XBT\x8b")) return {.length = 4};
  if (is_one_of("\x8d\x8e\x96")) return {.length = 8};
  return {.lines = opcode == 'c' ? 2 : 0};
}

// LibTorch takes the memory of a text before it looks whether the file has so many letters.
bool lengths_fit(std::string_view pickle) {
  for (std::size_t at = 0; at < pickle.size();) {
    const Argument argument = argument_of(pickle[at++]);
    for (int line = 0; line < argument.lines; ++line)
      at = std::min(pickle.find('\n', at), pickle.size() - 1) + 1;
    if (argument.length > pickle.size() - at) return false;
    std::uint64_t length = argument.bytes;
    std::memcpy(&length, pickle.data() + at, argument.length);
    at += argument.length;
    if (length > pickle.size() - at) return false;
    at += length;
  }
  return true;
}

class PytorchFile final : public TensorSource {
 public:
  explicit PytorchFile(const fs::path& file) : name_(file.string()) {
    const MappedFile checked(file, "a file of torch.save()");  // it is there, and a regular file
    if (!checked.bytes().starts_with("PK"))
      refuse("is not a file of torch.save(), or one of the format before PyTorch 1.6",
             kSaveTensors);
    try {
      read_all();
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      // Behind the first line LibTorch says where in the program it was.
      const std::string_view said = error.what(), reason = said.substr(0, said.find('\n'));
      const std::size_t what = reason.find("nknown ");  // with the name of a class or function
      refuse(
          "holds other things than a tensor, or a plain dictionary or list of tensors, which are "
          "never read, or is damaged" +
              (what == std::string_view::npos ? "" : fmt::format(" (u{})", reason.substr(what))),
          kSaveTensors);
    }
  }

  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void read(std::size_t index, const PutPart& put) const override {
    put(elements_of(values_[index]));
  }

 private:
  [[noreturn]] void refuse(const std::string& problem, const std::string& remedy) const {
    throw InputError(name_, "", problem, remedy);
  }

  // The unpickler has no resolver for types: code and classes are refused.
  void read_all() {
    caffe2::serialize::PyTorchStreamReader reader(name_);
    const auto [pickle, size] = reader.getRecord("data.pkl");
    if (!lengths_fit({static_cast<const char*>(pickle.get()), size}))
      refuse("is damaged: a text in it is longer than the file", "save or copy the file again");
    const c10::IValue all = torch::jit::readArchiveAndTensors("data", "", "", c10::nullopt,
                                                              c10::nullopt, c10::nullopt, reader);
    if (all.isTensor()) return add("", all);
    if (all.isGenericDict()) {
      for (const auto& entry : all.toGenericDict()) {
        if (!entry.key().isString()) refuse("has keys that are no names", kSaveTensors);
        add(entry.key().toStringRef(), entry.value());
      }
    } else if (all.isTensorList() || all.isList()) {
      for (const c10::IValue& each : all.toListRef()) add(fmt::to_string(tensors_.size()), each);
    } else {
      refuse("holds no tensor, or not only tensors", kSaveTensors);
    }
  }

  void add(const std::string& name, const c10::IValue& value) {
    if (!value.isTensor()) {
      refuse(fmt::format("holds something else than a tensor as \"{}\"", name), kSaveTensors);
    }
    const at::Tensor& tensor = value.toTensor();
    const auto type = type_called(tensor.scalar_type(), scalar_type);
    if (!type || tensor.layout() != at::kStrided)
      refuse(fmt::format("has \"{}\" of a type that is not read", name), "save plain tensors");
    tensors_.push_back({name, *type, tensor.sizes().vec()});
    values_.push_back(tensor);
  }

  std::string name_;
  std::vector<StoredTensor> tensors_;
  std::vector<at::Tensor> values_;
};

at::Tensor tensor_of(const TensorSource& source, std::size_t index) {
  const StoredTensor& stored = source.tensors()[index];
  at::Tensor tensor = at::empty(stored.shape, scalar_type(stored.type));
  std::size_t at = 0;
  source.read(index, [&](std::string_view bytes) {
    CHECK(bytes.size() <= tensor.nbytes() - at, "more elements than the shape says");
    if (!bytes.empty())
      std::memcpy(static_cast<char*>(tensor.data_ptr()) + at, bytes.data(), bytes.size());
    at += bytes.size();
  });
  CHECK(at == tensor.nbytes(), "fewer elements than the shape says");
  return tensor;
}

}  // namespace

std::unique_ptr<TensorSource> open_pytorch(const fs::path& file) {
  return std::make_unique<PytorchFile>(file);
}

void write_pytorch(const fs::path& file, const TensorSource& tensors) {
  c10::Dict<std::string, at::Tensor> all;
  for (std::size_t i = 0; i < tensors.tensors().size(); ++i)
    all.insert(tensors.tensors()[i].name, tensor_of(tensors, i));
  try {
    const std::vector<char> bytes = torch::jit::pickle_save(all);
    write_file(file, {bytes.data(), bytes.size()});
  } catch (const c10::Error& error) {
    throw InputError(file.string(), "", "cannot be written: " + reason_of(error),
                     "take another format, such as .safetensors");
  }
}

}  // namespace strato::torch_engine

// Small ONNX models, made in the test that needs them, and their import through the plugin.
#pragma once

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/paths.h"

namespace strato::test {

using Dim =
    std::variant<int, const char*>;  // a number or a symbol; an empty symbol is an unknown extent
using Names = std::vector<std::string>;

// A folder that goes away with the object.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "strato-onnx-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline Graph import_file(const std::filesystem::path& file, const ImportOptions& options = {}) {
  static const PluginRegistry registry({std::filesystem::path(kBuildFolder) / "plugins"});
  return registry.importer_for("model.onnx")->import(file, options);
}

inline Graph import_bytes(const std::string& bytes, const ImportOptions& options = {}) {
  static const Scratch scratch;
  const std::filesystem::path file = scratch / "model.onnx";
  std::ofstream(file, std::ios::binary) << bytes;
  return import_file(file, options);
}

inline ImportOptions batch(std::int64_t size) {
  ImportOptions options;
  options.batch = size;
  return options;
}

inline void set_type(onnx::ValueInfoProto& info, const std::vector<Dim>& dims, int type) {
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const Dim& dim : dims) {
    auto* out = tensor->mutable_shape()->add_dim();
    if (const int* number = std::get_if<int>(&dim))
      out->set_dim_value(*number);
    else if (*std::get<const char*>(dim) != '\0')
      out->set_dim_param(std::get<const char*>(dim));
  }
}

template <class T>
onnx::TensorProto tensor_of(const std::vector<std::int64_t>& dims, const std::vector<T>& elements,
                            int type) {
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  std::string raw(elements.size() * sizeof(T), '\0');
  if (!elements.empty()) std::memcpy(raw.data(), elements.data(), raw.size());
  tensor.set_raw_data(raw);
  return tensor;
}

inline onnx::TensorProto int64s(const std::vector<std::int64_t>& elements) {
  return tensor_of(std::vector<std::int64_t>{static_cast<std::int64_t>(elements.size())}, elements,
                   onnx::TensorProto::INT64);
}
inline onnx::TensorProto int64(std::int64_t element) {
  return tensor_of<std::int64_t>({}, {element}, onnx::TensorProto::INT64);
}
inline onnx::TensorProto floats(const std::vector<std::int64_t>& dims,
                                const std::vector<float>& elements) {
  return tensor_of(dims, elements, onnx::TensorProto::FLOAT);
}

class NodeKit {
 public:
  explicit NodeKit(onnx::NodeProto* node) : node_(node) {}
  NodeKit& name(const std::string& text) { return node_->set_name(text), *this; }
  NodeKit& domain(const std::string& text) { return node_->set_domain(text), *this; }
  NodeKit& set(const std::string& key, std::int64_t value) {
    return add(key, onnx::AttributeProto::INT)->set_i(value), *this;
  }
  NodeKit& set(const std::string& key, const std::vector<std::int64_t>& values) {
    auto* attribute = add(key, onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute->add_ints(value);
    return *this;
  }
  NodeKit& set(const std::string& key, const onnx::TensorProto& value) {
    *add(key, onnx::AttributeProto::TENSOR)->mutable_t() = value;
    return *this;
  }
  NodeKit& set(const std::string& key, const onnx::GraphProto& value) {
    *add(key, onnx::AttributeProto::GRAPH)->mutable_g() = value;
    return *this;
  }

 private:
  onnx::AttributeProto* add(const std::string& key, onnx::AttributeProto::AttributeType type) {
    auto* attribute = node_->add_attribute();
    attribute->set_name(key);
    attribute->set_type(type);
    return attribute;
  }
  onnx::NodeProto* node_;
};

inline NodeKit add_node(onnx::GraphProto& graph, const std::string& type, const Names& inputs,
                        const Names& outputs) {
  onnx::NodeProto* node = graph.add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return NodeKit(node);
}

class ModelKit {
 public:
  explicit ModelKit(int opset = 17) {
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(opset);
  }
  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
  ModelKit& input(const std::string& name, const std::vector<Dim>& dims,
                  int type = onnx::TensorProto::FLOAT) {
    auto* info = graph().add_input();
    info->set_name(name);
    set_type(*info, dims, type);
    return *this;
  }
  ModelKit& output(const std::string& name) { return graph().add_output()->set_name(name), *this; }
  // A weight; its elements are zeros, or left in a file that does not exist.
  ModelKit& weight(const std::string& name, const std::vector<std::int64_t>& dims,
                   bool external = true) {
    onnx::TensorProto tensor;
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    if (external) {
      tensor.set_data_type(onnx::TensorProto::FLOAT);
      for (const std::int64_t dim : dims) tensor.add_dims(dim);
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      auto* entry = tensor.add_external_data();
      entry->set_key("location");
      entry->set_value("weights.bin");
    } else {
      tensor = floats(dims, std::vector<float>(static_cast<std::size_t>(count)));
    }
    return constant(name, tensor);
  }
  ModelKit& constant(const std::string& name, onnx::TensorProto tensor) {
    tensor.set_name(name);
    *graph().add_initializer() = std::move(tensor);
    return *this;
  }
  NodeKit node(const std::string& type, const Names& inputs, const Names& outputs) {
    return add_node(graph(), type, inputs, outputs);
  }
  std::string bytes() const { return proto.SerializeAsString(); }
  Graph import(const ImportOptions& options = {}) const { return import_bytes(bytes(), options); }

  onnx::ModelProto proto;
};

inline const Tensor& tensor_named(const Graph& graph, const std::string& name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no tensor " << name;
  static const Tensor none;
  return none;
}

inline int parameters(const Graph& graph) {
  int count = 0;
  for (const Tensor& tensor : graph.tensors()) count += tensor.role == TensorRole::Parameter;
  return count;
}

inline Names op_types(const Graph& graph) {
  Names types;
  for (const Op& op : graph.ops()) types.push_back(op.type);
  return types;
}

// The error's one line, without the path of the file; empty when there was none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_FALSE(error.file().empty());
    EXPECT_FALSE(error.remedy().empty()) << text;
    return text.substr(error.file().size() + 2);
  }
  return {};
}

}  // namespace strato::test

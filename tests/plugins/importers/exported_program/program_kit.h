// Small programs in archives as torch.export.save() writes them (PyTorch 2.8: schema 8), and their
// import through the plugin.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/io/json.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/paths.h"

namespace strato::test {

using Dims = std::vector<std::variant<int, const char*>>;  // numbers and expressions
using Entries = std::vector<std::pair<std::string, std::string>>;
constexpr int kFloat = 7, kLong = 5, kBool = 12;

// The file of one test, which goes away with it.
inline std::filesystem::path archive_file() {
  static const auto folder = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "strato-pt2-XXXXXX").string();
    return std::filesystem::path(::mkdtemp(pattern.data()));
  }();
  static const struct Remover {
    ~Remover() { std::filesystem::remove_all(folder); }
  } remover;
  return folder / "model.pt2";
}

inline std::filesystem::path write_archive(const Entries& entries, int compression = ZIP_CM_STORE) {
  const std::filesystem::path file = archive_file();
  int code = 0;
  zip_t* archive = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  for (const auto& [name, content] : entries) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), compression, 0);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return file;
}

inline Graph import_archive(const std::filesystem::path& file, const ImportOptions& options = {}) {
  static const PluginRegistry registry({std::filesystem::path(kBuildFolder) / "plugins"});
  return registry.importer_for(file)->import(file, options);
}

inline ImportOptions batch(std::int64_t size) {
  ImportOptions options;
  options.batch = size;
  return options;
}

// ---- arguments

inline Json named(const std::string& name) { return Json{{"name", name}}; }
inline Json of_tensor(const std::string& name) { return Json{{"as_tensor", named(name)}}; }
inline Json argument(const std::string& name, const Json& value) {
  return Json{{"name", name}, {"arg", value}, {"kind", 1}};
}
inline Json tensor(const std::string& name, const std::string& of) {
  return argument(name, of_tensor(of));
}
inline Json tensors(const std::string& name, const std::vector<std::string>& of) {
  Json list = Json::array();
  for (const std::string& each : of) list.push_back(named(each));
  return argument(name, Json{{"as_tensors", list}});
}
inline Json whole(const std::string& name, std::int64_t value) {
  return argument(name, Json{{"as_int", value}});
}
inline Json wholes(const std::string& name, const std::vector<std::int64_t>& values) {
  return argument(name, Json{{"as_ints", values}});
}
inline Json real(const std::string& name, double value) {
  return argument(name, Json{{"as_float", value}});
}
inline Json flag(const std::string& name, bool value) {
  return argument(name, Json{{"as_bool", value}});
}
inline Json words(const std::string& name, const std::string& value) {
  return argument(name, Json{{"as_string", value}});
}

inline Json sizes_of(const Dims& dims) {
  Json sizes = Json::array();
  for (const auto& dim : dims) {
    if (const int* number = std::get_if<int>(&dim))
      sizes.push_back(Json{{"as_int", *number}});
    else
      sizes.push_back(Json{{"as_expr", {{"expr_str", std::get<const char*>(dim)}}}});
  }
  return sizes;
}

struct Made {
  std::string name;
  Dims dims;
  int type = kFloat;
};

class ProgramKit {
 public:
  ProgramKit() {
    graph = {{"inputs", Json::array()},          {"outputs", Json::array()},
             {"nodes", Json::array()},           {"tensor_values", Json::object()},
             {"sym_int_values", Json::object()}, {"sym_bool_values", Json::object()}};
  }

  ProgramKit& declare(const std::string& name, const Dims& dims, int type = kFloat) {
    graph["tensor_values"][name] = {
        {"dtype", type}, {"sizes", sizes_of(dims)}, {"requires_grad", false}};
    return *this;
  }
  ProgramKit& input(const std::string& name, const Dims& dims, int type = kFloat) {
    return add_input(name, dims, type, {{"user_input", {{"arg", of_tensor(name)}}}});
  }
  ProgramKit& parameter(const std::string& name, const std::string& path, const Dims& dims) {
    return add_input(name, dims, kFloat,
                     {{"parameter", {{"arg", named(name)}, {"parameter_name", path}}}});
  }
  ProgramKit& buffer(const std::string& name, const std::string& path, const Dims& dims) {
    return add_input(
        name, dims, kFloat,
        {{"buffer", {{"arg", named(name)}, {"buffer_name", path}, {"persistent", true}}}});
  }
  // A call of "torch.ops." + op.
  ProgramKit& call(const std::string& op, const std::vector<Json>& arguments,
                   const std::vector<Made>& made, const std::string& module = {}) {
    Json outputs = Json::array();
    for (const Made& each : made) {
      declare(each.name, each.dims, each.type);
      outputs.push_back(of_tensor(each.name));
    }
    return call_making(op, arguments, outputs, module);
  }
  ProgramKit& call_making(const std::string& op, const std::vector<Json>& arguments,
                          const Json& outputs, const std::string& module = {}) {
    Json node = {{"target", "torch.ops." + op},
                 {"inputs", arguments},
                 {"outputs", outputs},
                 {"metadata", Json::object()}};
    if (!module.empty())
      node["metadata"]["nn_module_stack"] =
          "L__self__,,my.Model;L__self___x," + module + ",torch.nn.modules.linear.Linear";
    graph["nodes"].push_back(std::move(node));
    return *this;
  }
  ProgramKit& output(const std::string& name) {
    graph["outputs"].push_back(of_tensor(name));
    output_specs.push_back(Json{{"user_output", {{"arg", of_tensor(name)}}}});
    return *this;
  }

  std::string text() const {
    return Json{{"graph_module",
                 {{"graph", graph},
                  {"signature", {{"input_specs", input_specs}, {"output_specs", output_specs}}},
                  {"module_call_graph", Json::array()}}},
                {"opset_version", {{"aten", 10}}},
                {"range_constraints", ranges},
                {"schema_version", {{"major", major}, {"minor", 8}}},
                {"torch_version", "2.8.0"}}
        .dump();
  }
  std::filesystem::path write() const {
    return write_archive({{"model/archive_format", "pt2"},
                          {"model/archive_version", "0"},
                          {"model/models/model.json", text()},
                          {"model/data/weights/model.pt", "weights"}});
  }
  Graph import(const ImportOptions& options = {}) const { return import_archive(write(), options); }

  Json graph, input_specs = Json::array(), output_specs = Json::array(), ranges = Json::object();
  int major = 8;

 private:
  ProgramKit& add_input(const std::string& name, const Dims& dims, int type, const Json& spec) {
    graph["inputs"].push_back(of_tensor(name));
    input_specs.push_back(spec);
    return declare(name, dims, type);
  }
};

inline std::vector<std::string> op_types(const Graph& graph) {
  std::vector<std::string> types;
  for (const Op& op : graph.ops()) types.push_back(op.type);
  return types;
}

inline const Tensor& tensor_named(const Graph& graph, const std::string& name) {
  for (const Tensor& tensor : graph.tensors())
    if (tensor.name == name) return tensor;
  ADD_FAILURE() << "no tensor " << name;
  static const Tensor none;
  return none;
}

// The error's one line, without the path of the file; empty when there was none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_FALSE(error.remedy().empty()) << text;
    return text.substr(error.file().size() + 2);
  }
  return {};
}

inline void expect_error(const std::function<void()>& action, const std::string& part) {
  const std::string error = error_of(action);
  EXPECT_NE(error.find(part), std::string::npos) << "got: " << error << "\nwanted: " << part;
}

}  // namespace strato::test

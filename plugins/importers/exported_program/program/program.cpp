#include "plugins/importers/exported_program/program/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace strato::exported_program_import {
namespace {

constexpr std::int64_t kOldest = 5, kNewest = 8;  // major versions of the schema
constexpr std::size_t kMostAxes = 64;

// Nothing for complex numbers, which have no counterpart.
std::optional<DataType> data_type(std::int64_t scalar_type) {
  switch (scalar_type) {
    case 1:
    case 29:  // the four of eight bits
    case 30:
    case 31:
    case 32:
      return DataType::U8;
    case 2:
      return DataType::I8;
    case 3:
    case 28:
      return DataType::I16;
    case 4:
      return DataType::I32;
    case 5:
      return DataType::I64;
    case 6:
      return DataType::F16;
    case 7:
      return DataType::F32;
    case 8:
      return DataType::F64;
    case 12:
      return DataType::Bool;
    case 13:
      return DataType::BF16;
    default:
      return std::nullopt;
  }
}

// "hint" is of the example that the program was traced with.
Size read_size(const JsonView& view) {
  if (const auto number = view.find("as_int")) return {number->integer(), {}};
  const JsonView expression = view.at("as_expr").at("expr_str");
  Size size = {0, expression.string()};
  if (size.expression.empty()) expression.fail("is empty", kExportAgain);
  return size;
}

TensorMeta read_meta(const JsonView& view) {
  const JsonView scalar_type = view.at("dtype");
  const std::optional<DataType> type = data_type(scalar_type.integer());
  if (!type)
    scalar_type.fail("is a type of numbers that is not supported",
                     "export a program of real numbers");
  TensorMeta meta{*type, {}};
  for (const JsonView& size : view.at("sizes").items()) meta.sizes.push_back(read_size(size));
  if (meta.sizes.size() > kMostAxes) view.fail("has too many axes", kExportAgain);
  return meta;
}

// The name of a tensor, or of a number that sizes depend on; empty for all else.
std::string name_in(const JsonView& argument) {
  for (const char* kind : {"as_tensor", "as_sym_int"}) {
    const auto named = argument.find(kind);
    if (!named) continue;
    const auto name = named->find(kind == std::string("as_tensor") ? "name" : "as_name");
    if (name) return name->string();
  }
  return {};
}

std::pair<InputKind, std::string> read_input(const JsonView& spec) {
  struct Kind {
    const char *key, *name;
    InputKind kind;
  };
  static constexpr Kind kinds[] = {
      {"parameter", "parameter_name", InputKind::Parameter},
      {"buffer", "buffer_name", InputKind::Constant},
      {"tensor_constant", "tensor_constant_name", InputKind::Constant}};
  for (const Kind& kind : kinds)
    if (const auto given = spec.find(kind.key)) return {kind.kind, given->at(kind.name).string()};
  return {InputKind::Data, {}};
}

std::vector<std::string> read_results(const JsonView& signature) {
  std::vector<std::string> results;
  for (const JsonView& spec : signature.at("output_specs").items()) {
    std::string name;
    if (const auto output = spec.find("user_output"))
      name = name_in(output->at("arg"));
    else if (const auto loss = spec.find("loss_output"))
      name = loss->at("arg").at("name").string();
    if (!name.empty()) results.push_back(std::move(name));
  }
  return results;
}

std::optional<std::int64_t> bound(const JsonView& range, const char* key) {
  const auto value = range.find(key);
  if (!value || !value->json().is_number_integer()) return std::nullopt;
  return value->integer();
}

void check_version(const JsonView& root) {
  const JsonView version = root.at("schema_version");
  const std::int64_t major =
      version.is_object() ? version.at("major").integer() : version.integer();
  if (major >= kOldest && major <= kNewest) return;
  version.fail(fmt::format("is {}: {} to {} are read", major, kOldest, kNewest),
               "export the program with a release of PyTorch 2.2 to 2.11");
}

}  // namespace

Block read_block(const JsonView& graph) {
  Block block;
  for (const JsonView& input : graph.at("inputs").items()) block.inputs.push_back(name_in(input));
  for (const JsonView& output : graph.at("outputs").items())
    block.outputs.push_back(name_in(output));
  block.nodes = graph.at("nodes").items();
  for (const auto& [name, meta] : graph.at("tensor_values").members())
    block.tensors.emplace(name, read_meta(meta));
  if (const auto numbers = graph.find("sym_int_values"))
    for (const auto& [name, value] : numbers->members())
      block.numbers.emplace(name, read_size(value));
  return block;
}

Program read_program(const std::string& text, const std::string& file) {
  const JsonView root = JsonView::parse(text, file);
  check_version(root);
  const JsonView module = root.at("graph_module");
  Program program;
  program.file = file;
  program.block = read_block(module.at("graph"));
  const JsonView signature = module.at("signature"), specs = signature.at("input_specs");
  for (const JsonView& spec : specs.items()) program.inputs.push_back(read_input(spec));
  if (program.inputs.size() != program.block.inputs.size())
    specs.fail("are not as many as the graph's inputs", kExportAgain);
  program.results = read_results(signature);
  if (program.results.empty())
    signature.at("output_specs").fail("has no tensor", "export a program that computes one");
  if (const auto ranges = root.find("range_constraints"))
    for (const auto& [symbol, range] : ranges->members())
      program.ranges[symbol] = {bound(range, "min_val"), bound(range, "max_val")};
  return program;
}

}  // namespace strato::exported_program_import

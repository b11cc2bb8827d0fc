#include "plugins/importers/exported_program/translate/call.h"

#include <algorithm>
#include <limits>

#include "core/base/utf8.h"

namespace strato::exported_program_import {
namespace {

// The one of a union's members that is given.
std::optional<std::pair<std::string, JsonView>> given(const JsonView& argument) {
  for (const auto& [kind, value] : argument.members())
    if (!value.is_null()) return std::pair(kind, value);
  return std::nullopt;
}

std::string op_of(std::string target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!target.starts_with(kOps)) return target;
  target.erase(0, kOps.size());
  const std::size_t first = target.find('.'), last = target.rfind('.');
  if (first != std::string::npos && last != first && !target.starts_with("higher_order."))
    target.erase(last);
  // In place or not, the result is the same.
  if (target.ends_with('_') && !target.ends_with("__")) target.pop_back();
  return target;
}

// "key,path,type;key,path,type", from outside to inside: the innermost path, without what stands
// for the model itself.
std::string module_path(const std::string& stack) {
  const std::size_t begin = stack.rfind(';') == std::string::npos ? 0 : stack.rfind(';') + 1;
  const std::string entry = stack.substr(begin);
  const std::size_t first = entry.find(','), last = entry.rfind(',');
  if (first == std::string::npos || last <= first) return {};
  std::string path = entry.substr(first + 1, last - first - 1);
  for (const std::string_view root : {"L['self']", "L__self__", "self"})
    if (path.starts_with(root)) {
      path.erase(0, root.size());
      break;
    }
  path.erase(0, std::min(path.find_first_not_of('.'), path.size()));
  return path;
}

std::string named(const JsonView& value, const char* key) {
  const auto name = value.is_object() ? value.find(key) : std::nullopt;
  return name ? name->string() : std::string();
}

// A tensor's name or a symbolic number's.
std::string reference(const std::string& kind, const JsonView& value) {
  if (kind == "as_tensor") return named(value, "name");
  return kind == "as_sym_int" ? named(value, "as_name") : std::string();
}

double real_of(const JsonView& value) {
  if (!value.is_string()) return value.json().is_number() ? value.json().get<double>() : 0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string text = value.string();
  if (text == "Infinity" || text == "inf") return kInfinity;
  if (text == "-Infinity" || text == "-inf") return -kInfinity;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Call::Call(const JsonView& node, const NumberOf& number_of)
    : number_of_(number_of), node_(node), target_(node.at("target").string()), op_(op_of(target_)) {
  for (const JsonView& input : node.at("inputs").items())
    arguments_.emplace_back(input.at("name").string(), input.at("arg"));
}

std::string Call::name() const {
  std::string own = named(node_, "name");
  const std::vector<std::string> made = results();
  if (own.empty() && !made.empty()) own = made[0];
  const auto metadata = node_.find("metadata");
  const auto stack = metadata ? metadata->find("nn_module_stack") : std::nullopt;
  const std::string path = stack && stack->is_string() ? module_path(stack->string()) : "";
  return shown_text(path.empty() ? own : path + "/" + own);
}

std::vector<std::string> Call::results() const {
  std::vector<std::string> names;
  for (const JsonView& output : node_.at("outputs").items()) {
    const auto argument = given(output);
    if (!argument) {
      names.emplace_back();
    } else if (argument->first == "as_tensors") {
      for (const JsonView& each : argument->second.items()) names.push_back(named(each, "name"));
    } else {
      names.push_back(reference(argument->first, argument->second));
    }
  }
  return names;
}

std::optional<Call::Argument> Call::find(std::string_view argument) const {
  for (const auto& [name, value] : arguments_) {
    if (name != argument) continue;
    auto found = given(value);
    // An optional tensor has its name one level further in.
    if (found && found->first == "as_optional_tensor") found = given(found->second);
    if (!found || found->first == "as_none") return std::nullopt;
    return found;
  }
  return std::nullopt;
}

bool Call::is_number(std::string_view argument) const {
  const auto found = find(argument);
  return found && (found->first == "as_int" || found->first == "as_float" ||
                   found->first == "as_bool" || found->first == "as_sym_int");
}

std::string Call::tensor(std::string_view argument) const {
  const auto found = find(argument);
  return found && found->first == "as_tensor" ? named(found->second, "name") : std::string();
}

std::vector<std::string> Call::tensors(std::string_view argument) const {
  const auto found = find(argument);
  std::vector<std::string> names;
  if (!found || (found->first != "as_tensors" && found->first != "as_optional_tensors"))
    return names;
  for (const JsonView& each : found->second.items()) {
    const auto one = each.find("as_tensor");
    names.push_back(named(one ? *one : each, "name"));
  }
  return names;
}

std::int64_t Call::whole(const Argument& argument) const {
  const auto& [kind, value] = argument;
  if (kind == "as_int") return value.integer();
  if (kind == "as_bool") return value.boolean() ? 1 : 0;
  if (kind != "as_sym_int") value.fail("is no whole number", "export the program again");
  const std::string name = named(value, "as_name");
  return name.empty() ? value.at("as_int").integer() : number_of_(name);
}

std::int64_t Call::integer(std::string_view argument, std::int64_t fallback) const {
  const auto found = find(argument);
  return found ? whole(*found) : fallback;
}

std::optional<std::vector<std::int64_t>> Call::integers(std::string_view argument) const {
  const auto found = find(argument);
  if (!found) return std::nullopt;
  std::vector<std::int64_t> list;
  const auto& [kind, value] = *found;
  if (kind == "as_ints" || kind == "as_sym_ints")
    for (const JsonView& each : value.items())
      list.push_back(kind == "as_ints" ? each.integer() : whole({"as_sym_int", each}));
  else if (kind != "as_tensors")  // an empty list may be one of any kind
    list.push_back(whole(*found));
  return list;
}

double Call::real(std::string_view argument, double fallback) const {
  const auto found = find(argument);
  if (!found) return fallback;
  return found->first == "as_float" ? real_of(found->second) : static_cast<double>(whole(*found));
}

bool Call::flag(std::string_view argument, bool fallback) const {
  const auto found = find(argument);
  return found ? whole(*found) != 0 : fallback;
}

std::string Call::text(std::string_view argument, const std::string& fallback) const {
  const auto found = find(argument);
  return found && found->first == "as_string" ? shown_text(found->second.string()) : fallback;
}

std::optional<std::int64_t> Call::scalar_type(std::string_view argument) const {
  const auto found = find(argument);
  if (!found || found->first != "as_scalar_type") return std::nullopt;
  return found->second.integer();
}

std::vector<std::string> Call::read() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : arguments_) {
    const auto argument = given(value);
    if (!argument) continue;
    std::string one = argument->first == "as_tensor" ? named(argument->second, "name") : "";
    if (!one.empty()) names.push_back(std::move(one));
    const std::vector<std::string> listed = tensors(name);
    names.insert(names.end(), listed.begin(), listed.end());
  }
  return names;
}

std::optional<JsonView> Call::graph() const {
  for (const auto& [name, value] : arguments_)
    if (const auto found = value.find("as_graph")) return found->at("graph");
  return std::nullopt;
}

std::vector<std::string> Call::operands() const {
  std::vector<std::string> names;
  bool after_graph = false;
  for (const auto& [name, value] : arguments_) {
    const auto argument = given(value);
    if (argument && after_graph) names.push_back(reference(argument->first, argument->second));
    after_graph = after_graph || (argument && argument->first == "as_graph");
  }
  return names;
}

void Call::refuse(const std::string& problem, const std::string& remedy) const {
  node_.fail(problem, remedy);
}

}  // namespace strato::exported_program_import

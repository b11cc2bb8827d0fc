#include "core/strategy/value/mesh_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato {
namespace {

struct RoleWord {
  std::string_view word;  // with its colon
  std::string_view meaning;
  std::int32_t most;
  std::int32_t& (*number)(MeshRoles&);
};
constexpr std::int32_t kMost = 1'000'000;
constexpr std::array<RoleWord, 6> kRoleWords = {{
    {"tensor:", "number of columns", kMost,
     [](MeshRoles& roles) -> std::int32_t& { return roles.tensor; }},
    {"expert:", "number of rows", kMost,
     [](MeshRoles& roles) -> std::int32_t& { return roles.expert; }},
    {"context:", "number of rows", kMost,
     [](MeshRoles& roles) -> std::int32_t& { return roles.context; }},
    {"pieces:", "number of pieces", kMost,
     [](MeshRoles& roles) -> std::int32_t& { return roles.pieces; }},
    {"zero:", "stage of ZeRO (1 to 3)", StateSharding::kMostStage,
     [](MeshRoles& roles) -> std::int32_t& { return roles.states.stage; }},
    {"zero_rows:", "number of rows", kMost,
     [](MeshRoles& roles) -> std::int32_t& { return roles.states.rows; }},
}};

}  // namespace

std::optional<MeshRoles> take_roles(std::string_view& text, const std::string& place) {
  MeshRoles roles;
  bool any = false;
  const auto next_role = [&] {
    return std::ranges::find_if(kRoleWords,
                                [&](const RoleWord& each) { return text.starts_with(each.word); });
  };
  for (auto found = next_role(); found != kRoleWords.end(); found = next_role()) {
    const RoleWord& role = *found;
    const std::string_view rest = text.substr(role.word.size());
    const std::size_t colon = rest.find(':');
    const auto number = number_from(rest.substr(0, colon), 1, role.most);
    if (!number)
      throw InputError(
          "", place,
          fmt::format("\"{}\" is no {}", rest.substr(0, colon).substr(0, 64), role.meaning),
          fmt::format("write {0}2, or {0}2:DEVICES", role.word));
    role.number(roles) = *number;
    any = true;
    text = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  }
  return any ? std::optional(roles) : std::nullopt;
}

bool MeshRoles::is_sane() const {
  return tensor >= 1 && expert >= 1 && context >= 1 && pieces >= 1 && states.stage >= 0 &&
         states.stage <= StateSharding::kMostStage && states.rows >= 0 &&
         states.smallest >= Bytes(0);
}

std::string describe(const MeshRoles& roles) {
  std::string words;
  if (roles.tensor > 1) words += fmt::format(", tensor {}", roles.tensor);
  if (roles.pieces > 1) words += fmt::format(" in {} pieces", roles.pieces);
  if (roles.tensor > 1 && !roles.sequence) words += " without sequence parallelism";
  if (roles.expert > 1) words += fmt::format(", expert {}", roles.expert);
  if (roles.context > 1) words += fmt::format(", context {}", roles.context);
  if (roles.states.stage > 0) words += fmt::format(", ZeRO {}", roles.states.stage);
  if (roles.states.stage > 0 && roles.states.rows > 0)
    words += fmt::format(" in {} rows", roles.states.rows);
  return words.empty() ? words : words + ",";
}

void add_to(Hasher& hasher, const MeshRoles& roles) {
  if (roles.tensor > 1) hasher.text("tensor").number(roles.tensor);
  if (roles.expert > 1) hasher.text("expert").number(roles.expert);
  if (roles.context > 1) hasher.text("context").number(roles.context);
  if (roles.pieces > 1) hasher.text("pieces").number(roles.pieces);
  if (!roles.sequence) hasher.text("without sequence");
  if (const StateSharding& states = roles.states; states.stage > 0)
    hasher.text("states").number(states.stage).number(states.rows).number(states.smallest.value);
}

}  // namespace strato

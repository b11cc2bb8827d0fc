#include "core/strategy/file/roles_json.h"

#include "core/io/json.h"

namespace strato {

void add_roles(Json& json, const MeshRoles& roles) {
  if (roles.tensor > 1) json["tensor"] = roles.tensor;
  if (roles.expert > 1) json["expert"] = roles.expert;
  if (roles.context > 1) json["context"] = roles.context;
  if (roles.pieces > 1) json["pieces"] = roles.pieces;
  if (!roles.sequence) json["sequence"] = false;
  const StateSharding& states = roles.states;
  if (states.stage == 0) return;
  json["zero"] = states.stage;
  if (states.rows > 0) json["zero_rows"] = states.rows;
  if (states.smallest != StateSharding::kSmallest)
    json["zero_smallest_bytes"] = states.smallest.value;
}

MeshRoles read_roles(const JsonView& view) {
  constexpr std::int64_t kMostRows = 1 << 20;
  const auto read = [&](const char* key, std::int32_t& number, std::int64_t least,
                        std::int64_t most) {
    if (const auto value = view.find(key))
      number = static_cast<std::int32_t>(value->integer(least, most));
  };
  MeshRoles roles;
  read("tensor", roles.tensor, 1, kMostRows);
  read("expert", roles.expert, 1, kMostRows);
  read("context", roles.context, 1, kMostRows);
  read("pieces", roles.pieces, 1, kMostRows);
  if (const auto sequence = view.find("sequence")) roles.sequence = sequence->boolean();
  StateSharding& states = roles.states;
  read("zero", states.stage, 0, StateSharding::kMostStage);
  read("zero_rows", states.rows, 1, kMostRows);
  if (const auto smallest = view.find("zero_smallest_bytes"))
    states.smallest = Bytes(smallest->integer(0));
  if (states.stage == 0 && states != StateSharding())
    view.fail("says how states are shared, and has no \"zero\"", "add its stage, 1 to 3");
  return roles;
}

}  // namespace strato

// The roles of a mesh (mesh_roles.h) in an object of a file, each only where it means something:
// "tensor": 4, "expert": 8, "context": 2, "pieces": 4, "zero": 3 (ZeRO's stage), and of that
// "zero_rows": 8 and "zero_smallest_bytes": 0.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/strategy/value/mesh_roles.h"

namespace strato {

class JsonView;

void add_roles(nlohmann::ordered_json& json, const MeshRoles& roles);
// Throws InputError with its place: a number out of range, rows of no stage.
MeshRoles read_roles(const JsonView& view);

}  // namespace strato

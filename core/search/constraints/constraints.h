// A person's demands on a strategy, whichever planner makes it: groups that keep a decision,
// devices, modes and roles that are not for them, groups that share one decision, at most so many
// devices.
//
// Said by the names of ops, op groups and devices, so that it holds for another grouping, another
// planner and a later session, too. As text:
//
//   {"format": "stratoscope-constraints", "version": 1,
//    "pin": [{"group": "fc6", "mode": "replicate-ps", "devices": {"v100:0": 1, "v100:1": 3}},
//            {"group": "layers.*", "mode": "replicate-allreduce", "devices": {"all": 1},
//             "tensor": 4}],
//    "forbid": [{"group": "*", "devices": ["p100"]}, {"group": "conv1", "modes": ["duplicate"]},
//               {"group": "layers.*", "roles": ["tensor", "recompute"]}],
//    "together": [{"groups": ["fc6", {"name": "fc7", "ops": ["fc7", "fc7/grad"]}]}],
//    "max_devices": [{"devices": 8}, {"group": "encoder.*", "devices": 4}]}
//
// Every part may be missing. A group is the name of an op group or op, a pattern of such names with
// "*" for any text, or an object with the names of its ops, which then count and not the name. A
// device is the name of a device or device group, or "all".
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

// What ops may do in a step beside having a mode on devices.
enum class Role : std::uint8_t {
  Pipeline,   // several micro-batches pass them, and they are in more than one stage: see
              // forbidden_roles.h. Micro-batches in one stage (accumulated gradients) are not it
  Tensor,     // devices compute one of them together: rows of several columns (MeshRoles::tensor),
              // and ops of the forward and backward pass that are split (Strategy::splits)
  Recompute,  // the backward pass computes them again (Strategy::recomputed)
  Sharding,   // each device keeps, and updates, a part of their parameters: rows share states
              // (StateSharding), and updates that are split (Strategy::splits)
  Expert,     // rows have experts among them (MeshRoles::expert)
  Context,    // rows have positions among them (MeshRoles::context)
  Offload,    // what they keep waits in the memory of hosts (Strategy::offloaded)
};
inline constexpr std::array<std::string_view, 7> kRoles = {
    "pipeline", "tensor", "recompute", "sharding", "expert", "context", "offload"};
constexpr std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)]; }
std::string_view label_of(Role role);  // "pipelining", "tensor parallelism", ...
std::optional<Role> role_from(std::string_view name);

// Ops that a constraint is about.
struct ConstrainedOps {
  std::string name;              // for people, and where `ops` is empty what is looked for
  std::vector<std::string> ops;  // names
  bool is_pattern() const { return ops.empty() && name.find('*') != std::string::npos; }
  friend bool operator==(const ConstrainedOps&, const ConstrainedOps&) = default;
};

struct Constraints {
  // The group keeps this decision.
  struct Pin {
    ConstrainedOps of;
    Mode mode = Mode::ReplicateAllReduce;
    std::vector<std::pair<std::string, std::int32_t>> devices;  // name and weight
    MeshRoles roles{};                                          // Decision::roles
    friend bool operator==(const Pin&, const Pin&) = default;
  };
  // None of these devices, none of these modes, none of these roles.
  struct Forbid {
    ConstrainedOps of;
    std::vector<std::string> devices;
    std::vector<Mode> modes;
    std::vector<Role> roles{};
    friend bool operator==(const Forbid&, const Forbid&) = default;
  };
  // The same decision for all of them.
  struct Together {
    std::vector<ConstrainedOps> of;
    friend bool operator==(const Together&, const Together&) = default;
  };
  // All of these ops together use at most so many devices.
  struct Limit {
    ConstrainedOps of{"*", {}};
    std::int64_t devices = 1;
    static constexpr std::int64_t kMost = 1'000'000;
    friend bool operator==(const Limit&, const Limit&) = default;
  };

  std::vector<Pin> pins;
  std::vector<Forbid> forbidden;
  std::vector<Together> together;
  std::vector<Limit> limits;

  bool empty() const { return size() == 0; }
  std::size_t size() const {
    return pins.size() + forbidden.size() + together.size() + limits.size();
  }
  void append(const Constraints& more);
  friend bool operator==(const Constraints&, const Constraints&) = default;
};

// Whether a role is forbidden to every op ("*").
bool forbids_everywhere(const Constraints& constraints, Role role);

// Every constraint in words, in the order in which they are counted: pins, forbidden, together,
// limits.
std::vector<std::string> describe(const Constraints& constraints);

// These read what a person writes on the command line. They throw InputError.
// "fc6=ps:v100x2,1080ti-0:1"; "layers.*=tensor:4:v100" has rows of four devices that all-reduce
// gradients, "layers.*=tensor:4" on all devices; with "tensor:2:expert:4", or "expert:4" alone,
// four rows have experts among them, with "zero:3" rows share states (take_roles()).
Constraints::Pin parse_pin(std::string_view text);
// "conv1=p100,duplicate"; "layers.*=tensor"; "p100" and "pipeline" alone: of all. The name of a
// mode or role is that, also where a device has the same name: the file's "devices" has such
// devices.
Constraints::Forbid parse_forbid(std::string_view text);
Constraints::Together parse_together(std::string_view text);  // "fc6,fc7"
Constraints::Limit parse_limit(std::string_view text);        // "8"; "encoder.*=4"

// Constraints as a file. The readers throw InputError with the exact place: another format, an
// unknown key, mode or role, a weight below 1, no group, no device, fewer than two groups together,
// a limit below 1.
std::string constraints_json(const Constraints& constraints);
Constraints parse_constraints(std::string_view json, const std::string& file);
Constraints read_constraints(const std::filesystem::path& file);

}  // namespace strato

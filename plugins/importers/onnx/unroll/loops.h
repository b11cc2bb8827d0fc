// Nodes that run bodies: decided branches are taken, loops written out round by round. Include in
// .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/importers/onnx/unroll/bodies.h"
#include "plugins/importers/onnx/unroll/decisions.h"
#include "plugins/importers/onnx/unroll/made_nodes.h"

namespace strato::onnx_import {

// Throws InputError about a node that data decide, and about one that does not fit its body.
class Loops {
 public:
  Loops(const Model& model, const Binding& binding, Tensors& tensors, Expansion& expansion,
        Bodies& bodies, MadeNodes& made);

  bool run(const onnx::NodeProto& node);  // false: the node runs no body

 private:
  // A loop that is being written out.
  struct Unrolling {
    const onnx::NodeProto& node;
    const onnx::GraphProto& body;
    std::string prefix;
    Renaming shared = {};                                // names that all rounds have in common
    Nodes nodes = {};                                    // those that every round repeats
    std::vector<std::string> state = {};                 // goes from round to round
    std::vector<std::vector<std::string>> results = {};  // per result, a tensor of each round
  };
  struct ScannedInput {
    std::string name;
    std::int64_t axis = 0, extent = 0;
    bool backwards = false;
  };

  void run_if(const onnx::NodeProto& node);
  void run_loop(const onnx::NodeProto& node);
  void run_scan(const onnx::NodeProto& node);
  void run_sequence_map(const onnx::NodeProto& node);

  Unrolling begin(const onnx::NodeProto& node, const onnx::GraphProto& body, int results);
  // Runs the body under the names of its inputs, which it returns with those of what it makes. Its
  // outputs from `first` on are the next state, then the round's results.
  Renaming run_round(Unrolling& loop, const std::string& prefix, Renaming names, int first);
  // Gives the node's outputs the last state and the results, stacked.
  void finish(Unrolling& loop, int first);
  std::vector<ScannedInput> scanned_inputs(const onnx::NodeProto& node, int states) const;
  std::int64_t rounds_of(const onnx::NodeProto& node,
                         const std::vector<ScannedInput>& scanned) const;

  const std::string& file_;
  const int opset_;  // ONNX's own
  Tensors& tensors_;
  Expansion& expansion_;
  Decisions decisions_;
  Bodies& bodies_;
  MadeNodes& made_;
};

}  // namespace strato::onnx_import

// The translation's inside: what translate() keeps while it goes over the nodes. Its parts are in
// translate.cpp (tensors and ops), translate_bodies.cpp (functions, branches, loops),
// translate_sequences.cpp (lists of tensors) and translate_batch.cpp (another batch than the
// file's). Include in .cpp files only.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "plugins/importers/onnx/inline_body.h"
#include "plugins/importers/onnx/rebatch.h"
#include "plugins/importers/onnx/translate.h"

namespace strato::onnx_import {

class Translator {
 public:
  Translator(const Model& model, const Uses& uses, const Binding& binding,
             const Translation* original);
  Translation run();

 private:
  using Entries = std::vector<Entry*>;
  using Results = std::vector<std::pair<std::string, std::string>>;  // name in a body, name outside

  [[noreturn]] void fail(const std::string& place, const std::string& problem,
                         const std::string& remedy) const;

  // ---- tensors
  Entry& add(const std::string& name, TensorRole role, Facts facts);
  void add_value(const std::string& name, Value value);
  void add_input(const BoundInput& input);
  void add_initializer(const onnx::TensorProto& tensor, const std::string& name);
  void note_origin(Entry& entry, const onnx::TensorProto& tensor) const;
  void add_sparse(const onnx::SparseTensorProto& sparse);
  Entry& new_constant(const std::string& name, Value value);
  bool exists(const std::string& name) const;
  // The one number that a tensor holds, where it is known.
  std::optional<std::int64_t> known_number(const std::string& name) const;
  // Another name for a tensor or a list of tensors that exists.
  void give_name(const onnx::NodeProto& node, const std::string& made, const std::string& name);

  // ---- nodes
  void run_nodes(const Nodes& nodes);
  void run_node(const onnx::NodeProto& node);
  Entries inputs_of(const onnx::NodeProto& node) const;
  bool constant(const onnx::NodeProto& node);
  static std::optional<Value> listed_constant(const onnx::AttributeProto& attribute);
  bool shape_query(const onnx::NodeProto& node, const Entries& inputs);
  bool copied_weight(const onnx::NodeProto& node, const Entries& inputs);
  bool filled_weight(const onnx::NodeProto& node, const Entries& inputs);
  bool folded(const onnx::NodeProto& node, const Entries& inputs);
  std::string unnamed(const onnx::NodeProto& node) const;
  // A node of ONNX's own, made here, as if it stood in the file; named as its first output. `list`:
  // the axes of Squeeze and Unsqueeze, the sizes of Split.
  void run_made(const std::string& type, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, std::optional<std::int64_t> axis = {},
                const std::vector<std::int64_t>& list = {});
  void emit(const onnx::NodeProto& node, const std::string& domain, const Entries& inputs);
  std::vector<Facts> types_of(const onnx::NodeProto& node, const std::string& domain,
                              const TranslatedOp& op);

  // ---- functions, branches, loops
  bool inlined_function(const onnx::NodeProto& node, const std::string& domain);
  bool control_flow(const onnx::NodeProto& node);
  void run_if(const onnx::NodeProto& node);
  void run_loop(const onnx::NodeProto& node);
  void run_scan(const onnx::NodeProto& node);
  void run_sequence_map(const onnx::NodeProto& node);
  const onnx::GraphProto& body_of(const onnx::NodeProto& node, std::string_view attribute) const;
  // Runs a body's nodes in place; adds the names that its tensors get to `names`.
  void run_body(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix,
                Renaming& names);
  void run_body(const onnx::NodeProto& node, const Nodes& body, Renaming names,
                const Results& results);
  void add_body_initializers(const onnx::GraphProto& body, const std::string& prefix,
                             Renaming& names);
  // What every round of a body shares: its initializers and constants. Returns its other nodes.
  Nodes add_shared(const onnx::GraphProto& body, const std::string& prefix, Renaming& names);
  // Notes what writing out bodies takes, and stops before it is more than a machine holds.
  void charge(const onnx::NodeProto& node, std::size_t steps);
  void charge_body(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix);
  // The tensors of each round along a new axis.
  void stack(const onnx::NodeProto& node, const onnx::ValueInfoProto& of,
             const std::vector<std::string>& rounds, std::int64_t axis, const std::string& name);
  std::string unique_prefix(const onnx::NodeProto& node);
  std::string data_decides(const onnx::NodeProto& node, const std::string& input) const;
  // Of an If or a Loop, written out of bodies or not: what the file calls it, and what an option
  // says of it.
  std::string name_in_file(const onnx::NodeProto& node) const;
  std::optional<std::int64_t> decision(const onnx::NodeProto& node) const;

  // ---- lists of tensors
  bool sequence_op(const onnx::NodeProto& node);
  void keep_list(const onnx::NodeProto& node, const std::string& name, Entries list);
  const Entries& sequence_at(const onnx::NodeProto& node, int input) const;
  std::size_t position(const onnx::NodeProto& node, int input, std::size_t size,
                       std::size_t places) const;
  void split_to_sequence(const onnx::NodeProto& node);
  void concat_sequence(const onnx::NodeProto& node);
  std::string name_of(const Entry& entry);

  // ---- another batch than the file's
  const Entry* before(const std::string& name) const;
  BatchChange change() const { return {binding_.file_batch, binding_.batch}; }
  void adjust_to_batch(const onnx::NodeProto& node, Entries& inputs);
  void adjust_target(const onnx::NodeProto& node, Entries& inputs, std::size_t slot);
  void adjust_state(Entries& inputs, std::size_t slot);
  void check_batch(const onnx::NodeProto& node, const Entry& output) const;
  [[noreturn]] void refuse_batch(const onnx::NodeProto& node, const std::string& reason) const;

  const Model& model_;
  const Uses& uses_;
  const Binding& binding_;
  const Translation* original_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  Translation out_;
  std::unordered_map<std::string, Entries> sequences_;
  std::unordered_set<std::string> prefixes_;
  int nesting_ = 0;
  std::size_t nodes_ = 0;
  std::size_t written_out_ = 0;  // steps of charge()
  std::size_t listed_ = 0;       // tensors of all lists
  std::size_t folded_total_ = 0;
};

}  // namespace strato::onnx_import

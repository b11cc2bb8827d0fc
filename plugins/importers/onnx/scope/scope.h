// What all have at hand who translate a model's nodes: the translated model (tensors and ops with
// known shapes) so far, by name, and what writing out functions, branches and loops may take.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/content/content.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

struct Entry {  // one tensor
  std::string name;
  TensorRole role = TensorRole::Activation;
  Facts facts;          // a value is known of constants only
  int batch_axis = -1;  // of inputs
  bool stored = false;  // an initializer of the file
  bool frozen = false;  // a parameter that the file does not train
  bool given = false;   // its elements are the file's, and not computed from others
  // The op whose result was guessed, as no rule knows its type, if this follows from it; or null.
  std::shared_ptr<const std::string> guess = nullptr;
  // Says where the elements are that the file holds and `facts` has not, as far as they were asked
  // for; if it has one element, all are like it.
  std::shared_ptr<const onnx::TensorProto> origin = nullptr;
};

using Entries = std::vector<Entry*>;  // null: left out

struct TranslatedOp {
  Op op;  // name, type and attributes
  Entries inputs, outputs;
};

struct Translation {
  std::deque<Entry> entries;  // addresses stay
  std::unordered_map<std::string, Entry*> by_name;
  std::vector<TranslatedOp> ops;
  Entries results;         // of the graph
  std::int64_t batch = 1;  // of the graph

  Entry* find(const std::string& name) const;  // null: there is none
};

inline constexpr const char* kWithoutLists = "export the model without sequences";  // a remedy

// The tensors, and lists of tensors, that a translation has so far. A list is known while the file
// is read; none is left in the graph. Methods that take a node throw InputError about it.
// References outlive the object, in what finish() returns.
class Tensors {
 public:
  Tensors(const Model& model, const Uses& uses) : model_(model), uses_(uses) {}

  // Throws InputError for a second one of a name, and for an extent that no machine holds.
  Entry& add(const std::string& name, TensorRole role, Facts facts);
  void add_value(const std::string& name, Value value);
  void add_input(const BoundInput& input);
  // Adds a tensor that the file holds; one that is no weight has its value. `place`: for messages.
  Entry& add_stored(const onnx::TensorProto& tensor, const std::string& name,
                    const std::string& place, bool may_be_weight);
  void add_initializer(const onnx::TensorProto& tensor, const std::string& name,
                       bool may_be_weight = true);
  void add_sparse(const onnx::SparseTensorProto& sparse);
  // Adds an entry for one op alone, in the place of the tensor of its name.
  Entry& add_substitute(Entry entry);
  // Notes where an entry's elements are, if somebody will read them.
  void note_origin(Entry& entry, const onnx::TensorProto& tensor) const;

  Entry* find(const std::string& name) const { return out_.find(name); }
  bool exists(const std::string& name) const;  // also as a list
  // The one whole number that a tensor holds, where it is known.
  std::optional<std::int64_t> known_number(const std::string& name) const;
  Entries inputs_of(const onnx::NodeProto& node) const;
  std::string name_of(const Entry& entry) const;  // a name that leads to it

  const Entries* find_list(const std::string& name) const;  // null: there is none
  const Entries& list_at(const onnx::NodeProto& node, int input) const;
  void add_list(const onnx::NodeProto& node, const std::string& name, Entries list);
  // Another name for a tensor or a list that exists.
  void give_name(const onnx::NodeProto& node, const std::string& made, const std::string& name);

  std::size_t known_elements() const { return known_elements_; }  // of all values
  // Throws InputError for a result of the graph that nothing makes.
  Translation finish(const onnx::GraphProto& graph, std::vector<TranslatedOp> ops) &&;

 private:
  const Model& model_;
  const Uses& uses_;
  Translation out_;
  std::unordered_map<std::string, Entries> lists_;
  std::size_t listed_ = 0;  // tensors of all lists
  std::size_t known_elements_ = 0;
};

// Writing nodes out has limits, which are held here; and they get their names here.
// Throws InputError about the node that goes beyond a limit.
class Expansion {
 public:
  explicit Expansion(const std::string& file) : file_(file) {}

  void count(const onnx::NodeProto& node);  // each node, once, when its turn comes
  // Enters and leaves the body of a function, a branch or a round.
  void enter(const onnx::NodeProto& node);
  void leave() { --depth_; }
  bool inside() const { return depth_ > 0; }
  // Notes steps, so that the work ends before it is more than a machine holds.
  void charge(const onnx::NodeProto& node, std::size_t steps);
  void charge_body(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix);

  // The node's name, or one of its type and number.
  std::string name_of(const onnx::NodeProto& node) const;
  std::string numbered(const onnx::NodeProto& node) const;  // of type and number
  // Returns a prefix for the names inside a body; op names may repeat, prefixes do not.
  std::string prefix_for(const onnx::NodeProto& node);

 private:
  std::string file_;
  std::unordered_set<std::string> prefixes_;
  std::size_t nodes_ = 0;
  std::size_t steps_ = 0;
  int depth_ = 0;
};

class Scope {
 public:
  Scope(const Model& model, const Uses& uses, const Contents& contents, const Binding& binding);
  virtual ~Scope() = default;

  virtual void run(const onnx::NodeProto& node) = 0;  // when its inputs exist
  // Runs nodes in topological order: in file order among those that are ready. Throws InputError
  // for a tensor with two producers or none, and for a cycle.
  void run_all(const Nodes& nodes);

  // The model's function that the node calls; null: it calls none.
  const onnx::FunctionProto* function_of(const onnx::NodeProto& node) const;
  [[noreturn]] void refuse(const onnx::NodeProto& node, const std::string& problem,
                           const std::string& remedy) const {
    onnx_import::refuse(model.file, node, problem, remedy);
  }

  const Model& model;
  const Uses& uses;
  const Contents& contents;
  const Binding& binding;
  Tensors tensors;
  Expansion expansion;

 private:
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;  // by function_key()
};

}  // namespace strato::onnx_import

// A translated model (tensors and ops with known shapes), and the tensors and lists of tensors that
// a translation has so far, by name. A list is known while the file is read; none is left in the
// graph. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

struct Entry {  // one tensor
  std::string name;
  TensorRole role = TensorRole::Activation;
  Facts facts;          // a value is known of constants only
  int batch_axis = -1;  // of inputs
  bool stored = false;  // an initializer of the file
  // Says where the elements are that the file holds and `facts` has not, as far as they were asked
  // for; if it has one element, all are like it.
  std::shared_ptr<const onnx::TensorProto> origin = nullptr;
};

using Entries = std::vector<Entry*>;  // null: left out

struct TranslatedOp {
  std::string name, type;
  Entries inputs;
  Entries outputs;
  std::vector<std::pair<std::string, Attribute>> attributes;
};

struct Translation {
  std::deque<Entry> entries;  // addresses stay
  std::unordered_map<std::string, Entry*> by_name;
  std::vector<TranslatedOp> ops;
  Entries results;  // of the graph
};

inline constexpr const char* kWithoutLists = "export the model without sequences";  // a remedy

// Methods that take a node throw InputError about it. References outlive the object, in what
// finish() returns.
class Tensors {
 public:
  Tensors(const Model& model, const Uses& uses) : model_(model), uses_(uses) {}

  // Throws InputError for a second one of a name, and for an extent that no machine holds.
  Entry& add(const std::string& name, TensorRole role, Facts facts);
  void add_value(const std::string& name, Value value);
  void add_input(const BoundInput& input);
  void add_initializer(const onnx::TensorProto& tensor, const std::string& name);
  void add_sparse(const onnx::SparseTensorProto& sparse);
  // Adds an entry for one op alone, in the place of the tensor of its name.
  Entry& add_substitute(Entry entry);
  // Notes where an entry's elements are, if somebody will read them.
  void note_origin(Entry& entry, const onnx::TensorProto& tensor) const;

  Entry* find(const std::string& name) const;  // null: there is none
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

}  // namespace strato::onnx_import

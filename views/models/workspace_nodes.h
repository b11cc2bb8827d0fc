// What the workspace's tree is made of, apart from Qt's model: read in one go, compared as a whole.
// Inside views/models.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "views/models/workspace_model.h"

namespace strato {

struct WorkspaceModel::Node {
  Kind kind = Kind::Section;
  std::int64_t row = 0;
  QString name, detail, tip, note;
  QStringList tags;
  bool feasible = true;
  StrategyRow picture = 0;  // a strategy that stands for it; 0: none
  ModelRow model = 0;       // of a run or a strategy
  ClusterRow cluster = 0;
  const Node* origin = nullptr;  // the strategy or run that it was made from, in the same tree
  Node* parent = nullptr;
  int position = 0;
  std::vector<std::unique_ptr<Node>> children;

  Node& add(Kind kind_of_child, std::int64_t row_of_child, QString text);
  bool has_same_text(const Node& other) const;
  bool has_same_shape(const Node& other) const;  // the same rows in the same places
  void take_text(Node& other);                   // where the shape is the same
};

// The root, with a section for each kind that there is something of.
std::unique_ptr<WorkspaceModel::Node> read_nodes(const WorkspaceLists& workspace);

}  // namespace strato

#include "views/models/workspace_nodes.h"

#include <algorithm>

#include "core/store/model_words.h"
#include "views/models/run_words.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

using Node = WorkspaceModel::Node;
using Kind = WorkspaceModel::Kind;

Node& Node::add(Kind kind_of_child, std::int64_t row_of_child, QString text) {
  auto child = std::make_unique<Node>();
  child->kind = kind_of_child;
  child->row = row_of_child;
  child->name = std::move(text);
  child->parent = this;
  child->position = static_cast<int>(children.size());
  children.push_back(std::move(child));
  return *children.back();
}

bool Node::has_same_text(const Node& other) const {
  return name == other.name && detail == other.detail && tip == other.tip && note == other.note &&
         tags == other.tags && feasible == other.feasible && picture == other.picture;
}

bool Node::has_same_shape(const Node& other) const {
  const auto same = [](const auto& a, const auto& b) { return a->has_same_shape(*b); };
  return kind == other.kind && row == other.row &&
         std::ranges::equal(children, other.children, same);
}

void Node::take_text(Node& other) {
  name = std::move(other.name);
  detail = std::move(other.detail);
  tip = std::move(other.tip);
  note = std::move(other.note);
  tags = std::move(other.tags);
  feasible = other.feasible;
  picture = other.picture;
}

namespace {

QString time_or_nothing(std::int64_t nanos) {
  return nanos > 0 ? style::time(Nanos(nanos)) : QString();
}

QString name_of_run(const StoredRun& run) {
  return QStringLiteral("%1 #%2").arg(text(run.planner)).arg(run.id);
}

QString tip_of(const StoredRun& run) {
  QString tip = WorkspaceModel::tr("%1, %2: %3 evaluations in %4 s\nBegun %5")
                    .arg(name_of_run(run), run_state_text(run.state))
                    .arg(run.evaluations)
                    .arg(style::significant(run.wall_seconds), text(run.created));
  if (run.best_ns > 0 && run.baseline_ns > 0) {
    tip += QLatin1Char('\n') + WorkspaceModel::tr("%1 data parallel")
                                   .arg(style::factor(static_cast<double>(run.baseline_ns) /
                                                      static_cast<double>(run.best_ns)));
  }
  return run.note.empty() ? tip : tip + QLatin1Char('\n') + text(run.note);
}

class TreeReader {
 public:
  explicit TreeReader(const WorkspaceLists& workspace)
      : strategies_(workspace.strategies()),
        runs_(workspace.runs()),
        models_(workspace.models()),
        clusters_(workspace.clusters()),
        said_(workspace.annotations()) {
    for (const StoredStrategy& strategy : strategies_) {
      if (!strategy.run) edits_[strategy.parent].push_back(&strategy);
      if (strategy.run) found_[*strategy.run].push_back(strategy.id);
    }
  }

  std::unique_ptr<Node> read() {
    auto root = std::make_unique<Node>();
    add_problems(*root);
    add_runs(root->add(Kind::Section, 2, WorkspaceModel::tr("Runs")));
    Node& rest = root->add(Kind::Section, 3, WorkspaceModel::tr("Strategies"));
    for (const StoredStrategy* strategy : edits_[std::nullopt]) {
      Node& node = add(rest, *strategy, nullptr);
      add_line(node, node, strategy->id);
    }
    std::erase_if(root->children, [](const auto& section) { return section->children.empty(); });
    for (std::size_t i = 0; i < root->children.size(); ++i)
      root->children[i]->position = static_cast<int>(i);
    return root;
  }

 private:
  void add_problems(Node& root) {
    Node& models = root.add(Kind::Section, 0, WorkspaceModel::tr("Models"));
    for (const StoredModel& model : models_) {
      Node& node = models.add(Kind::Model, model.id, text(words_of(model)));
      node.tip = text(model.path) + QLatin1Char('\n') + text(model.options);
      take_words(node, StoredKind::Model);
    }
    Node& clusters = root.add(Kind::Section, 1, WorkspaceModel::tr("Clusters"));
    for (const StoredCluster& cluster : clusters_)
      take_words(clusters.add(Kind::Cluster, cluster.id, text(cluster.name)), StoredKind::Cluster);
  }

  // "vit_b_16, batch 32, adam on tag-testbed"
  QString problem_of(ModelRow model, ClusterRow cluster) const {
    const auto of = std::ranges::find(models_, model, &StoredModel::id);
    const auto on = std::ranges::find(clusters_, cluster, &StoredCluster::id);
    return WorkspaceModel::tr("%1 on %2")
        .arg(of == models_.end() ? QString() : text(words_of(*of)),
             on == clusters_.end() ? QString() : text(on->name));
  }

  // Where they are about several problems, each says about which.
  void add_runs(Node& runs) {
    const bool several = std::ranges::any_of(runs_, [&](const StoredRun& run) {
      return run.model != runs_.front().model || run.cluster != runs_.front().cluster;
    });
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      QString name = name_of_run(*run);
      if (several) name += QStringLiteral(" · ") + problem_of(run->model, run->cluster);
      Node& node = runs.add(Kind::Run, run->id, name);
      node.detail = run->state == RunState::Failed ? run_state_text(run->state)
                                                   : time_or_nothing(run->best_ns);
      node.tip = tip_of(*run) + QLatin1Char('\n') + problem_of(run->model, run->cluster);
      node.picture = run->best.value_or(0);
      node.model = run->model;
      node.cluster = run->cluster;
      take_words(node, StoredKind::Run);
      if (!run->best) continue;
      for (const StrategyRow found : found_[run->id])
        add_line(node, node, found);  // any may be edited
    }
  }

  Node& add(Node& above, const StoredStrategy& strategy, const Node* origin) {
    Node& node = above.add(Kind::Strategy, strategy.id, text(strategy.label));
    node.detail = time_or_nothing(strategy.step_time_ns);
    node.feasible = strategy.feasible;
    node.tip = text(strategy.label) + QLatin1Char('\n') +
               WorkspaceModel::tr("Stored %1").arg(text(strategy.created)) + QLatin1Char('\n') +
               problem_of(strategy.model, strategy.cluster);
    node.picture = strategy.id;
    node.model = strategy.model;
    node.cluster = strategy.cluster;
    node.origin = origin;
    take_words(node, StoredKind::Strategy);
    return node;
  }

  // Edits of `parent`, which `origin` stands for, below `above`. While each has one edit only, they
  // stand one below the other, not each within the last: long work by hand stays readable.
  void add_line(Node& above, const Node& origin, StrategyRow parent) {
    const auto& first = edits_[parent];
    for (const StoredStrategy* edit : first) {
      Node* node = &add(above, *edit, &origin);
      StrategyRow last = edit->id;
      while (first.size() == 1 && edits_[last].size() == 1) {
        const StoredStrategy& next = *edits_[last].front();
        node = &add(above, next, node);
        last = next.id;
      }
      add_line(*node, *node, last);
    }
  }

  void take_words(Node& node, StoredKind kind) const {
    const auto said = said_.find({kind, node.row});
    if (said == said_.end()) return;
    for (const std::string& tag : said->second.tags) node.tags << text(tag);
    node.note = text(said->second.note);
  }

  const std::vector<StoredStrategy>& strategies_;
  const std::vector<StoredRun>& runs_;
  const std::vector<StoredModel>& models_;
  const std::vector<StoredCluster>& clusters_;
  const std::map<StoredItem, Annotation>& said_;
  std::map<RunRow, std::vector<StrategyRow>> found_;
  std::map<std::optional<StrategyRow>, std::vector<const StoredStrategy*>> edits_;
};

}  // namespace

std::unique_ptr<Node> read_nodes(const WorkspaceLists& workspace) {
  return TreeReader(workspace).read();
}

}  // namespace strato

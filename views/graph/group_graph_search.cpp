// Finding ops and groups by a query, in the background.
#include "core/base/error.h"
#include "views/graph/group_graph_view.h"
#include "views/graph/op_search.h"

namespace strato {

void GroupGraphView::query_changed(const QString&) {
  ++search_job_;  // what is under way answers another question
  searching_ = false;
  search_delay_.start();
}

void GroupGraphView::search() {
  OpQuery query;
  bar_->set_query_error({});
  const QByteArray asked = bar_->query().toUtf8();
  try {
    query = OpQuery::parse({asked.data(), static_cast<std::size_t>(asked.size())});
  } catch (const QueryError& error) {
    const auto letters = QString::fromUtf8(asked.left(static_cast<qsizetype>(error.at()))).size();
    bar_->set_query_error(tr("Column %1: %2; %3")
                              .arg(letters + 1)
                              .arg(QString::fromStdString(error.problem()).left(200),
                                   QString::fromStdString(error.remedy())));
  }
  if (query.is_empty() || !problem_) {
    found_ops_.clear();
    found_groups_.clear();
    select_when_found_ = false;
    return read_found();
  }
  searching_ = true;
  const Snapshot& shown = session_.snapshot();
  worker_.post([this, job = ++search_job_, query, problem = problem_, strategy = shown.strategy,
                outcome = is_of_problem(shown.outcome) ? shown.outcome : nullptr,
                times = op_times_]() mutable {
    std::optional<OpFigures> figures;
    if (outcome && (query.asks_for("time") || query.asks_for("device")))
      figures = figures_of(*outcome);
    if (!times) times = std::make_shared<const std::vector<Nanos>>();
    auto marked = find_ops(query, *problem, strategy, figures ? &*figures : nullptr, *times);
    QMetaObject::invokeMethod(
        this,
        [this, job, marked = std::move(marked)] {
          if (job != search_job_) return;
          searching_ = false;
          found_ops_ = marked;
          found_groups_ = groups_with(found_ops_, *problem_->grouping);
          read_found();
          if (std::exchange(select_when_found_, false)) show_found();
        },
        Qt::QueuedConnection);
  });
}

void GroupGraphView::read_found() {
  GraphScene& scene = canvas_->scene();
  scene.found.assign(scene.content.nodes.size(), 0);
  if (found_ops_.empty() || !problem_) {
    marks_changed();
    return bar_->set_found({});
  }
  int first = -1;
  for (std::size_t n = 0; n < scene.content.nodes.size(); ++n) {
    const auto ops = ops_of(scene.content.nodes[n], *problem_->grouping);
    if (std::ranges::none_of(ops, [&](OpId op) { return found_ops_[op.index()] != 0; })) continue;
    scene.found[n] = 1;
    if (first < 0) first = static_cast<int>(n);
  }
  marks_changed();
  const auto ops = std::ranges::count(found_ops_, 1);
  bar_->set_found(ops == 0 ? tr("nothing found")
                           : tr("%1 ops in %2 groups").arg(ops).arg(found_groups_.size()));
  if (first >= 0 && std::ranges::none_of(scene.selected, [](char s) { return s != 0; }))
    canvas_->reveal(first);
}

// Selects all ops that were found; once they are, goes from one node to the next.
void GroupGraphView::show_found() {
  if (is_searching()) {
    select_when_found_ = true;
    if (search_delay_.isActive()) {
      search_delay_.stop();
      search();
    }
    return;
  }
  const GraphScene& scene = canvas_->scene();
  std::vector<int> hits;
  for (std::size_t n = 0; n < scene.found.size(); ++n) {
    if (scene.found[n] != 0) hits.push_back(static_cast<int>(n));
  }
  if (found_groups_.empty()) return;
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < found_ops_.size(); ++i)
    if (found_ops_[i] != 0) ops.emplace_back(i);
  if (session_.selection().ops() != ops) {
    session_.selection().select_ops(std::move(ops), found_groups_);
    shown_hit_ = 0;
  } else {
    ++shown_hit_;
  }
  if (!hits.empty()) canvas_->centre_on(hits[shown_hit_ % hits.size()]);
}

}  // namespace strato

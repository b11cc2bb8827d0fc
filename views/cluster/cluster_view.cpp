#include "views/cluster/cluster_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "views/style/style.h"

namespace strato {
namespace {
constexpr int kTableFrom = 760;  // px of width below which the table gives way
}

ClusterView::ClusterView(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  canvas_ = new ClusterCanvas(session, this);
  side_ = new QWidget(this);
  auto* column = new QVBoxLayout(side_);
  column->setContentsMargins(8, 4, 8, 8);
  column->setSpacing(4);
  auto* title = new QLabel(tr("<b>GB/s</b> between device groups"), side_);
  title->setToolTip(
      tr("The slowest way between two of their devices; on the diagonal inside the group"));
  auto* table = new QTableView(side_);
  table->setModel(&bandwidth_);
  table->setFrameShape(QFrame::NoFrame);
  table->setShowGrid(false);
  table->setSelectionMode(QAbstractItemView::NoSelection);
  table->setFocusPolicy(Qt::TabFocus);
  table->setAccessibleName(tr("Bandwidth between device groups"));
  table->horizontalHeader()->setDefaultSectionSize(60);
  table->verticalHeader()->setDefaultSectionSize(24);
  table->horizontalHeader()->setMinimumSectionSize(40);
  column->addWidget(title);
  column->addWidget(table, 1);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(canvas_, 1);
  row->addWidget(side_);
  table_ = table;
  setFocusProxy(canvas_);
  connect(canvas_, &ClusterCanvas::cursor_info, this, &ClusterView::cursor_info);
  connect(&session, &Session::problem_changed, this, &ClusterView::refresh);
  connect(&session, &Session::outcome_changed, this, &ClusterView::refresh);
  refresh();
}

void ClusterView::refresh() {
  const Snapshot& snapshot = session_.snapshot();
  show_cluster(snapshot.problem ? snapshot.problem->cluster : nullptr,
               snapshot.outcome ? snapshot.outcome->timeline : nullptr);
}

void ClusterView::show_cluster(std::shared_ptr<const Cluster> cluster,
                               std::shared_ptr<const Timeline> timeline) {
  if (timeline && cluster && timeline->devices.size() != cluster->device_count())
    timeline = nullptr;
  if (cluster != cluster_) {
    cluster_ = cluster;
    bandwidth_.set_dark(style::is_dark(palette()));
    bandwidth_.show(cluster);
  }
  canvas_->show_cluster(std::move(cluster), std::move(timeline));
  fit_table();
}

// As wide as all columns need, at most two fifths of the view.
void ClusterView::fit_table() {
  side_->setVisible(cluster_ && cluster_->groups().size() > 1 && width() >= kTableFrom);
  const int wanted = table_->verticalHeader()->sizeHint().width() +
                     table_->horizontalHeader()->length() + 6 * style::kGrid;
  side_->setFixedWidth(std::min(wanted, width() * 2 / 5));
}

void ClusterView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_table();
}

void ClusterView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    bandwidth_.set_dark(style::is_dark(palette()));
    bandwidth_.show(cluster_);
  }
  QWidget::changeEvent(event);
}

}  // namespace strato
